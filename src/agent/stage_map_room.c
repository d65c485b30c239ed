// SPDX-License-Identifier: Apache-2.0
// Asks the kernel about each page below, with a request that it finds wrong only after it has read
// the address. What was seen of a thread's own stack, the one that reaches up to its thread block
// or to the first thread's arguments, is kept: it stays while the thread does. A coroutine's stack
// is looked at each time. A stack without a guard page, in the middle of other memory, cannot be
// told from that memory. Threads: any.
#include "agent/stage_map_room.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPARE_BYTES ((size_t)16 << 10)
#define PAGE_BYTES 4096u
#define OWN_LIMIT_BYTES ((size_t)16 << 20) // further from the top, it is not looked for

// Of the thread's own stack; high 0: not seen yet. A signal handler may come between any two
// accesses, so `high` is the last to be written and the first to be read.
static __thread volatile uintptr_t own_low, own_high __attribute__((tls_model("initial-exec")));

static int is_readable(uintptr_t address)
{
    const void *set = (const void *)(address & ~(uintptr_t)7);
    return syscall(SYS_rt_sigprocmask, ~0, set, NULL, 8) == 0 || errno != EFAULT;
}

// From the top down: a stack grows without a gap.
static int is_there(uintptr_t low, uintptr_t high)
{
    uintptr_t at = high;
    while (at - low > PAGE_BYTES) {
        at -= PAGE_BYTES;
        if (!is_readable(at))
            return 0;
    }
    return is_readable(low);
}

// Where the thread's own stack ends above `stack`; 0 when that is not on it.
static uintptr_t find_top(uintptr_t stack)
{
    const uintptr_t tops[] = {(uintptr_t)__builtin_thread_pointer(), getauxval(AT_RANDOM)};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        if (stack < tops[i] && tops[i] - stack < OWN_LIMIT_BYTES && is_there(stack, tops[i]))
            return tops[i];
    }
    return 0;
}

int stage_map_room_is_enough(uintptr_t stack, size_t length)
{
    uintptr_t low = stack - length - SPARE_BYTES;
    uintptr_t high = own_high, known_low = own_low;
    if (low >= known_low && stack < high)
        return 1;
    int saved_errno = errno, is_enough = is_there(low, stack);
    if (is_enough) {
        int is_on_own = stack >= known_low && stack < high;
        uintptr_t top = is_on_own ? high : find_top(stack);
        if (top) {
            own_high = 0;
            own_low = low;
            own_high = top;
        }
    }
    errno = saved_errno;
    return is_enough;
}
