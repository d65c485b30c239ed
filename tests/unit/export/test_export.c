// SPDX-License-Identifier: Apache-2.0
// The registry of exporters, runs without anything in them, and an output that is full. That
// exporters keep every span is checked by decode.py. Threads: none.
#include "export/export.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const row_names[] = {
#define ROW(name) #name,
#include "export/exporters/registry.def"
#undef ROW
    NULL};

static void test_registry(void **state)
{
    (void)state;
    const char *docs = getenv("DOCS_DIR");
    const struct exporter *const *all = exporter_all();
    struct err e = {0};
    assert_non_null(docs);
    for (size_t i = 0; row_names[i] || all[i]; i++) {
        struct buf path = {0};
        assert_non_null(all[i]);
        assert_string_equal(all[i]->name, row_names[i]);
        assert_ptr_equal(exporter_find(row_names[i], NULL), all[i]);
        assert_true(*all[i]->help != 0);
        assert_true(all[i]->file_extension[0] == '.');
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(all[i]->name, all[k]->name);
            assert_string_not_equal(all[i]->file_extension, all[k]->file_extension);
        }
        buf_printf(&path, "%s/export/%s.md", docs, row_names[i]);
        if (access(buf_text(&path), R_OK) != 0)
            fail_msg("%s is missing", buf_text(&path));
        buf_fini(&path);
    }
    assert_null(exporter_find("otlp", &e));
    assert_non_null(strstr(err_text(&e), "otlp"));
    assert_non_null(strstr(err_text(&e), "chrome, collapsed, perfetto"));
}

static int exports_stacks(const char *name)
{
    return strcmp(name, "collapsed") == 0 || strcmp(name, "speedscope") == 0;
}

static void test_empty_model(void **state)
{
    (void)state;
    for (size_t i = 0; row_names[i]; i++) {
        struct model *m = model_new();
        struct err e = {0};
        struct buf text = {0};
        char path[] = "/tmp/lightmeter-export-XXXXXX";
        const int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        struct file_out *out = file_out_open(path, &e);
        assert_non_null(out);
        if (exports_stacks(row_names[i])) { // an empty file would say less
            assert_int_equal(exporter_find(row_names[i], NULL)->write_fn(m, out, &e), -1);
            assert_non_null(strstr(err_text(&e), "no sampled stacks"));
            file_out_abort(&out);
            model_free(&m);
            unlink(path);
            continue;
        }
        assert_int_equal(exporter_find(row_names[i], NULL)->write_fn(m, out, &e), 0);
        assert_int_equal(file_out_commit(&out, &e), 0);
        assert_int_equal(file_read(path, 1 << 20, &text, &e), 0);
        assert_true(text.length_bytes > 0);
        if (strcmp(row_names[i], "chrome") == 0) {
            struct json *root = json_parse(buf_text(&text), text.length_bytes, path, &e);
            assert_non_null(root);
            assert_int_equal(json_count(json_get(root, "traceEvents")), 0);
            json_free(&root);
        }
        buf_fini(&text);
        unlink(path);
        model_free(&m);
    }
}

static void add_sample(struct model *m, uint32_t tid, int64_t at_ns, uint64_t number)
{
    *vec_push(&m->samples) = (struct model_sample){
        .at_ns = at_ns, .value = number, .subject = tid, .metric = TRACE_METRIC_PYTHON_STACK};
}

// Two threads; a call of the first one from 100 to 300.
static struct model *stacks_model(void)
{
    static const struct model_place places[] = {
        {"<module>", "/home/me/a.py", 9}, {"f", "/home/me/a.py", 2}, {"odd;name\n", "<string>", 0}};
    struct model *m = model_new();
    for (size_t i = 0; i < 3; i++)
        *vec_push(&m->places) = places[i];
    *vec_push(&m->stacks) = (struct model_stack){4, 0, 2};
    *vec_push(&m->stacks) = (struct model_stack){9, 2, 1};
    for (uint32_t tid = 1; tid <= 2; tid++)
        *vec_push(&m->threads) = (struct model_thread){
            .tid = tid, .label = tid == 1 ? "main" : "", .creator = "", .end_ns = 1000};
    const uint32_t name = model_name_id(m, "cv::imread", "decode", TRACE_CAUSE_OTHER);
    *vec_push(&m->threads.at[0].spans) = (struct model_span){.start_ns = 100,
        .dur_ns = 200,
        .self_ns = 200,
        .name = name,
        .calls = 1,
        .split = MODEL_NONE,
        .attrs = MODEL_NONE,
        .parent = MODEL_NONE};
    add_sample(m, 1, 50, 4);
    add_sample(m, 1, 100, 4);
    add_sample(m, 2, 120, 9);
    add_sample(m, 1, 299, 4);
    add_sample(m, 1, 300, 9);
    add_sample(m, 1, 301, 77); // a stack that nothing tells of
    add_sample(m, 1, 2000, 4); // another thread had the number by then
    return m;
}

static void export_stacks(const char *name, struct buf *text)
{
    struct model *m = stacks_model();
    struct err e = {0};
    char path[] = "/tmp/lightmeter-export-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct file_out *out = file_out_open(path, &e);
    assert_non_null(out);
    assert_int_equal(exporter_find(name, NULL)->write_fn(m, out, &e), 0);
    assert_int_equal(file_out_commit(&out, &e), 0);
    assert_int_equal(file_read(path, 1 << 20, text, &e), 0);
    unlink(path);
    model_free(&m);
}

// Each stack of each thread once, with the stage that was open, and how often it was seen.
static void test_collapsed(void **state)
{
    (void)state;
    static const char expected[] =
        "thread 1 main;<module> (/home/me/a.py:9);f (/home/me/a.py:2);[decode] 2\n"
        "thread 1 main;<module> (/home/me/a.py:9);f (/home/me/a.py:2) 1\n"
        "thread 1 main;odd,name? (<string>:0) 1\n"
        "thread 2;odd,name? (<string>:0) 1\n";
    struct buf text = {0};
    export_stacks("collapsed", &text);
    buf_putc(&text, 0);
    assert_string_equal(text.at, expected);
    buf_fini(&text);
}

static int64_t number_at(const struct json *list, size_t index)
{
    int64_t value = -1;
    struct buf text = {0};
    json_print(json_at(list, index), 0, &text);
    value = strtoll(buf_text(&text), NULL, 10);
    buf_fini(&text);
    return value;
}

// A profile for each thread, in order of time; the stage is the innermost frame.
static void test_speedscope(void **state)
{
    (void)state;
    struct buf text = {0};
    struct err e = {0};
    export_stacks("speedscope", &text);
    struct json *root = json_parse(buf_text(&text), text.length_bytes, "speedscope", &e);
    assert_non_null(root);
    const struct json *profiles = json_get(root, "profiles"),
                      *frames = json_get(json_get(root, "shared"), "frames");
    assert_int_equal(json_count(profiles), 2);
    assert_int_equal(json_count(frames), 4);
    assert_string_equal(json_get_string(json_at(frames, 3), "name", ""), "[decode]");
    assert_string_equal(json_get_string(json_at(frames, 2), "name", ""), "odd;name\n");
    const struct json *main_thread = json_at(profiles, 0),
                      *samples = json_get(main_thread, "samples"),
                      *weights = json_get(main_thread, "weights");
    assert_string_equal(json_get_string(main_thread, "name", ""), "thread 1 main");
    assert_int_equal(json_count(samples), 4);
    static const size_t depths[] = {2, 3, 3, 1};
    static const int64_t lengths_ns[] = {50, 199, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(json_count(json_at(samples, i)), depths[i]);
        assert_int_equal(number_at(weights, i), lengths_ns[i]);
    }
    assert_int_equal(number_at(json_at(samples, 1), 2), 3);
    json_free(&root);
    buf_fini(&text);
}

// A full device: an error with a message, no hang, no crash.
static void test_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
        return;
    }
    for (size_t i = 0; row_names[i]; i++) {
        struct model *m = sample_random(1);
        struct err e = {0};
        for (uint32_t k = 0; k < 200000; k++) // more than any buffer holds
            sample_span(m, 2, "many", 100000 + k, 100000 + k);
        struct file_out *out = file_out_open("/dev/full", &e);
        assert_non_null(out);
        assert_int_equal(exporter_find(row_names[i], NULL)->write_fn(m, out, &e), -1);
        assert_true(*err_text(&e) != 0);
        file_out_abort(&out);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_empty_model),
        cmocka_unit_test(test_collapsed),
        cmocka_unit_test(test_speedscope),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
