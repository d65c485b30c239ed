// SPDX-License-Identifier: Apache-2.0
// Verdicts on runs as users have them, in the words and with the confidence they get: what limits
// the run, what contradicts, what is too short or too little to say anything, and what lowers
// confidence.
#include "outcome.h"

#include <math.h>

static void decode_loop(struct sketch *s, int items)
{
    sketch_thread(s, 100, "", 0);
    for (int i = 0; i < items; i++) {
        sketch_call(s, "cv::imread", "decode", 71 * MS / 10);
        sketch_call(s, "cv::resize", "preprocess", 29 * MS / 10);
    }
}

static void test_a_decode_loop_on_two_cores(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    decode_loop(&s, 100);
    sketch_cores(&s, 1000 * MS, 1, 0);
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_HIGH);
    assert_string_equal(
        o.v->headline, "Decoding is 71 % of the time, on one core, while the other waits");
    done(&o);
}

// The other core is not idle when other programs have it.
static void test_a_decode_loop_beside_another_program(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    decode_loop(&s, 100);
    sketch_cores(&s, 1000 * MS, 1, 0.98);
    struct outcome o = reach(&s);
    assert_string_not_equal(o.v->class_name, "cpu-single-thread");
    assert_null(strstr(o.v->headline, "waits"));
    done(&o);
}

// Two decode, and only the one of them is always on the CPU: the stage is on no single thread.
static void test_a_stage_that_two_threads_share(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    for (uint32_t t = 0; t < 2; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 100; i++) {
            sketch_call(&s, "cv::imread", "decode", t ? 6 * MS : 10 * MS);
            if (t)
                sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 4 * MS);
        }
    }
    sketch_cores(&s, 1000 * MS, 1.6, 0);
    struct outcome o = reach(&s);
    assert_string_not_equal(o.v->class_name, "cpu-single-thread");
    done(&o);
}

// One thread calls a known library now and then; the other computes all the time in its own code.
static void test_a_thread_of_own_code_is_in_the_account(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 50; i++) {
        sketch_call(&s, "cv::imread", "decode", 8 * MS);
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 12 * MS);
    }
    sketch_thread(&s, 101, "", 0);
    sketch_cpu(&s, 1000 * MS);
    sketch_cores(&s, 1000 * MS, 1.4, 0);
    struct outcome o = reach(&s);
    assert_int_equal(o.f->item_threads, 2);
    expect(&o, "cpu-single-thread", "", CONFIDENCE_HIGH);
    done(&o);
}

// Other programs take part of the core: the class stays, and the report says so.
static void test_a_decode_loop_on_a_busy_machine(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "cv::imread", "decode");
        sketch_cpu(&s, 8 * MS);
        sketch_runq(&s, 2 * MS);
        sketch_end(&s);
    }
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_MEDIUM);
    assert_true(says(o.v, "another 20 %"));
    done(&o);
}

// ONNX Runtime on two threads for most of the time: both cores are full but for the decoding.
static void inference_pipeline(struct sketch *s, uint64_t decode_ms, uint64_t infer_ms)
{
    const int items = 60;
    sketch_thread(s, 100, "", 0);
    for (int i = 0; i < items; i++) {
        sketch_call(s, "cv::imread", "decode", decode_ms * MS);
        sketch_begin(s, "OrtApi::Run", "infer");
        sketch_cpu(s, infer_ms * MS - MS / 2);
        sketch_runq(s, MS / 2);
        sketch_end(s);
    }
    sketch_thread(s, 101, "libonnxruntime.so.1", 0);
    for (int i = 0; i < items; i++) {
        sketch_wait(s, "pthread_cond_wait", TRACE_CAUSE_LOCK, decode_ms * MS);
        sketch_cpu(s, infer_ms * MS - MS / 2);
        sketch_runq(s, MS / 2);
    }
}

static void test_inference_on_all_cores(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    inference_pipeline(&s, 5, 45);
    struct outcome o = reach(&s);
    expect(&o, "cpu-saturated", "infer", CONFIDENCE_HIGH);
    assert_string_equal(o.v->headline,
        "Inference is 90 % of the time, and all 2 cores the program may use are busy");
    done(&o);
}

// Decoding keeps one of two cores idle; inference does not, and is not what to blame.
static void test_the_serial_stage_is_named_not_the_parallel_one(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    inference_pipeline(&s, 20, 30);
    sketch_cores(&s, 3000 * MS, 1.58, 0);
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_HIGH);
    assert_non_null(strstr(o.v->headline, "Decoding is 4"));
    done(&o);
}

// Three threads and queues between them; the middle one is slow.
static void test_a_pipeline_with_one_slow_stage(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    static const char *const stages[] = {"decode", "preprocess", "encode"};
    static const uint64_t work[] = {5, 19, 6};
    for (uint32_t t = 0; t < 3; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 100; i++) {
            sketch_call(&s, stages[t], stages[t], work[t] * MS);
            sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, (20 - work[t]) * MS);
        }
    }
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "preprocess", CONFIDENCE_HIGH);
    assert_true(says(o.v, "2 other threads"));
    done(&o);
}

static void test_two_workers_of_one_stage_on_many_cores(void **state)
{
    (void)state;
    struct sketch s = sketch_new(8, 0);
    for (uint32_t t = 0; t < 2; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 100; i++)
            sketch_call(&s, "cv::imread", "decode", 10 * MS);
    }
    sketch_cores(&s, 1000 * MS, 2, 0);
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_HIGH);
    assert_non_null(strstr(o.v->headline, "keeps its 2 threads always on the CPU"));
    done(&o);
}

static void test_own_code_outside_the_stages(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 50; i++) {
        sketch_call(&s, "cv::imread", "decode", 4 * MS);
        sketch_cpu(&s, 16 * MS);
    }
    sketch_cores(&s, 1000 * MS, 1, 0);
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "", CONFIDENCE_HIGH);
    assert_non_null(strstr(o.v->headline, "Code outside the known stages is 8"));
    done(&o);
}

static void test_too_short(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    decode_loop(&s, 4);
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "", CONFIDENCE_INCONCLUSIVE);
    assert_non_null(strstr(o.v->headline, "too short"));
    assert_true(says(o.v, "Run on more input"));
    done(&o);
}

static void test_an_uneven_source_is_medium(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (uint64_t i = 0; i < 100; i++) {
        sketch_wait(&s, "poll(socket)", TRACE_CAUSE_NET, (5 + i * 37 % 60) * MS);
        sketch_call(&s, "cv::imdecode", "decode", 5 * MS);
    }
    struct outcome o = reach(&s);
    expect(&o, "source-paced", "wait", CONFIDENCE_MEDIUM);
    done(&o);
}

// A camera thread that only sleeps and puts frames into a queue, and a worker behind it.
static void test_a_paced_thread_and_a_worker(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++)
        sketch_wait(&s, "clock_nanosleep", TRACE_CAUSE_SLEEP, 40 * MS);
    sketch_thread(&s, 101, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 28 * MS);
        sketch_call(&s, "OrtApi::Run", "infer", 12 * MS);
    }
    struct outcome o = reach(&s);
    expect(&o, "source-paced", "wait", CONFIDENCE_HIGH);
    done(&o);
}

static void test_workers_above_the_cores_are_saturation(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 50; i++) {
            sketch_begin(&s, "cv::imread", "decode");
            sketch_cpu(&s, 10 * MS);
            sketch_runq(&s, 10 * MS);
            sketch_end(&s);
        }
    }
    struct outcome o = reach(&s);
    expect(&o, "cpu-saturated", "decode", CONFIDENCE_HIGH);
    done(&o);
}

static void test_doubt_lowers_confidence(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    decode_loop(&s, 100);
    s.m->damage = "cut";
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_MEDIUM);
    assert_true(says(o.v, "the trace is damaged"));
    done(&o);
    s = sketch_new(2, 0);
    decode_loop(&s, 100);
    s.m->processes.at[0].dropped_records = 50;
    o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_MEDIUM);
    done(&o);
}

// A quota of half a core is not "the one core".
static void test_part_of_a_core(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0.5);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "cv::imread", "decode");
        sketch_cpu(&s, 10 * MS);
        sketch_runq(&s, 10 * MS);
        sketch_end(&s);
    }
    struct outcome o = reach(&s);
    expect(&o, "cpu-saturated", "decode", CONFIDENCE_HIGH);
    assert_non_null(strstr(o.v->headline, "all 0.5 cores the program may use are busy"));
    done(&o);
}

static void test_unknown_cores(void **state)
{
    (void)state;
    struct sketch s = sketch_new(0, 0);
    decode_loop(&s, 100);
    struct outcome o = reach(&s);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_MEDIUM);
    assert_true(says(o.v, "is not known"));
    done(&o);
}

static void test_nothing_was_seen(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "", CONFIDENCE_INCONCLUSIVE);
    done(&o);
}

// A published three-stage pipeline (10, 25 and 40 ms before a consumer of 30 ms): 25 items/s, the
// queue before the 40 ms stage is always full, the one behind it always empty; the stage that the
// bottleneck stands at is named.
static void test_the_bottleneck_stands_where_queues_turn_from_full_to_empty(void **state)
{
    (void)state;
    struct sketch s = sketch_new(8, 0);
    static const char *const stages[] = {"decode", "preprocess", "infer", "save"};
    static const uint64_t work[] = {10, 25, 40, 30};
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (uint64_t i = 0; i < 100; i++) {
            sketch_call(&s, stages[t], stages[t], work[t] * MS);
            if (work[t] < 40)
                sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, (40 - work[t]) * MS);
            if (t == 1)
                sketch_queue(&s, "before", TRACE_QUEUE_PUT, 2);
            if (t == 2) {
                sketch_queue(&s, "before", TRACE_QUEUE_GET, 1);
                sketch_queue(&s, "behind", TRACE_QUEUE_PUT, 1);
            }
            if (t == 3) {
                sketch_queue(&s, "behind", TRACE_QUEUE_GET, 0);
                sketch_item(&s, TRACE_ITEM_END, i, 0);
            }
        }
    }
    struct outcome o = reach(&s);
    assert_true(fabs(o.f->throughput_per_s - 25) < 0.01);
    for (size_t i = 0; i < o.f->queues.count; i++) {
        const struct facts_queue *q = &o.f->queues.at[i];
        const int is_before = strcmp(o.m->names.at[q->name].text, "before") == 0;
        assert_true(is_before ? q->occupancy_ratio > 0.99 : q->occupancy_ratio < 0.01);
    }
    assert_int_equal(o.f->threads.at[0].idle_ns / MS, 99 * 30);
    assert_int_equal(o.f->threads.at[1].idle_ns / MS, 99 * 15);
    assert_int_equal(o.f->threads.at[2].idle_ns, 0);
    assert_int_equal(o.f->threads.at[3].idle_ns / MS, 99 * 10);
    expect(&o, "cpu-single-thread", "infer", CONFIDENCE_HIGH);
    done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_decode_loop_on_two_cores),
        cmocka_unit_test(test_a_decode_loop_on_a_busy_machine),
        cmocka_unit_test(test_a_decode_loop_beside_another_program),
        cmocka_unit_test(test_a_stage_that_two_threads_share),
        cmocka_unit_test(test_a_thread_of_own_code_is_in_the_account),
        cmocka_unit_test(test_inference_on_all_cores),
        cmocka_unit_test(test_the_serial_stage_is_named_not_the_parallel_one),
        cmocka_unit_test(test_a_pipeline_with_one_slow_stage),
        cmocka_unit_test(test_two_workers_of_one_stage_on_many_cores),
        cmocka_unit_test(test_own_code_outside_the_stages),
        cmocka_unit_test(test_too_short),
        cmocka_unit_test(test_an_uneven_source_is_medium),
        cmocka_unit_test(test_a_paced_thread_and_a_worker),
        cmocka_unit_test(test_workers_above_the_cores_are_saturation),
        cmocka_unit_test(test_doubt_lowers_confidence),
        cmocka_unit_test(test_part_of_a_core),
        cmocka_unit_test(test_unknown_cores),
        cmocka_unit_test(test_nothing_was_seen),
        cmocka_unit_test(test_the_bottleneck_stands_where_queues_turn_from_full_to_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
