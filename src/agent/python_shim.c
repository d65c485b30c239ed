// SPDX-License-Identifier: Apache-2.0
// See python_shim.h. The interpreter's own flags say how it was started: they are exported by all
// releases that the shim serves.
#include "agent/python_shim.h"

#include "agent/config.h"
#include "agent/elf_object.h"
#include "agent/process.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

// By precedence: -I sets the others too.
static const struct {
    const char *symbol, *why;
} flags[] = {
    {"Py_IsolatedFlag", "started isolated (-I), which keeps the shim out"},
    {"Py_IgnoreEnvironmentFlag", "started with -E, which keeps the shim out"},
    {"Py_NoSiteFlag", "started with -S, which keeps the shim out"},
};
#define FLAGS (sizeof flags / sizeof *flags)

static _Atomic uintptr_t found[FLAGS];
static _Atomic int has_interpreter, is_up;
static uint64_t up_version;
static uintptr_t up_runtime;

void python_shim_see(const struct elf_object *o)
{
    size_t length_bytes = 0;
    if (has_interpreter || !elf_object_find_data(o, "_PyRuntime", &length_bytes))
        return;
    for (size_t i = 0; i < FLAGS; i++)
        found[i] = elf_object_find_data(o, flags[i].symbol, &length_bytes);
    has_interpreter = 1;
}

void python_shim_forget(void)
{
    has_interpreter = 0;
}

void python_shim_is_up(uint64_t version, uintptr_t runtime)
{
    is_up = 1;
    up_version = version;
    up_runtime = runtime;
    if (agent_thread_open() && agent.process)
        python_shim_announce(agent.process);
}

void python_shim_announce(struct trace_process *p)
{
    p->python_runtime = up_runtime;
    __atomic_store_n(&p->python_version, up_runtime ? up_version : 0, __ATOMIC_RELEASE);
}

// The interpreter may have been unloaded since; the kernel looks first.
static int is_set(uintptr_t address)
{
    const void *words = (const void *)(address & ~(uintptr_t)7);
    if (!address || (syscall(SYS_rt_sigprocmask, ~0, words, NULL, 8) != 0 && errno == EFAULT))
        return 0;
    return *(const volatile int *)address != 0;
}

static const char *reason(void)
{
    if (config_is_off("python"))
        return "switched off by --no-hook";
    for (size_t i = 0; i < FLAGS; i++)
        if (is_set(found[i]))
            return flags[i].why;
    return "the shim did not come up: PYTHONPATH was changed, or it is no CPython 3.8 or later "
           "with its global lock";
}

void python_shim_report(void)
{
    const int saved_errno = errno;
    if (!has_interpreter || is_up)
        return;
    const char *parts[] = {"Python's own libraries", "python", "uninstrumented", reason()};
    process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
    errno = saved_errno;
}
