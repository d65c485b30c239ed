// SPDX-License-Identifier: Apache-2.0
// Reports of made runs against kept texts in tests/golden/report, in every format, and once more in
// ASCII. GOLDEN_UPDATE=1 writes the texts instead (tests/golden/update does that). Threads: none.
#include "base/file.h"
#include "report/report.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    struct sample *(*make_fn)(void);
} samples[] = {{"pipeline", sample_pipeline}, {"nasty", sample_nasty}, {"empty", sample_empty},
    {"damaged", sample_damaged}};

static void compare(const char *path, const struct buf *text)
{
    struct err e = {0};
    struct buf kept = {0};
    const char *update = getenv("GOLDEN_UPDATE");
    if (update && strcmp(update, "1") == 0) {
        if (file_write(path, buf_text(text), text->length_bytes, &e) < 0)
            fail_msg("%s", err_text(&e));
        return;
    }
    if (file_read(path, 1 << 20, &kept, &e) < 0)
        fail_msg("%s; tests/golden/update BUILD writes it", err_text(&e));
    if (strcmp(buf_text(&kept), buf_text(text)) != 0)
        fail_msg(
            "the report differs from %s; it is now:\n%s\nIf that is right, run tests/golden/update "
            "BUILD and look at the difference.",
            path, buf_text(text));
    buf_fini(&kept);
}

static void check(size_t index, const char *format, int has_utf8, const char *extension)
{
    const char *folder = getenv("GOLDEN_DIR");
    const struct report_options o = {.has_utf8 = has_utf8};
    struct err e = {0};
    struct buf text = {0}, path = {0};
    assert_non_null(folder);
    const struct report_format *f = report_format_find(format, &e);
    assert_non_null(f);
    struct sample *s = samples[index].make_fn();
    report_write(f, &s->facts, &s->verdict, "run.lmt", &o, &text);
    buf_printf(&path, "%s/%s%s", folder, samples[index].name, extension);
    compare(buf_text(&path), &text);
    sample_free(&s);
    buf_fini(&text);
    buf_fini(&path);
}

static void test_terminal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(i, "terminal", 1, ".terminal.txt");
}

static void test_terminal_ascii(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(i, "terminal", 0, ".ascii.txt");
}

static void test_markdown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(i, "markdown", 1, ".markdown");
}

static void test_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(i, "json", 1, ".json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_terminal_ascii),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
