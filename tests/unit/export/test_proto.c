// SPDX-License-Identifier: Apache-2.0
// The wire format against bytes worked out by hand from its definition. Threads: none.
#include "export/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check(struct buf *b, const uint8_t *expected, size_t length_bytes)
{
    assert_int_equal(b->length_bytes, length_bytes);
    assert_memory_equal(b->at, expected, length_bytes);
    buf_fini(b);
}

static void test_varints(void **state)
{
    (void)state;
    struct buf b = {0};
    proto_varint(&b, 1, 0);
    proto_varint(&b, 1, 127);
    proto_varint(&b, 1, 128);
    proto_varint(&b, 16, 300);
    proto_varint(&b, 1, UINT64_MAX);
    const uint8_t expected[] = {0x08, 0x00, 0x08, 0x7F, 0x08, 0x80, 0x01, 0x80, 0x01, 0xAC, 0x02,
        0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
    check(&b, expected, sizeof expected);
}

static void test_fixed(void **state)
{
    (void)state;
    struct buf b = {0};
    proto_fixed64(&b, 47, 0x0102030405060708);
    proto_double(&b, 44, 1.0);
    const uint8_t expected[] = {
        0xF9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1, 0xE1, 0x02, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F};
    check(&b, expected, sizeof expected);
}

static void test_texts(void **state)
{
    (void)state;
    struct buf b = {0};
    proto_text(&b, 2, "ab");
    proto_text(&b, 2, "");
    proto_text(&b, 2, "\xFF");
    const uint8_t expected[] = {0x12, 2, 'a', 'b', 0x12, 0, 0x12, 3, 0xEF, 0xBF, 0xBD};
    check(&b, expected, sizeof expected);
}

static void test_messages(void **state)
{
    (void)state;
    struct buf b = {0}, inner = {0};
    proto_message(&b, 3, &inner); // empty
    proto_varint(&inner, 1, 5);
    proto_message(&b, 3, &inner);
    assert_int_equal(inner.length_bytes, 0);
    const uint8_t expected[] = {0x1A, 0, 0x1A, 2, 0x08, 5};
    check(&b, expected, sizeof expected);
    buf_fini(&inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
