// SPDX-License-Identifier: Apache-2.0
// Verdicts on runs that wait before they work or for files: reads that storage explains or not,
// writes that are no reads, set-up in and out of stages, and work that only looks like set-up.
#include "outcome.h"

// Reads wait, but nothing came from storage: a pipe or a network file system. Never io-latency.
static void test_waiting_reads_without_storage_conflict(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "read", "load");
        sketch_blocked(&s, TRACE_CAUSE_IO, 12 * MS);
        sketch_bytes(&s, 100000);
        sketch_end(&s);
        sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
    }
    sketch_counter(&s, TRACE_METRIC_PROCESS_READ_BYTES, 100, 2000 * MS, 0);
    sketch_counter(&s, TRACE_METRIC_PROCESS_RCHAR_BYTES, 100, 2000 * MS, 10000000);
    sketch_counter(&s, TRACE_METRIC_PSI_IO_SOME_US, 0, 2000 * MS, 1000);
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "load", CONFIDENCE_INCONCLUSIVE);
    assert_true(says(o.v, "a pipe or a network file system"));
    assert_non_null(strstr(o.v->headline, "io-latency contradict"));
    done(&o);
}

// The same reads with no word from the kernel about storage: medium, not high.
static void test_one_signal_is_medium(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "read", "load");
        sketch_blocked(&s, TRACE_CAUSE_IO, 12 * MS);
        sketch_end(&s);
        sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
    }
    struct outcome o = reach(&s);
    expect(&o, "io-latency", "load", CONFIDENCE_MEDIUM);
    done(&o);
}

static void test_large_cold_reads_may_be_bandwidth(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "read", "load");
        sketch_blocked(&s, TRACE_CAUSE_IO, 12 * MS);
        sketch_bytes(&s, 8000000);
        sketch_end(&s);
        sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
    }
    sketch_counter(&s, TRACE_METRIC_PROCESS_READ_BYTES, 100, 2000 * MS, 800000000);
    sketch_counter(&s, TRACE_METRIC_PROCESS_RCHAR_BYTES, 100, 2000 * MS, 800000000);
    struct outcome o = reach(&s);
    expect(&o, "io-latency", "load", CONFIDENCE_MEDIUM);
    assert_true(says(o.v, "its ceiling was not measured"));
    for (size_t i = 0; i < o.v->evidence.count; i++)
        assert_int_not_equal(o.v->evidence.at[i].signal, 2);
    done(&o);
}

// A program that waits until each result is on the disk is not told to read ahead.
static void test_synced_writes_are_not_reads(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_begin(&s, "read", "load");
        sketch_blocked(&s, TRACE_CAUSE_IO, MS);
        sketch_end(&s);
        sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
        sketch_begin(&s, "fsync", "save");
        sketch_blocked(&s, TRACE_CAUSE_IO, 11 * MS);
        sketch_end(&s);
    }
    sketch_counter(&s, TRACE_METRIC_PROCESS_READ_BYTES, 100, 2000 * MS, 1000000);
    sketch_counter(&s, TRACE_METRIC_PROCESS_RCHAR_BYTES, 100, 2000 * MS, 1000000);
    sketch_counter(&s, TRACE_METRIC_PSI_IO_SOME_US, 0, 2000 * MS, 1000000);
    struct outcome o = reach(&s);
    expect(&o, "io-latency", "save", CONFIDENCE_HIGH);
    assert_string_equal(
        o.v->headline, "The pipeline waits 60 % of the time for writes, about one at a time");
    assert_false(says(o.v, " read"));
    assert_true(says(o.v, "Write behind"));
    done(&o);
}

// Four threads that save: what they read of configuration, all from storage, says nothing of that.
static void test_many_writes_in_flight(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 100; i++) {
            sketch_call(&s, "cv::imdecode", "decode", 4 * MS);
            sketch_begin(&s, "write", "save");
            sketch_blocked(&s, TRACE_CAUSE_IO, 16 * MS);
            sketch_end(&s);
        }
    }
    sketch_counter(&s, TRACE_METRIC_PROCESS_READ_BYTES, 100, 2000 * MS, 1000);
    sketch_counter(&s, TRACE_METRIC_PROCESS_RCHAR_BYTES, 100, 2000 * MS, 1000);
    struct outcome o = reach(&s);
    expect(&o, "io-bandwidth", "save", CONFIDENCE_MEDIUM);
    assert_non_null(strstr(o.v->headline, "writes in flight"));
    assert_false(says(o.v, " read"));
    done(&o);
}

// A script of imports with three images is short, but what it spends its time on is plain.
static void test_short_but_mostly_imports(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 900 * MS);
    for (int i = 0; i < 3; i++)
        sketch_call(&s, "cv::imread", "decode", 12 * MS);
    struct outcome o = reach(&s);
    expect(&o, "startup", "", CONFIDENCE_HIGH);
    done(&o);
}

static void test_one_item_after_imports(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 900 * MS);
    sketch_call(&s, "cv::imread", "decode", 12 * MS);
    struct outcome o = reach(&s);
    expect(&o, "startup", "", CONFIDENCE_HIGH);
    done(&o);
}

// `name`, a stage of the program's own words, `calls` times before the first of 50 photographs.
static struct outcome marked_start(const char *name, unsigned calls)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (unsigned i = 0; i < calls; i++)
        sketch_call(&s, name, NULL, 1200 * MS / calls);
    for (int i = 0; i < 50; i++)
        sketch_call(&s, "cv::imread", "decode", 8 * MS);
    return reach(&s);
}

static void test_set_up_in_a_stage_of_its_own(void **state)
{
    (void)state;
    struct outcome o = marked_start("setup", 1);
    expect(&o, "startup", "", CONFIDENCE_HIGH);
    assert_true(says(o.v, "1.2 s of it went into setting up"));
    done(&o);
    o = marked_start("read settings", 1);
    expect(&o, "startup", "", CONFIDENCE_MEDIUM);
    assert_int_equal(o.f->once_ns, 1200 * MS);
    assert_true(says(o.v, "most in 'read settings'"));
    done(&o);
}

// One call for each item: the first of two passes over them, not what is paid once.
static void test_a_first_pass_is_not_startup(void **state)
{
    (void)state;
    struct outcome o = marked_start("measure", 50);
    assert_int_equal(o.f->once_ns, 0);
    assert_int_equal(o.f->first_work_ns, 0);
    expect(&o, "cpu-single-thread", "decode", CONFIDENCE_MEDIUM);
    done(&o);
}

// A single long sleep between items paces nothing.
static void test_one_sleep_is_no_source(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 60; i++) {
        sketch_call(&s, "cv::imread", "decode", 30 * MS);
        if (i == 20)
            sketch_wait(&s, "nanosleep", TRACE_CAUSE_SLEEP, 2000 * MS);
    }
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "wait", CONFIDENCE_INCONCLUSIVE);
    assert_true(says(o.v, "only a few waited"));
    done(&o);
}

// A thread that hands results over, and waits for them else, is not what the shares are of.
static void test_a_thread_that_only_hands_over(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++)
        sketch_call(&s, "cv::imread", "decode", 10 * MS);
    sketch_thread(&s, 101, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_call(&s, "fwrite", "save", MS / 20);
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 995 * MS / 100);
    }
    struct outcome o = reach(&s);
    assert_int_equal(o.f->item_threads, 1);
    assert_string_equal(
        o.v->headline, "Decoding is 100 % of the time, on one core, while the other 3 wait");
    done(&o);
}

// Mapped files: no call waits, and the time would have no name.
static void test_faults_from_storage_are_named(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 100; i++) {
        sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
        sketch_blocked(&s, TRACE_CAUSE_OTHER, 12 * MS);
    }
    sketch_counter(&s, TRACE_METRIC_PROCESS_MAJFLT, 100, 2000 * MS, 117);
    sketch_counter(&s, TRACE_METRIC_PSI_IO_SOME_US, 0, 2000 * MS, 620000);
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "", CONFIDENCE_INCONCLUSIVE);
    assert_true(says(o.v, "times (major faults)"));
    assert_true(says(o.v, "MADV_WILLNEED"));
    done(&o);
}

// Two threads with one mutex and no known stage between them.
static void test_a_lock_without_stages(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 8; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 50; i++) {
            sketch_cpu(&s, 2 * MS);
            sketch_wait(&s, "pthread_mutex_lock", TRACE_CAUSE_LOCK, 14 * MS);
        }
    }
    struct outcome o = reach(&s);
    expect(&o, "lock", "", CONFIDENCE_HIGH);
    assert_non_null(strstr(o.v->headline, "8 threads wait"));
    done(&o);
}

// The same with Python's global lock, which is another matter.
static void test_the_gil_is_no_lock(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 8; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < 50; i++) {
            sketch_cpu(&s, 2 * MS);
            sketch_wait(&s, "take the GIL", TRACE_CAUSE_GIL, 14 * MS);
        }
    }
    struct outcome o = reach(&s);
    assert_string_not_equal(o.v->class_name, "lock");
    for (size_t i = 0; i < o.f->threads.count; i++)
        assert_int_equal(o.f->threads.at[i].lock_ns, 0);
    done(&o);
}

// Work began at once; the first inference took two seconds: a warm-up, which is another matter.
static void test_a_slow_first_call_is_not_startup(void **state)
{
    (void)state;
    struct sketch s = sketch_new(1, 0);
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 20 * MS);
    sketch_call(&s, "OrtApi::Run", "infer", 2000 * MS);
    for (int i = 0; i < 50; i++) {
        sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 4 * MS);
        sketch_call(&s, "OrtApi::Run", "infer", 3 * MS);
    }
    struct outcome o = reach(&s);
    expect(&o, "inconclusive", "", CONFIDENCE_INCONCLUSIVE);
    assert_true(says(o.v, "warm-up"));
    done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_reads_without_storage_conflict),
        cmocka_unit_test(test_one_signal_is_medium),
        cmocka_unit_test(test_large_cold_reads_may_be_bandwidth),
        cmocka_unit_test(test_synced_writes_are_not_reads),
        cmocka_unit_test(test_many_writes_in_flight),
        cmocka_unit_test(test_short_but_mostly_imports),
        cmocka_unit_test(test_one_item_after_imports),
        cmocka_unit_test(test_set_up_in_a_stage_of_its_own),
        cmocka_unit_test(test_a_first_pass_is_not_startup),
        cmocka_unit_test(test_a_slow_first_call_is_not_startup),
        cmocka_unit_test(test_one_sleep_is_no_source),
        cmocka_unit_test(test_a_thread_that_only_hands_over),
        cmocka_unit_test(test_faults_from_storage_are_named),
        cmocka_unit_test(test_a_lock_without_stages),
        cmocka_unit_test(test_the_gil_is_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
