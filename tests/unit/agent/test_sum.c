// SPDX-License-Identifier: Apache-2.0
// Sums of calls: how they add up, when they are written, the durations before the sum that they
// belong to, and that nothing is lost when a thread knows more names than there is room for.
#include "agent/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/records.h"

#define RECORDS_BYTES (1u << 20)
#define SECOND_NS 1000000000u

static struct agent_thread *t;
static union {
    struct trace_segment header;
    uint8_t bytes[sizeof(struct trace_segment) + RECORDS_BYTES];
} segment __attribute__((aligned(64)));

static int set_up(void **state)
{
    (void)state;
    if (posix_memalign((void **)&t, 64, sizeof *t) != 0)
        return -1;
    memset(t, 0, sizeof *t);
    memset(&segment, 0, sizeof segment);
    segment.header.length_bytes = sizeof segment;
    t->writer.segment = &segment.header;
    t->writer.cursor = segment.bytes + sizeof segment.header;
    t->writer.limit = segment.bytes + sizeof segment;
    // A tick is a nanosecond.
    agent.clock_is_tsc = 0;
    agent.scale_mult = 1;
    agent.scale_shift = 0;
    agent.second_ticks = SECOND_NS;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(t);
    return 0;
}

// What was written, summed up by name; every attribute must be followed by its fold.
#define NAMES 100
struct written {
    uint64_t folds, calls[NAMES], self_ticks[NAMES], in_buckets[NAMES], items;
    int64_t counted[NAMES];
    unsigned buckets;
};

static struct written read_back(void)
{
    struct written w = {0};
    struct trace_cursor c = {
        .at = segment.bytes + sizeof segment.header, .length_bytes = segment.header.used_bytes};
    struct trace_record r;
    uint64_t waiting = 0;
    int more;
    while ((more = trace_records_next(&c, &r)) > 0) {
        if (r.kind == TRACE_ATTR) {
            assert_int_equal(r.attr->key, TRACE_ATTR_CALLS_OF);
            assert_true(r.attr->value > 0 && r.attr->aux < TRACE_BUCKETS);
            waiting += r.attr->value;
            w.buckets++;
        } else if (r.kind == TRACE_FOLD) {
            assert_int_equal(r.fold->depth, 0);
            w.folds++;
            w.calls[r.fold->name] += r.fold->calls;
            w.self_ticks[r.fold->name] += r.fold->self_ticks;
            w.in_buckets[r.fold->name] += waiting;
            waiting = 0;
        } else if (r.kind == TRACE_ITEM) {
            assert_int_equal(r.item->op, TRACE_ITEM_MANY);
            w.items += r.item->id;
        } else {
            assert_int_equal(r.kind, TRACE_COUNTER);
            w.counted[r.counter->name] += r.counter->delta;
        }
    }
    assert_int_equal(more, 0);
    assert_int_equal(waiting, 0);
    return w;
}

static struct agent_frame frame(uint16_t name, uint64_t start, uint64_t children)
{
    return (struct agent_frame){
        .start_ticks = start, .child_ticks = children, .what = {.name = name}};
}

static void a_call_by_itself(void **state)
{
    (void)state;
    struct agent_frame f = frame(7, 100, 30);
    f.what.switches = 2;
    f.what.attr_bits = 1u << TRACE_ATTR_BYTES;
    f.off_ns = 20;
    f.runq_ns = 5;
    f.bytes = 4096;
    const struct agent_fold fold = sum_of(&f, 200);
    assert_int_equal(fold.name, 7);
    assert_int_equal(fold.calls, 1);
    assert_int_equal(fold.self_ticks, 70);
    assert_int_equal(fold.max_ticks, 100);
    assert_int_equal(fold.first_start_ticks, 100);
    assert_int_equal(fold.last_end_ticks, 200);
    assert_int_equal(fold.off_ns, 20);
    assert_int_equal(fold.runq_ns, 5);
    assert_int_equal(fold.bytes, 4096);
    // What was left of an earlier call in the frame does not count.
    f.what.switches = 0;
    f.what.attr_bits = 0;
    f.child_ticks = 1000;
    const struct agent_fold plain = sum_of(&f, 200);
    assert_int_equal(plain.off_ns + plain.runq_ns + plain.bytes + plain.self_ticks, 0);
}

static void sums_add_up_in_any_order(void **state)
{
    (void)state;
    const struct agent_fold a = {7, 2, 10, 100, 150, 8, 3, 1, 50},
                            b = {7, 1, 5, 90, 120, 20, 2, 2, 7};
    struct agent_fold ab = {.name = 7}, ba = {.name = 7};
    sum_merge(&ab, &a);
    sum_merge(&ab, &b);
    sum_merge(&ba, &b);
    sum_merge(&ba, &a);
    assert_memory_equal(&ab, &ba, sizeof ab);
    assert_int_equal(ab.calls, 3);
    assert_int_equal(ab.self_ticks, 15);
    assert_int_equal(ab.first_start_ticks, 90);
    assert_int_equal(ab.last_end_ticks, 150);
    assert_int_equal(ab.max_ticks, 20);
    assert_int_equal(ab.off_ns, 5);
    assert_int_equal(ab.runq_ns, 3);
    assert_int_equal(ab.bytes, 57);
}

static void call(uint16_t name, uint64_t start, uint64_t now)
{
    const struct agent_frame f = frame(name, start, 0);
    sum_call(t, &f, now);
}

static void sums_are_written_once_a_second(void **state)
{
    (void)state;
    uint64_t now = 0;
    for (unsigned i = 1; i <= 2500; i++, now += SECOND_NS / 1000)
        call(3, now, now + 1000);
    struct written w = read_back();
    assert_int_equal(w.folds, 2);
    assert_true(w.calls[3] > 1900 && w.calls[3] < 2500);
    assert_int_equal(w.buckets, 0); // durations wait for longer
    sum_flush(t, now);
    w = read_back();
    assert_int_equal(w.calls[3], 2500);
    assert_int_equal(w.self_ticks[3], 2500 * 1000);
    assert_int_equal(w.in_buckets[3], 2500);
    assert_int_equal(w.buckets, 1);
    sum_flush(t, now); // nothing is left
    assert_int_equal(read_back().folds, w.folds);
}

static void durations_are_kept_apart(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++)
        call(3, 1000, 1000 + 100);
    for (unsigned i = 0; i < 5; i++)
        call(3, 1000, 1000 + 100000);
    call(4, 1000, 1000 + 100);
    sum_flush(t, 200000);
    const struct written w = read_back();
    assert_int_equal(w.buckets, 3);
    assert_int_equal(w.in_buckets[3], 15);
    assert_int_equal(w.in_buckets[4], 1);
}

static void more_names_than_there_is_room_for(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned name = 1; name < NAMES; name++)
            call((uint16_t)name, 1000, 1000 + name);
    sum_flush(t, 200000);
    const struct written w = read_back();
    for (unsigned name = 1; name < NAMES; name++) {
        assert_int_equal(w.calls[name], 3);
        assert_int_equal(w.self_ticks[name], 3 * name);
        assert_int_equal(w.in_buckets[name], 3);
    }
}

static void items_and_counts_are_summed_up(void **state)
{
    (void)state;
    t->aggregate_ticks = t->buckets_ticks = agent_ticks();
    for (unsigned i = 0; i < 100; i++) {
        sum_items(t, 2);
        sum_count(t, 5, -1);
        sum_count(t, 6, 3);
    }
    sum_flush(t, agent_ticks());
    struct written w = read_back();
    assert_int_equal(w.items, 200);
    assert_int_equal(w.counted[5], -100);
    assert_int_equal(w.counted[6], 300);
    for (unsigned name = 0; name < NAMES; name++)
        sum_count(t, (uint16_t)name, 1);
    sum_flush(t, agent_ticks());
    w = read_back();
    assert_int_equal(w.counted[7], 1);
    assert_int_equal(w.counted[NAMES - 1], 1);
    assert_int_equal(w.counted[5], -99);
    // What waited for a second is written by the next one.
    const uint64_t used_bytes = segment.header.used_bytes;
    t->aggregate_ticks -= 2 * (uint64_t)SECOND_NS;
    sum_items(t, 1);
    assert_int_equal(segment.header.used_bytes, used_bytes + sizeof(struct trace_item));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_by_itself),
        TEST(sums_add_up_in_any_order),
        TEST(sums_are_written_once_a_second),
        TEST(durations_are_kept_apart),
        TEST(more_names_than_there_is_room_for),
        TEST(items_and_counts_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
