// SPDX-License-Identifier: Apache-2.0
// The switch test by restartable sequences. glibc (2.35 and later) registers an area for each
// thread; when its rseq_cs field points at a descriptor whose code range the thread is not in, the
// kernel zeroes the field at the next switch or signal. So a load tells whether a switch happened.
// Where no area is registered the CPU clock is read at boundaries far enough apart.
#include "agent/split.h"

#include <stddef.h>
#include <sys/resource.h>

// glibc's names, absent before 2.35.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

struct rseq_descriptor {
    uint32_t version, flags;
    uint64_t start_ip, post_commit_offset, abort_ip;
} __attribute__((aligned(32)));

#if defined(__x86_64__) || defined(__aarch64__)
#define HAVE_RSEQ 1
#if defined(__x86_64__)
#define ABORT_SIGNATURE ".long 0x53053053\n"
#else
#define ABORT_SIGNATURE ".long 0xd428bc00\n"
#endif
// A range of code that never runs, and an abort address that is never jumped to; the kernel wants
// the signature just before it.
__asm__(".pushsection .text.lightmeter_rseq, \"ax\"\n"
        ".balign 16\n" ABORT_SIGNATURE ".hidden agent_rseq_abort\n"
        ".globl agent_rseq_abort\n"
        "agent_rseq_abort:\n nop\n nop\n nop\n nop\n"
        ".hidden agent_rseq_range\n"
        ".globl agent_rseq_range\n"
        "agent_rseq_range:\n nop\n nop\n nop\n nop\n"
        ".popsection\n");
extern const char agent_rseq_abort[], agent_rseq_range[];
static struct rseq_descriptor descriptor;

static char *thread_pointer(void)
{
    char *at;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(at));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(at));
#endif
    return at;
}
#endif

// Differs from every switch_value: a thread whose fast_word this is takes the slow path.
static const volatile uint64_t never_matches = 1;

enum trace_split_method split_choose(void)
{
#ifdef HAVE_RSEQ
    if (&__rseq_size && __rseq_size != 0) {
        descriptor.start_ip = (uint64_t)(uintptr_t)agent_rseq_range;
        descriptor.post_commit_offset = 1;
        descriptor.abort_ip = (uint64_t)(uintptr_t)agent_rseq_abort;
        return TRACE_SPLIT_RSEQ;
    }
#endif
    return TRACE_SPLIT_CPU_CLOCK;
}

int split_is_switched(const struct agent_thread *t)
{
    return !t->switch_word || *t->switch_word != t->switch_value;
}

void split_arm(struct agent_thread *t)
{
    if (t->switch_word)
        *(volatile uint64_t *)(uintptr_t)t->switch_word = t->switch_value;
}

// The fast path reads the TSC.
void split_allow_fast(struct agent_thread *t, int is_allowed)
{
    t->fast_word =
        is_allowed && agent.clock_is_tsc && t->switch_word ? t->switch_word : &never_matches;
}

void split_start(struct agent_thread *t)
{
    t->switch_word = NULL;
    t->switch_value = 0;
#ifdef HAVE_RSEQ
    if (agent.split_method == TRACE_SPLIT_RSEQ) {
        t->switch_word = (const volatile uint64_t *)(void *)(thread_pointer() + __rseq_offset + 8);
        t->switch_value = (uint64_t)(uintptr_t)&descriptor;
    }
#endif
    split_arm(t);
    split_allow_fast(t, *agent.control == AGENT_RECORD);
    t->sync_cpu_ns = clock_thread_cpu_ns();
    t->sync_ticks = agent_ticks();
    t->sync_due_ticks = t->sync_ticks + agent.resync_ticks;
    t->voluntary_switches = split_voluntary_switches(&t->major_faults);
}

uint64_t split_voluntary_switches(uint64_t *major_faults)
{
    struct rusage usage;
    *major_faults = 0;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return 0;
    *major_faults = (uint64_t)usage.ru_majflt;
    return (uint64_t)usage.ru_nvcsw;
}

void split_faults(uint64_t *minor, uint32_t *major)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_THREAD, &usage);
    *minor = (uint64_t)usage.ru_minflt;
    *major = (uint32_t)usage.ru_majflt;
}
