// SPDX-License-Identifier: Apache-2.0
// Tests of the walk over records: whole ones of known kinds only, and the strings in a text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

static const size_t kind_bytes[TRACE_KIND_COUNT] = {
    0, 16, 32, 32, 64, 16, 32, 16, 32, 16, 32, 16, 32};

static void test_each_kind_has_its_length(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 256; kind++) {
        const size_t whole_bytes = kind < TRACE_KIND_COUNT ? kind_bytes[kind] : 0;
        for (size_t length_bytes = 1; length_bytes <= 80; length_bytes++) {
            uint8_t *bytes = calloc(1, length_bytes);
            struct trace_cursor c = {.at = bytes, .length_bytes = length_bytes};
            struct trace_record r;
            char fault[128] = "";
            bytes[0] = (uint8_t)kind;
            if (whole_bytes && length_bytes >= whole_bytes) {
                assert_int_equal(trace_records_next(&c, &r), 1);
                assert_int_equal(r.kind, kind);
                assert_int_equal(r.length_bytes, whole_bytes);
                assert_ptr_equal(r.at, bytes);
                assert_int_equal(c.offset_bytes, whole_bytes);
            } else {
                assert_int_equal(trace_records_next(&c, &r), -1);
                assert_int_equal(c.offset_bytes, 0);
                assert_true(strlen(trace_records_fault(&c, fault, sizeof fault)) > 10);
            }
            free(bytes);
        }
    }
}

static void test_a_text_has_to_end_inside(void **state)
{
    (void)state;
    static const struct {
        uint32_t length_bytes;
        size_t whole_bytes; // 0: it cannot fit
    } cases[] = {{0, 16}, {1, 32}, {16, 32}, {17, 48}, {48, 64}, {49, 0}, {UINT32_MAX, 0},
        {UINT32_MAX - 15, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *bytes = calloc(1, 64);
        const struct trace_text text = {.kind = TRACE_TEXT, .length_bytes = cases[i].length_bytes};
        struct trace_cursor c = {.at = bytes, .length_bytes = 64};
        struct trace_record r;
        memcpy(bytes, &text, sizeof text);
        assert_int_equal(trace_records_next(&c, &r), cases[i].whole_bytes ? 1 : -1);
        assert_int_equal(c.offset_bytes, cases[i].whole_bytes);
        free(bytes);
    }
}

static void test_faults_are_told_apart(void **state)
{
    (void)state;
    uint64_t bytes[2] = {77, 0};
    char fault[128];
    struct trace_cursor c = {.at = (const uint8_t *)bytes, .length_bytes = 16};
    assert_string_equal(
        trace_records_fault(&c, fault, sizeof fault), "a record of unknown kind 77");
    c.length_bytes = 5;
    assert_string_equal(
        trace_records_fault(&c, fault, sizeof fault), "5 bytes that are no whole record");
    bytes[0] = TRACE_FOLD;
    c.length_bytes = 16;
    assert_string_equal(trace_records_fault(&c, fault, sizeof fault),
        "a FOLD record that is longer than the 16 bytes that are left");
}

static void check_field(
    const struct trace_text *text, unsigned index, const char *expected, size_t length_bytes)
{
    const struct trace_field field = trace_text_field(text, index);
    assert_int_equal(field.length_bytes, length_bytes);
    assert_memory_equal(field.at, expected, length_bytes);
}

static void test_fields_are_split(void **state)
{
    (void)state;
    struct {
        struct trace_text text;
        char bytes[16];
    } record = {.text = {.kind = TRACE_TEXT, .length_bytes = 10}, .bytes = "one\0\0three"};
    check_field(&record.text, 0, "one", 3);
    check_field(&record.text, 1, "", 0);
    check_field(&record.text, 2, "three", 5);
    check_field(&record.text, 3, "", 0);
    check_field(&record.text, 1000, "", 0);
    record.text.length_bytes = 6; // the padding behind it is no text
    check_field(&record.text, 2, "t", 1);
    record.text.length_bytes = 4; // the last string ends with the text
    check_field(&record.text, 1, "", 0);
    record.text.length_bytes = 0;
    check_field(&record.text, 0, "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_has_its_length),
        cmocka_unit_test(test_a_text_has_to_end_inside),
        cmocka_unit_test(test_faults_are_told_apart),
        cmocka_unit_test(test_fields_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
