// SPDX-License-Identifier: Apache-2.0
// From a trace to a report: every format of the option, the item stage that the run was told, and
// files that are no traces.
#include "cli/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "collect/run.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/lightmeter-test-XXXXXX", trace[64];

static void every_format_can_be_shown(void **state)
{
    (void)state;
    struct err e = {0};
    struct show *s = show_open(trace, NULL, &e);
    assert_non_null(s);
    size_t count = 0;
    for (; show_formats[count]; count++) {
        const struct report_format *format = report_format_find(show_formats[count], &e);
        assert_non_null(format);
        struct report_options o = show_options("file", -1);
        struct buf text = {0};
        show_write(s, format, "x.lmt", &o, &text);
        assert_true(text.length_bytes > 100);
        assert_non_null(strstr(buf_text(&text), "/bin/true"));
        assert_null(strchr(buf_text(&text), 27)); // no colour in a file
        buf_fini(&text);
    }
    assert_true(count >= 3);
    assert_non_null(report_format_all()[count - 1]);
    assert_null(report_format_all()[count]);
    show_close(&s);
    assert_null(s);
    show_close(&s);
}

static void what_is_no_trace_is_told(void **state)
{
    (void)state;
    struct err e = {0};
    assert_null(show_open("/nonexistent.lmt", NULL, &e));
    assert_non_null(strstr(e.text, "/nonexistent.lmt"));
    char path[96];
    snprintf(path, sizeof path, "%s/empty.lmt", folder);
    assert_int_equal(file_write(path, "", 0, &e), 0);
    assert_null(show_open(path, NULL, &e));
    assert_non_null(strstr(e.text, "empty.lmt"));
}

static int begin(void **state)
{
    (void)state;
    char program[] = "/bin/true";
    char *argv[] = {program, NULL};
    struct collect_result r;
    struct err e = {0};
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof trace, "%s/x.lmt", folder);
    const struct collect_options o = {.argv = argv, .output = trace};
    int result = collect_run(&o, &r, &e);
    collect_result_fini(&r);
    return result;
}

static int end(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_can_be_shown),
        cmocka_unit_test(what_is_no_trace_is_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
