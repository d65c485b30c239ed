// SPDX-License-Identifier: Apache-2.0
// Tests of base/json.h: round trips, order, numbers, and hostile input.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_prints(const struct json *value, int indent, const char *expected)
{
    struct buf out = {0};
    json_print(value, indent, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
}

static struct json *parse(const char *text)
{
    struct err e = {0};
    struct json *value = json_parse(text, strlen(text), "t.json", &e);
    if (!value)
        fail_msg("%s", err_text(&e));
    return value;
}

static void assert_refused(const char *text, size_t length_bytes, const char *expected)
{
    struct err e = {0};
    assert_null(json_parse(text, length_bytes, "t.json", &e));
    if (!strstr(err_text(&e), expected))
        fail_msg("'%s' does not hold '%s'", err_text(&e), expected);
    assert_memory_equal(err_text(&e), "t.json:", 7);
}

static void prints_in_insertion_order(void **state)
{
    (void)state;
    struct json *o = json_object(), *list = json_array();
    json_put_string(o, "zeta", "z");
    json_put_int(o, "alpha", -5);
    json_put_bool(o, "yes", 1);
    json_put_bool(o, "no", 0);
    json_put(o, "none", json_null());
    json_append(list, json_int(1));
    json_append(list, json_object());
    json_append(list, json_array());
    json_put(o, "list", list);
    json_put_int(o, "zeta", 9);
    assert_prints(o, 0,
        "{\"zeta\":9,\"alpha\":-5,\"yes\":true,\"no\":false,\"none\":null,\"list\":[1,{},[]]}");
    json_free(&o);
    assert_null(o);
    json_free(&o);
    json_free(NULL);
}

static void prints_indented(void **state)
{
    (void)state;
    struct json *o = parse("{\"a\":[1,{\"b\":2}],\"c\":{}}");
    assert_prints(
        o, 2, "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {}\n}\n");
    json_free(&o);
}

static void reals_are_shortest_and_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"}, {1.0, "1.0"}, {-2.5, "-2.5"}, {1e300, "1e+300"}, {1.0 / 3, NULL},
        {5e-324, NULL}, {123456789012345680.0, NULL}, {0.1 + 0.2, "0.30000000000000004"},
        {1.7976931348623157e308, NULL}, {-0.0, "-0.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *value = json_real(cases[i].value);
        struct buf out = {0};
        json_print(value, 0, &out);
        if (cases[i].text)
            assert_string_equal(buf_text(&out), cases[i].text);
        struct json *back = parse(buf_text(&out));
        double read = json_number(back, NAN);
        assert_memory_equal(&read, &cases[i].value, sizeof read);
        json_free(&back);
        json_free(&value);
        buf_fini(&out);
    }
}

static void integers_keep_all_bits(void **state)
{
    (void)state;
    struct json *o = json_object();
    json_put_int(o, "least", INT64_MIN);
    json_put_int(o, "most", INT64_MAX);
    assert_prints(o, 0, "{\"least\":-9223372036854775808,\"most\":9223372036854775807}");
    json_free(&o);
    assert_refused("9223372036854775808", 19, "too big");
}

static void what_is_not_finite_becomes_null(void **state)
{
    (void)state;
    struct json *o = json_object();
    json_put_real(o, "a", NAN);
    json_put_real(o, "b", INFINITY);
    json_put_real(o, "c", -INFINITY);
    json_put_string(o, "d", NULL);
    assert_prints(o, 0, "{\"a\":null,\"b\":null,\"c\":null,\"d\":null}");
    json_free(&o);
    assert_refused("NaN", 3, "1:");
    assert_refused("[1e999]", 7, "1:");
}

static void broken_utf8_is_replaced_going_out(void **state)
{
    (void)state;
    struct json *o = json_object();
    json_put_string(o, "k\xff", "a\xc3(\xe2\x82\xac");
    assert_prints(o, 0, "{\"k\xef\xbf\xbd\":\"a\xef\xbf\xbd(\xe2\x82\xac\"}");
    json_free(&o);
}

static void escapes_what_must_be_escaped(void **state)
{
    (void)state;
    struct json *value = json_string("\"\\\n\t\r\x01\x1b\x7f/");
    assert_prints(value, 0, "\"\\\"\\\\\\n\\t\\u000d\\u0001\\u001b\\u007f/\"");
    struct buf out = {0};
    json_print(value, 0, &out);
    struct json *back = parse(buf_text(&out));
    assert_string_equal(json_text(back, ""), "\"\\\n\t\r\x01\x1b\x7f/");
    buf_fini(&out);
    json_free(&back);
    json_free(&value);
}

static void looks_up_with_fallbacks(void **state)
{
    (void)state;
    struct json *o = parse("{\"i\":7,\"r\":1.5,\"s\":\"x\",\"b\":true,\"a\":[1,2.5],\"n\":null}");
    assert_int_equal(json_get_int(o, "i", -1), 7);
    assert_int_equal(json_get_int(o, "r", -1), -1);
    assert_int_equal(json_get_int(o, "missing", -1), -1);
    assert_true(json_get_real(o, "i", -1) == 7.0);
    assert_true(json_get_real(o, "r", -1) == 1.5);
    assert_true(json_get_real(o, "s", -1) == -1.0);
    assert_string_equal(json_get_string(o, "s", "f"), "x");
    assert_string_equal(json_get_string(o, "i", "f"), "f");
    assert_int_equal(json_get_bool(o, "b", 0), 1);
    assert_int_equal(json_get_bool(o, "i", 5), 5);
    assert_int_equal(json_count(o), 6);
    assert_int_equal(json_count(json_get(o, "a")), 2);
    assert_int_equal(json_count(json_get(o, "s")), 0);
    assert_true(json_number(json_at(json_get(o, "a"), 1), 0) == 2.5);
    assert_null(json_at(json_get(o, "a"), 2));
    assert_null(json_get(json_get(o, "a"), "x"));
    assert_true(json_is_object(o) && !json_is_array(o));
    assert_true(json_is_array(json_get(o, "a")) && !json_is_object(json_get(o, "a")));
    json_free(&o);
}

static void accepts_no_value(void **state)
{
    (void)state;
    assert_null(json_get(NULL, "x"));
    assert_null(json_at(NULL, 0));
    assert_int_equal(json_count(NULL), 0);
    assert_null(json_first(NULL));
    assert_int_equal(json_get_int(NULL, "x", 3), 3);
    assert_string_equal(json_text(NULL, "f"), "f");
    assert_false(json_is_object(NULL) || json_is_array(NULL));
}

static void iterates_in_order(void **state)
{
    (void)state;
    struct json *o = parse("{\"c\":1,\"a\":2,\"b\":3}");
    char seen[8] = {0};
    int64_t sum = 0;
    for (void *it = json_first(o); it; it = json_next(o, it)) {
        strcat(seen, json_key(it));
        sum = sum * 10 + (int64_t)json_number(json_value(it), 0);
    }
    assert_string_equal(seen, "cab");
    assert_int_equal(sum, 123);
    json_free(&o);
}

static void refuses_hostile_input(void **state)
{
    (void)state;
    assert_refused("", 0, "t.json:1:");
    assert_refused("{\"a\":1,\n \"b\": }", 15, "t.json:2:");
    assert_refused("{} x", 4, "end of file");
    assert_refused("{\"a\":1,\"a\":2}", 13, "duplicate");
    assert_refused("\"a\xff\"", 4, "byte 0xff");
    assert_refused("\"\\u0000\"", 8, "not allowed");
    assert_refused("[1\0]", 4, "t.json:1:3: not valid JSON: a NUL");
    assert_refused("[1,\n\n2]\0", 8, "t.json:3:3: not valid JSON: a NUL");
    assert_refused("\"\\ud800\"", 8, "t.json:1:");
    assert_refused("[1,]", 4, "t.json:1:");
}

static void refuses_depth_bombs(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '[', DEPTH);
    assert_refused(text, DEPTH, "maximum parsing depth");
    for (int i = 0; i + 5 <= DEPTH; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    assert_refused(text, DEPTH, "maximum parsing depth");
    free(text);
}

static void reads_every_kind_of_single_value(void **state)
{
    (void)state;
    static const char *const cases[] = {"1", "\"x\"", "true", "false", "null", "[]", "{}", "-0.5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *value = parse(cases[i]);
        assert_prints(value, 0, cases[i]);
        json_free(&value);
    }
}

static void decimal_commas_of_a_locale_stay_out(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    struct json *value = json_real(1.5);
    assert_prints(value, 0, "1.5");
    json_free(&value);
    value = parse("[2.5]");
    assert_prints(value, 0, "[2.5]");
    json_free(&value);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_in_insertion_order),
        cmocka_unit_test(prints_indented),
        cmocka_unit_test(reals_are_shortest_and_read_back),
        cmocka_unit_test(integers_keep_all_bits),
        cmocka_unit_test(what_is_not_finite_becomes_null),
        cmocka_unit_test(broken_utf8_is_replaced_going_out),
        cmocka_unit_test(escapes_what_must_be_escaped),
        cmocka_unit_test(looks_up_with_fallbacks),
        cmocka_unit_test(accepts_no_value),
        cmocka_unit_test(iterates_in_order),
        cmocka_unit_test(refuses_hostile_input),
        cmocka_unit_test(refuses_depth_bombs),
        cmocka_unit_test(reads_every_kind_of_single_value),
        cmocka_unit_test(decimal_commas_of_a_locale_stay_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
