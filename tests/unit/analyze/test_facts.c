// SPDX-License-Identifier: Apache-2.0
// Facts of models sketched by hand: windows, items by each rule, own times and splits clipped at
// the window's edges, who carries items, reconciliation, machine. Every time is exact.
#include "account.h"

#include <math.h>
#include <string.h>

static void test_items_by_decodes_and_windows(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 50 * MS);
    for (int i = 0; i < 11; i++) {
        one_photo(&s, 8 * MS);
        sketch_call(&s, "cv::resize", "preprocess", 1 * MS);
    }
    sketch_cpu(&s, 5 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_DECODES);
    assert_string_equal(f->item_stage, "decode");
    assert_int_equal(f->items, 11);
    assert_int_equal(f->startup_ns, 60 * MS);
    assert_int_equal(f->steady_ns, 110 * MS);
    assert_int_equal(f->teardown_ns, 6 * MS);
    assert_true(fabs(f->throughput_per_s - 10 / 0.110) < 1e-6);
    const struct facts_stage *decode = facts_stage_find(f, "decode");
    assert_int_equal(decode->split.wall_ns, 80 * MS);
    assert_int_equal(decode->split.cpu_ns, 80 * MS);
    assert_int_equal(decode->calls, 10);
    assert_int_equal(decode->latency.p50_ns / MS, 10);
    const struct facts_stage *load = facts_stage_find(f, "load");
    assert_int_equal(load->split.cause_ns[TRACE_CAUSE_IO], 20 * MS);
    assert_int_equal(load->bytes, 10000);
    assert_true(fabs(decode->share_ratio - 80.0 / 110) < 1e-9);
    assert_true(fabs(decode->occupancy_ratio - 80.0 / 110) < 1e-9);
    assert_int_equal(f->first_work_ns, 50 * MS);
    assert_int_equal(f->latency_is_gap, 1);
    assert_int_equal(f->item_latency.n, 10);
    assert_false(f->item_latency.p99_is_valid);
    assert_int_equal(f->item_threads, 1);
    assert_null(facts_stage_find(f, "infer"));
    check_sums(f);
    done(f, m);
}

static void test_nothing_at_all(void **state)
{
    (void)state;
    struct model *m = model_new();
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->items, 0);
    assert_int_equal(f->counted_by, FACTS_BY_NOTHING);
    assert_int_equal(f->stages.count, 0);
    assert_true(f->machine.cpu_used_cores < 0);
    assert_true(f->machine.throttled_ratio < 0);
    assert_int_equal(f->machine.read_bytes, UINT64_MAX);
    done(f, m);
}

// A span that encloses the whole run is cut at both edges; what it owns in the window is its wall
// there less what its children have there.
static void test_spans_are_cut_at_the_edges(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_begin(&s, "main", NULL);
    sketch_cpu(&s, 20 * MS);
    sketch_call(&s, "tidy", NULL, 40 * MS);
    sketch_call(&s, "cv::imread", "decode", 10 * MS); // ends at 70: the window begins
    sketch_begin(&s, "outer", NULL);
    sketch_call(&s, "tidy", NULL, 7 * MS);
    sketch_blocked(&s, TRACE_CAUSE_IO, 6 * MS); // cause of the frame's own time
    sketch_cpu(&s, 6 * MS);
    sketch_call(&s, "cv::imread", "decode", 10 * MS); // ends at 99: the window ends
    sketch_cpu(&s, 12 * MS);
    sketch_end(&s);
    sketch_cpu(&s, 9 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->startup_ns, 70 * MS);
    assert_int_equal(f->steady_ns, 29 * MS);
    assert_int_equal(facts_stage_find(f, "tidy")->split.wall_ns, 7 * MS);
    const struct facts_split *outer = &facts_stage_find(f, "outer")->split;
    assert_int_equal(outer->wall_ns, 12 * MS);
    // Its split is cut in proportion: 12 of 24 ms own time, so 3 of 6 ms blocked.
    assert_int_equal(outer->cause_ns[TRACE_CAUSE_IO], 3 * MS);
    assert_null(facts_stage_find(f, "main"));
    check_sums(f);
    done(f, m);
}

static void test_folds_in_the_window(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 4; i++) {
        sketch_cpu(&s, 6 * MS);
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
    }
    struct model_thread *t = &s.m->threads.at[0];
    // 100 calls, 4 ms together, over the 16 ms that the window's edge at 16 halves.
    *vec_push(&t->spans) = (struct model_span){.start_ns = 0,
        .dur_ns = 32 * MS,
        .self_ns = 4 * MS,
        .name = model_name_id(s.m, "read", "load", TRACE_CAUSE_IO),
        .calls = 100,
        .split = MODEL_NONE,
        .attrs = MODEL_NONE,
        .parent = MODEL_NONE,
        .is_fold = 1};
    struct facts *f = facts_of(&s, &m, NULL);
    const struct facts_stage *load = facts_stage_find(f, "load");
    assert_int_equal(load->split.wall_ns, 2 * MS);
    assert_int_equal(load->calls, 100);
    assert_int_equal(load->latency.n, 0);
    assert_int_equal(load->folded.calls, 100);
    assert_int_equal(load->folded.own_ns, 4 * MS);
    assert_int_equal(load->folded.max_ns, 0);
    assert_int_equal(f->threads.at[0].unattributed_ns, 24 * MS - 4 * MS);
    assert_int_equal(f->threads.at[0].unattributed.wall_ns, 18 * MS - 2 * MS);
    check_sums(f);
    done(f, m);
}

// Folded calls have no distribution: they stay out of the quantiles of those recorded one by one.
static void test_quantiles_are_of_single_calls(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++)
        sketch_call(&s, "jpeg_start_decompress", "decode", ((uint64_t)i + 1) * MS);
    struct model_thread *t = &s.m->threads.at[0];
    vec_push(&t->attrs)->max_ns = 7 * MS;
    *vec_push(&t->spans) = (struct model_span){.start_ns = s.now_ns,
        .dur_ns = 900 * MS,
        .self_ns = 800 * MS,
        .name = model_name_id(s.m, "jpeg_read_scanlines", "decode", TRACE_CAUSE_OTHER),
        .calls = 100000,
        .split = MODEL_NONE,
        .attrs = 0,
        .parent = MODEL_NONE,
        .is_fold = 1};
    sketch_cpu(&s, 900 * MS);
    struct facts *f = facts_of(&s, &m, "no such stage");
    const struct facts_stage *decode = facts_stage_find(f, "decode");
    assert_int_equal(decode->calls, 100100);
    assert_int_equal(decode->latency.n, 100);
    assert_in_range(decode->latency.p50_ns, 49 * MS, 51 * MS);
    assert_in_range(decode->latency.p95_ns, 94 * MS, 96 * MS);
    assert_int_equal(decode->latency.max_ns, 100 * MS);
    assert_int_equal(decode->folded.calls, 100000);
    assert_int_equal(decode->folded.own_ns, 800 * MS);
    assert_int_equal(decode->folded.max_ns, 7 * MS);
    done(f, m);
}

// A fold is written among the children of a span that came after it, and so is what it was called
// in.
static void test_folds_written_late_change_nothing(void **state)
{
    (void)state;
    struct model *m = model_new();
    *vec_push(&m->processes) = (struct model_process){.split_method = TRACE_SPLIT_RSEQ};
    const uint32_t read = model_name_id(m, "read", "load", TRACE_CAUSE_IO);
    const uint32_t work = model_name_id(m, "work", "work", TRACE_CAUSE_OTHER);
    const uint32_t step = model_name_id(m, "step", "step", TRACE_CAUSE_OTHER);
    const uint32_t thread = model_thread_add(m, 0, 1);
    struct model_thread *t = &m->threads.at[thread];
    t->end_ns = 100;
    t->cpu_ns = 100;
    t->end_is_exact = 1;
    const uint32_t none = MODEL_NONE;
    const struct model_span spans[] = {
        {.start_ns = 6, .dur_ns = 2, .self_ns = 2, .name = work, .parent = 2, .depth = 2},
        {.start_ns = 42, .dur_ns = 3, .self_ns = 3, .name = read, .parent = 4, .depth = 2},
        {.start_ns = 5,
            .dur_ns = 25,
            .self_ns = 8,
            .name = read,
            .parent = 5,
            .depth = 1,
            .is_fold = 1},
        {.start_ns = 46,
            .dur_ns = 9,
            .self_ns = 4,
            .name = read,
            .parent = 4,
            .depth = 2,
            .is_fold = 1},
        {.start_ns = 40, .dur_ns = 20, .self_ns = 13, .name = step, .parent = 5, .depth = 1},
        {.start_ns = 2, .dur_ns = 70, .self_ns = 40, .name = step, .parent = none},
        // The same without a span around it: a fold at the root, with a child, beside a span.
        {.start_ns = 74, .dur_ns = 2, .self_ns = 2, .name = work, .parent = 8, .depth = 1},
        {.start_ns = 84, .dur_ns = 3, .self_ns = 3, .name = read, .parent = 10, .depth = 1},
        {.start_ns = 73, .dur_ns = 5, .self_ns = 2, .name = read, .parent = none, .is_fold = 1},
        {.start_ns = 87,
            .dur_ns = 1,
            .self_ns = 1,
            .name = read,
            .parent = 10,
            .depth = 1,
            .is_fold = 1},
        {.start_ns = 82, .dur_ns = 8, .self_ns = 4, .name = step, .parent = none},
    };
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct model_span *s = vec_push(&t->spans);
        *s = spans[i];
        s->calls = 1;
        s->split = s->attrs = MODEL_NONE;
    }
    // Two items, so that the outermost span is cut by the window [1, 50].
    *vec_push(&m->items) = (struct model_item_event){1, 1, 0, 0, TRACE_ITEM_END};
    *vec_push(&m->items) = (struct model_item_event){50, 2, 0, 0, TRACE_ITEM_END};
    model_finish(m);
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->threads.at[0].unattributed_ns, 100 - 70 - 8 - 4);
    assert_int_equal(f->threads.at[0].unattributed.wall_ns, 1);
    // In the window: 3 + 8 + 4 * 4 / 9 of the reads, 2 of the work; the rest of [2, 50] is the
    // step.
    assert_int_equal(facts_stage_find(f, "load")->split.wall_ns, 3 + 8 + 1);
    assert_int_equal(facts_stage_find(f, "work")->split.wall_ns, 2);
    assert_int_equal(facts_stage_find(f, "step")->split.wall_ns, 48 - 14);
    assert_int_equal(facts_stage_find(f, "load")->calls, 2);
    check_sums(f);
    done(f, m);
}

static void test_who_carries_items(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++)
        sketch_call(&s, "OrtApi::Run", "infer", 20 * MS);
    sketch_thread(&s, 101, "libonnxruntime.so.1", 0); // its pool
    for (int i = 0; i < 5; i++) {
        sketch_cpu(&s, 14 * MS);
        sketch_call(&s, "read", "load", MS); // not the pipeline's
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 5 * MS);
    }
    sketch_thread(&s, 102, "prog", 0); // only waits
    sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 100 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->item_threads, 1);
    assert_true(f->threads.at[0].carries_items);
    assert_true(f->threads.at[1].is_pool);
    assert_true(fabs(facts_stage_find(f, "infer")->share_ratio - 1) < 1e-9);
    assert_int_equal(facts_stage_find(f, "infer")->library_cpu_ns, 60 * MS);
    assert_int_equal(f->machine.pool_threads, 1);
    assert_int_equal(f->threads.at[2].idle_ns, 80 * MS);
    assert_true(fabs(f->machine.cpu_used_cores - 1.75) < 1e-9);
    check_sums(f);
    done(f, m);
}

// The threads of a video library are its pool, and their time is that of what it does.
static void test_threads_of_video_libraries(void **state)
{
    (void)state;
    static const char *const creators[] = {
        "libx264.so.164", "libavcodec.so.59", "libavfilter.so.8"};
    static const char *const served[] = {"encode", "decode", "preprocess"};
    struct sketch s = sketch_new(4, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++) {
        sketch_call(&s, "avcodec_receive_frame", "decode", 5 * MS);
        sketch_call(&s, "av_buffersink_get_frame", "preprocess", 5 * MS);
        sketch_call(&s, "avcodec_send_frame", "encode", 10 * MS);
    }
    for (uint32_t i = 0; i < 3; i++) {
        sketch_thread(&s, 101 + i, creators[i], 0);
        sketch_cpu(&s, 60 * MS);
    }
    struct facts *f = facts_of(&s, &m, "encode");
    assert_int_equal(f->item_threads, 1);
    assert_int_equal(f->machine.pool_threads, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(f->threads.at[i + 1].is_pool);
        assert_true(facts_stage_find(f, served[i])->library_cpu_ns > 0);
    }
    check_sums(f);
    done(f, m);
}

// Waiting inside a hooked call (a library's own join) is that call's affair, not a queue's.
static void test_waiting_within_a_call_is_not_idle(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++) {
        sketch_begin(&s, "OrtApi::Run", "infer");
        sketch_cpu(&s, 5 * MS);
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 5 * MS);
        sketch_end(&s);
        sketch_begin(&s, "queue", NULL);
        sketch_wait(&s, "pthread_mutex_lock", TRACE_CAUSE_LOCK, 1 * MS);
        sketch_wait(&s, "nanosleep", TRACE_CAUSE_SLEEP, 2 * MS);
        sketch_end(&s);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->steady_ns, 52 * MS);
    assert_int_equal(f->threads.at[0].idle_ns, 4 * MS);
    assert_int_equal(f->threads.at[0].lock_ns, 4 * MS);
    assert_int_equal(f->threads.at[0].paced_ns, 8 * MS);
    assert_int_equal(f->threads.at[0].work_ns, 20 * MS);
    check_sums(f);
    done(f, m);
}

static void test_time_outside_spans_has_its_split(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++) {
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
        sketch_cpu(&s, 3 * MS);
        sketch_blocked(&s, TRACE_CAUSE_OTHER, 2 * MS);
        sketch_runq(&s, 1 * MS);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->unattributed.wall_ns, 24 * MS);
    assert_int_equal(f->unattributed.cpu_ns, 12 * MS);
    assert_int_equal(f->unattributed.runq_ns, 4 * MS);
    assert_int_equal(f->unattributed.cause_ns[TRACE_CAUSE_OTHER], 8 * MS);
    assert_true(fabs(f->unattributed_ratio - 24.0 / 64) < 1e-9);
    assert_int_equal(f->threads.at[0].cpu_residual_ns, 0);
    assert_true(f->cpu_residual_ratio == 0);
    check_sums(f);
    done(f, m);
}

// The account must be able to disagree: a kernel that counted less CPU than we did shows.
static void test_a_wrong_account_shows(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++)
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
    struct model *m = sketch_finish(&s);
    m->threads.at[0].cpu_ns = 30 * MS;
    m->threads.at[0].spans.at[2].self_ns -= 5 * MS;
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->threads.at[0].residual_ns, 5 * MS);
    assert_true(fabs(f->residual_ratio - 0.1) < 1e-9);
    assert_int_equal(f->threads.at[0].cpu_residual_ns, -15 * (int64_t)MS);
    done(f, m);
}

// A pool thread that was waiting when the process ended: its open span was never recorded.
static void test_the_tail_is_not_claimed_as_cpu(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 11; i++)
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
    sketch_thread(&s, 101, "libtbb.so.12", 0);
    sketch_cpu(&s, 30 * MS);
    sketch_blocked(&s, TRACE_CAUSE_OTHER, 80 * MS);
    struct model *m = sketch_finish(&s);
    m->threads.at[1].root_splits.count = 0;
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->threads.at[1].whole.cpu_ns, 30 * MS);
    assert_int_equal(f->threads.at[1].whole.cause_ns[TRACE_CAUSE_OTHER], 80 * MS);
    check_sums(f);
    done(f, m);
}

static void test_queue_depth_and_occupancy(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_item(&s, TRACE_ITEM_END, 1, 0);
    sketch_queue(&s, "q", TRACE_QUEUE_PUT, 1);
    sketch_cpu(&s, 10 * MS);
    sketch_queue(&s, "q", TRACE_QUEUE_PUT, 2);
    sketch_cpu(&s, 10 * MS);
    sketch_queue(&s, "q", TRACE_QUEUE_GET, 1);
    sketch_queue(&s, "q", TRACE_QUEUE_GET, 0);
    sketch_queue(&s, "r", TRACE_QUEUE_PUT, 3);
    sketch_cpu(&s, 20 * MS);
    sketch_item(&s, TRACE_ITEM_END, 2, 0);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->queues.count, 2);
    assert_true(fabs(f->queues.at[1].mean_depth - 2.5) < 1e-9); // 2 were in it before
    assert_int_equal(f->queues.at[0].puts, 2);
    assert_int_equal(f->queues.at[0].gets, 2);
    assert_int_equal(f->queues.at[0].max_depth, 2);
    assert_true(fabs(f->queues.at[0].mean_depth - 0.75) < 1e-9);
    assert_true(fabs(f->queues.at[0].occupancy_ratio - 0.5) < 1e-9);
    done(f, m);
}

static void test_the_machine(void **state)
{
    (void)state;
    struct sketch s = sketch_new(8, 1.5);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 101; i++)
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
    const uint64_t end_ns = 1010 * MS;
    sketch_counter(&s, TRACE_METRIC_PROCESS_CPU_NS, 100, end_ns, 2 * end_ns);
    sketch_counter(&s, TRACE_METRIC_MACHINE_BUSY_NS, 0, end_ns, 3 * end_ns);
    sketch_counter(&s, TRACE_METRIC_CGROUP_PERIODS, 0, end_ns, 10100);
    sketch_counter(&s, TRACE_METRIC_CGROUP_THROTTLED, 0, end_ns, 2525);
    sketch_counter(&s, TRACE_METRIC_PSI_IO_SOME_US, 0, end_ns, 101000);
    sketch_counter(&s, TRACE_METRIC_PROCESS_READ_BYTES, 100, end_ns, 1010000);
    sketch_counter(&s, TRACE_METRIC_RUNNABLE, 0, end_ns, 0);
    struct facts *f = facts_of(&s, &m, NULL);
    const struct facts_machine *x = &f->machine;
    assert_true(x->cpu_is_sampled);
    assert_true(fabs(x->cpu_used_cores - 2) < 0.01);
    assert_true(fabs(x->other_busy_cores - 1) < 0.02);
    assert_true(fabs(x->cores_allowed - 1.5) < 1e-9);
    assert_true(fabs(x->quota_cores - 1.5) < 1e-9);
    assert_true(fabs(x->throttled_ratio - 0.25) < 0.01);
    assert_true(fabs(x->psi_io_ratio - 0.1) < 0.01);
    assert_true(fabs((double)x->read_bytes - 1000000) < 3000);
    assert_true(x->psi_cpu_ratio < 0);
    assert_int_equal(x->major_faults, UINT64_MAX);
    assert_true(x->runnable_threads == 0);
    done(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_by_decodes_and_windows),
        cmocka_unit_test(test_nothing_at_all),
        cmocka_unit_test(test_spans_are_cut_at_the_edges),
        cmocka_unit_test(test_folds_in_the_window),
        cmocka_unit_test(test_quantiles_are_of_single_calls),
        cmocka_unit_test(test_folds_written_late_change_nothing),
        cmocka_unit_test(test_who_carries_items),
        cmocka_unit_test(test_threads_of_video_libraries),
        cmocka_unit_test(test_waiting_within_a_call_is_not_idle),
        cmocka_unit_test(test_time_outside_spans_has_its_split),
        cmocka_unit_test(test_a_wrong_account_shows),
        cmocka_unit_test(test_the_tail_is_not_claimed_as_cpu),
        cmocka_unit_test(test_queue_depth_and_occupancy),
        cmocka_unit_test(test_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
