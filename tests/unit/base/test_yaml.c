// SPDX-License-Identifier: Apache-2.0
// Tests of base/yaml.h: values and their types, and that each refusal names its line and column.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_gives(const char *text, const char *expected)
{
    struct err e = {0};
    struct buf out = {0};
    struct json *value = yaml_parse(text, strlen(text), "m.yaml", &e);
    if (!value)
        fail_msg("%s", err_text(&e));
    json_print(value, 0, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
    json_free(&value);
}

static void assert_refused_bytes(const char *text, size_t length_bytes, const char *expected)
{
    struct err e = {0};
    struct json *value = yaml_parse(text, length_bytes, "m.yaml", &e);
    assert_null(value);
    if (!strstr(err_text(&e), expected))
        fail_msg("'%s' does not hold '%s'", err_text(&e), expected);
}

static void assert_refused(const char *text, const char *expected)
{
    assert_refused_bytes(text, strlen(text), expected);
}

static void reads_a_stage_map(void **state)
{
    (void)state;
    assert_gives("# our functions\n"
                 "stages:\n"
                 "  - name: decode\n"
                 "    functions: [load_image, 'cv::imread']\n"
                 "  - name: infer\n"
                 "    library: libfoo.so\n"
                 "version: 1\n",
        "{\"stages\":[{\"name\":\"decode\",\"functions\":[\"load_image\",\"cv::imread\"]},"
        "{\"name\":\"infer\",\"library\":\"libfoo.so\"}],\"version\":1}");
}

static void plain_scalars_have_types(void **state)
{
    (void)state;
    assert_gives("[1, -2, +3, 0x1F, 0o17, 007, 9223372036854775807, -9223372036854775808]",
        "[1,-2,3,31,15,7,9223372036854775807,-9223372036854775808]");
    assert_gives("[1.5, -.5, 1e3, 2.]", "[1.5,-0.5,1000.0,2.0]");
    assert_gives("[true, False, TRUE, null, ~, Null]", "[true,false,true,null,null,null]");
    assert_gives("[yes, no, on, 1.2.3, 0xg, 12ms, -, 1_000]",
        "[\"yes\",\"no\",\"on\",\"1.2.3\",\"0xg\",\"12ms\",\"-\",\"1_000\"]");
    assert_gives("a:\nb: x\n", "{\"a\":null,\"b\":\"x\"}");
}

static void quoted_and_tagged_scalars_are_strings(void **state)
{
    (void)state;
    assert_gives("['1', \"true\", !!str 5, ! 7, '']", "[\"1\",\"true\",\"5\",\"7\",\"\"]");
    assert_gives("text: |\n  a\n  b\nfolded: >\n  c\n  d\n",
        "{\"text\":\"a\\nb\\n\",\"folded\":\"c d\\n\"}");
    assert_gives("1: a\ntrue: b\n~: c\n", "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\"}");
}

static void empty_files_are_null(void **state)
{
    (void)state;
    assert_gives("", "null");
    assert_gives("# nothing\n", "null");
    assert_gives("---\n...\n", "null");
    assert_gives("--- {}\n", "{}");
    assert_gives("[]", "[]");
}

static void refuses_bad_syntax_with_its_place(void **state)
{
    (void)state;
    assert_refused("a: [1, 2\nb: 3\n", "m.yaml:2:");
    assert_refused("a: 1\n  b: 2\n", "m.yaml:2:4: not valid YAML: mapping values are not allowed");
    assert_refused("a: \"x\n", "m.yaml:");
    assert_refused("\ta: 1\n", "m.yaml:1:1: not valid YAML");
    assert_refused("a: @x\n", "m.yaml:1:4: not valid YAML");
}

static void refuses_repeated_keys(void **state)
{
    (void)state;
    assert_refused("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "m.yaml:5:3: the key 'c' is there twice");
    assert_refused("{a: null, a: 1}", "m.yaml:1:11: the key 'a' is there twice");
    assert_gives("a: {x: 1}\nb: {x: 1}\n", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}");
}

static void refuses_anchors_aliases_and_tags(void **state)
{
    (void)state;
    assert_refused("a: &x 1\n", "m.yaml:1:4: anchors");
    assert_refused("a: &x [1]\n", "m.yaml:1:4: anchors");
    assert_refused("a:\n  b: *x\n", "m.yaml:2:6: aliases");
    assert_refused("a: !!python/object:x {}\n", "m.yaml:1:4: tags");
    assert_refused("a: !!int 5\n", "m.yaml:1:4: tags");
    assert_refused("a: !x [1]\n", "m.yaml:1:4: tags");
}

static void refuses_what_json_cannot_say(void **state)
{
    (void)state;
    assert_refused("a: 9223372036854775808\n", "m.yaml:1:4: the number is out of range");
    assert_refused("a: 0xffffffffffffffff\n", "m.yaml:1:4: the number is out of range");
    assert_refused("a: 0o7777777777777777777777\n", "m.yaml:1:4: the number is out of range");
    assert_refused("a: 0o2000000000000000000000000\n", "m.yaml:1:4: the number is out of range");
    assert_refused("a:\n  - -.inf\n", "m.yaml:2:5: only finite");
    assert_refused("a: .NaN\n", "m.yaml:1:4: only finite");
    assert_refused("? [a, b]\n: 1\n", "m.yaml:1:3: a list or mapping cannot be a key");
    assert_refused("? {a: b}\n: 1\n", "cannot be a key");
    assert_refused("a: \"x\\0y\"\n", "m.yaml:1:4: a NUL");
    assert_refused("a: 1\n---\nb: 2\n", "m.yaml:2:1: a second document");
}

static void refuses_what_is_not_text(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: x\xffy\n", "m.yaml:2:5: a byte that is not UTF-8");
    assert_refused_bytes("a: 1\nb: \0\n", 10, "m.yaml:2:4: a NUL byte");
    assert_refused_bytes("\xff\xfe"
                         "a\0:\0",
        6, "m.yaml:1:1: a byte that is not UTF-8");
    assert_refused("a: \x01\n", "m.yaml:");
}

static void refuses_depth_bombs(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '[', DEPTH);
    assert_refused_bytes(text, DEPTH, "m.yaml:1:65: nested deeper than 64");
    memset(text + 64, ']', 64);
    struct err e = {0};
    struct json *value = yaml_parse(text, 128, "m.yaml", &e);
    assert_non_null(value);
    json_free(&value);
    for (int i = 0; i + 3 <= DEPTH; i += 3)
        memcpy(text + i, "{a:", 3);
    for (int i = 0; i + 4 <= DEPTH; i += 4)
        memcpy(text + i, "{a: ", 4);
    assert_refused_bytes(text, DEPTH, "nested deeper than 64");
    free(text);
}

// Each prefix of a file must end in a value or a message, and leak nothing (as the sanitizer sees).
static void survives_files_cut_anywhere(void **state)
{
    (void)state;
    static const char text[] =
        "a: {b: [1, 'x', {c: ~}], \"d\": |\n  }\ne:\n  - f: 1\n    g: [2, 3]\n";
    for (size_t length = 0; length < sizeof text; length++) {
        struct err e = {0};
        char *copy = malloc(length + 1);
        memcpy(copy, text, length);
        struct json *value = yaml_parse(copy, length, "m.yaml", &e);
        assert_true((value != NULL) != (err_text(&e)[0] != 0));
        json_free(&value);
        free(copy);
    }
}

static void locates_values_for_later_messages(void **state)
{
    (void)state;
    static const char text[] = "top: 1\n"
                               "list: [{b: 0}, {b: 1}]\n"
                               "a:\n"
                               "  x: {b: no}\n"
                               "  b:   found\n"
                               "  c:\n"
                               "    - 1\n"
                               "b: last\n";
    static const struct {
        const char *keys[3];
        size_t key_line, key_column, line, column;
    } cases[] = {{{"top"}, 1, 1, 1, 6}, {{"a", "b"}, 5, 3, 5, 8}, {{"b"}, 8, 1, 8, 4},
        {{"a", "c"}, 6, 3, 7, 5}, {{"a"}, 3, 1, 4, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yaml_place place = {0};
        assert_int_equal(yaml_locate(text, strlen(text), cases[i].keys, &place), 0);
        assert_int_equal(place.key_line, cases[i].key_line);
        assert_int_equal(place.key_column, cases[i].key_column);
        assert_int_equal(place.line, cases[i].line);
        assert_int_equal(place.column, cases[i].column);
    }
    static const char *const none[][3] = {{"c"}, {"a", "d"}, {"top", "b"}, {"list", "b"}};
    struct yaml_place place;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(yaml_locate(text, strlen(text), none[i], &place), -1);
    assert_int_equal(yaml_locate("a: [", 4, none[0], &place), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_stage_map),
        cmocka_unit_test(plain_scalars_have_types),
        cmocka_unit_test(quoted_and_tagged_scalars_are_strings),
        cmocka_unit_test(empty_files_are_null),
        cmocka_unit_test(refuses_bad_syntax_with_its_place),
        cmocka_unit_test(refuses_repeated_keys),
        cmocka_unit_test(refuses_anchors_aliases_and_tags),
        cmocka_unit_test(refuses_what_json_cannot_say),
        cmocka_unit_test(refuses_what_is_not_text),
        cmocka_unit_test(refuses_depth_bombs),
        cmocka_unit_test(survives_files_cut_anywhere),
        cmocka_unit_test(locates_values_for_later_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
