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
    assert_non_null(strstr(err_text(&e), "chrome, perfetto"));
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
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
