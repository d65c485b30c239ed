// SPDX-License-Identifier: Apache-2.0
// Tests of the file names of a run directory: made, parsed back, and refused when not exactly ours.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "trace/names.h"

#include <string.h>

static void check_round_trip(struct trace_name name, const char *expected)
{
    char text[TRACE_NAME_BYTES];
    assert_string_equal(trace_name_format(text, &name), expected);
    const struct trace_name back = trace_name_parse(expected);
    assert_int_equal(back.kind, name.kind);
    assert_int_equal(back.pid, name.pid);
    assert_int_equal(back.image_ticks, name.image_ticks);
    assert_int_equal(back.thread_seq, name.thread_seq);
    assert_int_equal(back.segment_seq, name.segment_seq);
    assert_int_equal(back.length_bytes, name.length_bytes);
    assert_int_equal(back.number, name.number);
}

static void test_names_round_trip(void **state)
{
    (void)state;
    check_round_trip((struct trace_name){.kind = TRACE_NAME_SEGMENT,
                         .pid = 0x1267,
                         .image_ticks = 0xabcdef0123456789,
                         .thread_seq = 0,
                         .segment_seq = 10},
        "s-1267-abcdef0123456789-0-a");
    check_round_trip((struct trace_name){.kind = TRACE_NAME_SEGMENT,
                         .pid = UINT32_MAX,
                         .image_ticks = UINT64_MAX,
                         .thread_seq = UINT32_MAX,
                         .segment_seq = UINT32_MAX},
        "s-ffffffff-ffffffffffffffff-ffffffff-ffffffff");
    check_round_trip(
        (struct trace_name){.kind = TRACE_NAME_PROCESS, .pid = 1, .image_ticks = 2}, "p-1-2");
    check_round_trip(
        (struct trace_name){.kind = TRACE_NAME_FREE, .length_bytes = 0x10000, .number = 7},
        "free-10000-7");
    check_round_trip((struct trace_name){.kind = TRACE_NAME_NEW, .number = 255}, "new-ff");
    check_round_trip((struct trace_name){.kind = TRACE_NAME_META}, "meta.json");
    check_round_trip((struct trace_name){.kind = TRACE_NAME_DONE}, "done");
}

static void test_other_names_are_foreign(void **state)
{
    (void)state;
    static const char *const names[] = {"", ".", "..", "s", "s-", "s-1", "s-1-2-3", "s-1-2-3-4-5",
        "s-1-2-3-4x", "s-1-2-3-", "s-01-2-3-4", "s-A-2-3-4", "s-1-2-3-100000000",
        "s-100000000-2-3-4", "s-1-10000000000000000-3-4", "s--1-2-3-4", "p-1", "p-1-2-3",
        "free-10000", "free-100000000-1", "new", "new-", "new-x", "meta.json~", "meta", "done.",
        "S-1-2-3-4", "core", "s-1-2-3-4.tmp-5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (trace_name_parse(names[i]).kind != TRACE_NAME_FOREIGN)
            fail_msg("%s is taken for one of ours", names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_round_trip),
        cmocka_unit_test(test_other_names_are_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
