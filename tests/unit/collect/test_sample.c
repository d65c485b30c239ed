// SPDX-License-Identifier: Apache-2.0
// Sampling this very process: what a round holds, that rounds keep their distance, and that a
// zombie's totals are still taken.
#include "collect/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct trace_sample *find(
    const struct sampler *s, enum trace_metric metric, uint32_t subject)
{
    const struct trace_sample *found = NULL, *all = sampler_records(s);
    for (size_t i = 0; i < sampler_pending(s); i++)
        if (all[i].metric == metric && all[i].subject == subject)
            found = &all[i];
    return found;
}

static void a_round_holds_process_thread_and_machine(void **state)
{
    (void)state;
    struct procs p;
    uint32_t pid = (uint32_t)getpid();
    procs_init(&p, -1, "", 0);
    assert_non_null(procs_add(&p, pid, 0));
    struct sampler *s = sampler_new(&p, 0);
    uint64_t before_ns = clock_mono_ns();
    uint64_t next_ns = sampler_step(s, before_ns);
    assert_true(next_ns >= SAMPLE_INTERVAL_NS);
    assert_true(sampler_cpu_ns(s) > 0);
    assert_true(sampler_pending(s) > 0);
    static const enum trace_metric of_process[] = {TRACE_METRIC_PROCESS_CPU_NS,
        TRACE_METRIC_PROCESS_RSS_BYTES, TRACE_METRIC_PROCESS_THREADS, TRACE_METRIC_PROCESS_MINFLT,
        TRACE_METRIC_PROCESS_RCHAR_BYTES, TRACE_METRIC_PROCESS_WCHAR_BYTES,
        TRACE_METRIC_PROCESS_READ_BYTES, TRACE_METRIC_PROCESS_WRITE_BYTES};
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        assert_non_null(find(s, of_process[i], pid));
    assert_int_equal(find(s, TRACE_METRIC_PROCESS_THREADS, pid)->value, 1);
    assert_true(find(s, TRACE_METRIC_PROCESS_RSS_BYTES, pid)->value > 100000);
    assert_non_null(find(s, TRACE_METRIC_MACHINE_BUSY_NS, 0));
    uint64_t cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
    const struct trace_sample *thread = find(s, TRACE_METRIC_THREAD_CPU_NS, pid);
    assert_non_null(thread);
    assert_true(thread->value > 0 && thread->value <= cpu_ns);
    assert_true(thread->ticks >= before_ns && thread->ticks <= clock_mono_ns());
    sampler_free(&s);
    assert_null(s);
    procs_fini(&p);
}

static void rounds_keep_their_distance(void **state)
{
    (void)state;
    struct procs p;
    procs_init(&p, -1, "", 0);
    procs_add(&p, (uint32_t)getpid(), 0);
    struct sampler *s = sampler_new(&p, 0);
    uint64_t wait_ns = sampler_step(s, 1000);
    assert_int_equal(sampler_rounds(s), 1);
    assert_int_equal(sampler_step(s, 1000 + wait_ns - 1), 1);
    assert_int_equal(sampler_rounds(s), 1);
    sampler_step(s, 1000 + wait_ns);
    assert_int_equal(sampler_rounds(s), 2);
    // What a round costs decides the distance to the next.
    assert_true(wait_ns <= SAMPLE_INTERVAL_MAX_NS);
    assert_true(
        wait_ns == SAMPLE_INTERVAL_NS || sampler_cpu_ns(s) * SAMPLE_COST_RATIO_INVERSE >= wait_ns);
    sampler_finish(s);
    assert_int_equal(sampler_rounds(s), 3);
    sampler_free(&s);
    procs_fini(&p);
}

static void a_zombie_gives_its_totals(void **state)
{
    (void)state;
    struct procs p;
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0) {
        while (clock_thread_cpu_ns() < 60000000)
            ;
        _exit(0);
    }
    procs_init(&p, -1, "", 0);
    assert_non_null(procs_add(&p, (uint32_t)pid, 0));
    struct sampler *s = sampler_new(&p, 0);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    sampler_finish(s);
    const struct trace_sample *cpu = find(s, TRACE_METRIC_PROCESS_CPU_NS, (uint32_t)pid);
    assert_non_null(cpu);
    assert_true(cpu->value >= 20000000); // in steps of the kernel's tick
    assert_int_equal(procs_alive(&p), 0);
    assert_int_equal(p.ended.count, 1);
    assert_int_equal(p.ended.at[0].pid, pid);
    waitpid(pid, NULL, 0);
    sampler_clear(s);
    assert_int_equal(sampler_pending(s), 0);
    sampler_finish(s); // gone: no more of it
    assert_null(find(s, TRACE_METRIC_PROCESS_CPU_NS, (uint32_t)pid));
    sampler_free(&s);
    procs_fini(&p);
}

static void *wait_for_the_end(void *unused)
{
    for (;;)
        pause();
    return unused;
}

// Its first thread is gone, and /proc calls the process a zombie; another one works on.
static void it_lives_as_long_as_its_last_thread(void **state)
{
    (void)state;
    struct procs p;
    struct os_process_stat stat = {0};
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a failed test leaves nobody behind
        pthread_create(&t, NULL, wait_for_the_end, NULL);
        syscall(SYS_exit, 0);
    }
    procs_init(&p, -1, "", 0);
    struct procs_entry *entry = procs_add(&p, (uint32_t)pid, 0);
    assert_non_null(entry);
    while (stat.state != 'Z')
        assert_int_equal(procs_stat_read(entry->stat_fd, &stat), 0);
    struct sampler *s = sampler_new(&p, 0);
    sampler_step(s, 1000);
    assert_int_equal(procs_alive(&p), 1);
    assert_int_equal(p.ended.count, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    sampler_finish(s);
    assert_int_equal(p.ended.count, 1);
    sampler_free(&s);
    procs_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_holds_process_thread_and_machine),
        cmocka_unit_test(rounds_keep_their_distance),
        cmocka_unit_test(a_zombie_gives_its_totals),
        cmocka_unit_test(it_lives_as_long_as_its_last_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
