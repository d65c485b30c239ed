// SPDX-License-Identifier: Apache-2.0
// Decides whether the processor's counter may stand for time. Called once at the start of a run,
// also in the preloaded library: plain system calls only, no stdio, no allocation. Errno may
// change. Threads: no state.
#include "base/clock.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define LEAF_POWER 0x80000007u
#define INVARIANT_TSC_BIT (1u << 8)

static int starts_with(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) {
        text++;
        prefix++;
    }
    return !*prefix;
}

// The kernel falls back from tsc when it has seen processors disagree; kvm-clock is built on it.
static int kernel_trusts_it(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[32] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, name, sizeof name - 1);
    close(fd);
    if (got <= 0)
        return 0;
    return starts_with(name, "tsc\n") || starts_with(name, "kvm-clock\n");
}

int clock_tsc_is_usable(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(LEAF_POWER, &a, &b, &c, &d) || !(d & INVARIANT_TSC_BIT))
        return 0;
    return kernel_trusts_it();
}

#elif defined(__aarch64__)

// The generic timer counts at one fixed rate on every core by the architecture.
int clock_tsc_is_usable(void)
{
    return 1;
}

#else

// clock_tsc reads the monotonic clock here; there is nothing to gain by calling it a counter.
int clock_tsc_is_usable(void)
{
    return 0;
}

#endif
