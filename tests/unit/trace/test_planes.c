// SPDX-License-Identifier: Apache-2.0
// Tests of the byte planes: what goes in comes out, odd streams are refused, hostile planes too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "stream.h"
#include "trace/planes.h"
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

// Encodes, decodes and compares; what planes_encode gave.
static int check_round_trip(struct planes *p, const struct buf *records, size_t *encoded_bytes)
{
    struct planes_output out;
    void *aligned = malloc(records->length_bytes + 16);
    memcpy(aligned, records->at, records->length_bytes);
    const int coded = planes_encode(p, aligned, records->length_bytes, &out);
    if (coded == 1) {
        uint8_t *copy = malloc(out.length_bytes), *back = malloc(records->length_bytes + 16);
        memcpy(copy, out.bytes, out.length_bytes);
        assert_true(out.length_bytes <= planes_limit_bytes(records->length_bytes));
        assert_int_equal(out.cut_bytes[out.cuts - 1], out.length_bytes);
        assert_int_equal(planes_decode(p, copy, out.length_bytes, back, records->length_bytes), 0);
        assert_memory_equal(back, records->at, records->length_bytes);
        *encoded_bytes = out.length_bytes;
        free(copy);
        free(back);
    }
    free(aligned);
    return coded;
}

static void test_every_kind_round_trips(void **state)
{
    (void)state;
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    struct planes *p = planes_new();
    size_t encoded_bytes;
    unsigned seen = 0;
    stream_thread(&s, 7, 100, 5);
    stream_samples(&s, 60);
    struct trace_cursor c = {
        .at = (const uint8_t *)s.bytes.at, .length_bytes = s.bytes.length_bytes};
    struct trace_record r;
    while (trace_records_next(&c, &r) > 0)
        seen |= 1u << r.kind;
    assert_int_equal(seen, (1u << TRACE_KIND_COUNT) - 2);
    assert_int_equal(check_round_trip(p, &s.bytes, &encoded_bytes), 1);
    assert_true(encoded_bytes < s.bytes.length_bytes * 3 / 4);
    planes_free(&p);
    buf_fini(&s.bytes);
}

// Values that no real stream has must come back too.
static void test_random_values_round_trip(void **state)
{
    (void)state;
    struct stream s = {0};
    struct planes *p = planes_new();
    size_t encoded_bytes;
    for (int i = 0; i < 20000; i++) {
        const uint64_t a = stream_random(&s), b = stream_random(&s), c = stream_random(&s);
        const struct trace_span span = {TRACE_SPAN, (uint8_t)a, (uint16_t)b, (uint32_t)c, a ^ c};
        const struct trace_span_long span_long = {.kind = TRACE_SPAN_LONG,
            .depth = (uint8_t)c,
            .name = (uint16_t)b,
            .end_ticks = a,
            .dur_ticks = b};
        const struct trace_fold fold = {
            TRACE_FOLD, (uint8_t)b, (uint16_t)a, (uint32_t)c, a, b, c, a ^ b, b ^ c, a + c, a - b};
        const struct trace_attr attr = {TRACE_ATTR, (uint8_t)b, (uint8_t)c, 0, (uint32_t)a, b};
        const struct trace_sample sample = {TRACE_SAMPLE, 0, (uint16_t)a, (uint32_t)b, c, a ^ b, 0};
        const struct trace_thread thread = {
            TRACE_THREAD, (uint8_t)a, 0, (uint32_t)b, c, a ^ b, a ^ c};
        switch (i % 8) {
        case 0:
            stream_add(&s, &span_long, sizeof span_long);
            break;
        case 1:
            stream_add(&s, &fold, sizeof fold);
            break;
        case 2:
            stream_add(&s, &attr, sizeof attr);
            break;
        case 3:
            stream_add(&s, &sample, sizeof sample);
            break;
        case 4:
            stream_add(&s, &thread, sizeof thread);
            break;
        default:
            stream_add(&s, &span, sizeof span);
        }
    }
    assert_int_equal(check_round_trip(p, &s.bytes, &encoded_bytes), 1);
    planes_free(&p);
    buf_fini(&s.bytes);
}

static void test_nothing_round_trips(void **state)
{
    (void)state;
    struct planes *p = planes_new();
    const struct buf nothing = {.at = (char[]){0}};
    size_t encoded_bytes;
    assert_int_equal(check_round_trip(p, &nothing, &encoded_bytes), 1);
    planes_free(&p);
}

// A byte that no column holds, an unknown kind, half a record: for every place in a stream.
static void test_odd_streams_are_refused_or_come_back(void **state)
{
    (void)state;
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    struct planes *p = planes_new();
    size_t encoded_bytes;
    unsigned refused = 0;
    stream_thread(&s, 7, 10, 5);
    for (size_t i = 0; i < s.bytes.length_bytes; i++) {
        for (int flip = 1; flip < 256; flip = flip * 2 + 1) {
            s.bytes.at[i] = (char)(s.bytes.at[i] ^ flip);
            refused += check_round_trip(p, &s.bytes, &encoded_bytes) == 0;
            s.bytes.at[i] = (char)(s.bytes.at[i] ^ flip);
        }
    }
    assert_true(refused > s.bytes.length_bytes / 16);
    const size_t all_bytes = s.bytes.length_bytes;
    for (s.bytes.length_bytes = all_bytes - 33; s.bytes.length_bytes < all_bytes;
         s.bytes.length_bytes++)
        (void)check_round_trip(p, &s.bytes, &encoded_bytes);
    planes_free(&p);
    buf_fini(&s.bytes);
}

// Every byte of the encoded form changed, and every shorter form: an error or other records, never
// a step outside the buffers (which the sanitizers see, as both are exactly as long as needed).
static void test_hostile_planes_are_survived(void **state)
{
    (void)state;
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    struct planes *p = planes_new();
    struct planes_output out;
    stream_thread(&s, 7, 10, 5);
    void *records = malloc(s.bytes.length_bytes);
    memcpy(records, s.bytes.at, s.bytes.length_bytes);
    assert_int_equal(planes_encode(p, records, s.bytes.length_bytes, &out), 1);
    const size_t encoded_bytes = out.length_bytes;
    uint8_t *encoded = malloc(encoded_bytes);
    memcpy(encoded, out.bytes, encoded_bytes);
    for (size_t i = 0; i < encoded_bytes; i++) {
        for (unsigned flip = 1; flip < 256; flip = flip * 2 + 1) {
            encoded[i] = (uint8_t)(encoded[i] ^ flip);
            (void)planes_decode(p, encoded, encoded_bytes, records, s.bytes.length_bytes);
            encoded[i] = (uint8_t)(encoded[i] ^ flip);
        }
        uint8_t *shorter = malloc(i + 1);
        memcpy(shorter, encoded, i);
        assert_int_equal(planes_decode(p, shorter, i, records, s.bytes.length_bytes), -1);
        free(shorter);
    }
    assert_int_equal(planes_decode(p, encoded, encoded_bytes, records, s.bytes.length_bytes), 0);
    assert_int_equal(
        planes_decode(p, encoded, encoded_bytes, records, s.bytes.length_bytes - 16), -1);
    free(encoded);
    free(records);
    planes_free(&p);
    buf_fini(&s.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_round_trips),
        cmocka_unit_test(test_random_values_round_trip),
        cmocka_unit_test(test_nothing_round_trips),
        cmocka_unit_test(test_odd_streams_are_refused_or_come_back),
        cmocka_unit_test(test_hostile_planes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
