// SPDX-License-Identifier: Apache-2.0
// What holds for every report: the registry, widths as the system's wcwidth sees them, nothing that
// acts on a terminal, colour that changes no text, tails only where n allows, JSON that keeps its
// schema, Markdown tables that keep their columns. Threads: none.
#include "base/file.h"
#include "base/json.h"
#include "report/report.h"
#include "sample.h"

#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

static struct sample *(*const makers[])(void) = {
    sample_pipeline, sample_nasty, sample_empty, sample_damaged};
#define MAKERS (sizeof makers / sizeof *makers)

static const char *const row_names[] = {
#define ROW(name) #name,
#include "report/formats/registry.def"
#undef ROW
    NULL};

static void write_as(struct sample *(*make_fn)(void), const char *format,
    const struct report_options *o, struct buf *out)
{
    struct sample *s = make_fn();
    const struct report_format *f = report_format_find(format, NULL);
    assert_non_null(f);
    report_write(f, &s->facts, &s->verdict, "run.lmt", o, out);
    sample_free(&s);
}

static void test_registry(void **state)
{
    (void)state;
    const char *docs = getenv("DOCS_DIR");
    const struct report_format *const *all = report_format_all();
    struct err e = {0};
    assert_non_null(docs);
    for (size_t i = 0; row_names[i] || all[i]; i++) {
        struct buf path = {0};
        assert_non_null(all[i]);
        assert_string_equal(all[i]->name, row_names[i]);
        assert_ptr_equal(report_format_find(row_names[i], NULL), all[i]);
        assert_true(*all[i]->help != 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(all[i]->name, all[k]->name);
        buf_printf(&path, "%s/report/%s.md", docs, row_names[i]);
        if (access(buf_text(&path), R_OK) != 0)
            fail_msg("%s is missing", buf_text(&path));
        buf_fini(&path);
    }
    assert_null(report_format_find("html5", &e));
    assert_non_null(strstr(err_text(&e), "html5"));
    assert_non_null(strstr(err_text(&e), "json, markdown, terminal"));
}

static int columns_of(const char *line, size_t length)
{
    int columns = 0;
    mbstate_t shift = {0};
    while (length) {
        wchar_t c;
        size_t used = mbrtowc(&c, line, length, &shift);
        assert_true(used != (size_t)-1 && used != (size_t)-2 && used != 0);
        const int width = wcwidth(c);
        assert_true(width >= 0); // no control character
        columns += width;
        line += used;
        length -= used;
    }
    return columns;
}

static void check_lines(const struct buf *text, int width_columns)
{
    const char *line = buf_text(text), *end;
    assert_true(text->length_bytes > 0 && text->at[text->length_bytes - 1] == '\n');
    for (; (end = strchr(line, '\n')); line = end + 1) {
        const int columns = columns_of(line, (size_t)(end - line));
        if (columns > width_columns)
            fail_msg("a line of %d columns, %d allowed: %.*s", columns, width_columns,
                (int)(end - line), line);
        assert_true(end == line || end[-1] != ' ');
    }
}

static void test_no_line_is_too_wide(void **state)
{
    (void)state;
    static const int widths[] = {0, 20, 60, 79, 80, 100, 200, 10000};
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    for (size_t i = 0; i < MAKERS; i++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                struct buf text = {0};
                const struct report_options o = {.width_columns = widths[w], .has_utf8 = utf8};
                const int limit = widths[w] == 0    ? 80
                                  : widths[w] < 60  ? 60
                                  : widths[w] > 200 ? 200
                                                    : widths[w];
                write_as(makers[i], "terminal", &o, &text);
                check_lines(&text, limit);
                buf_fini(&text);
            }
}

static void test_ascii_is_ascii(void **state)
{
    (void)state;
    static const char *const formats[] = {"terminal", "markdown"};
    for (size_t i = 0; i < MAKERS; i++)
        for (size_t f = 0; f < 2; f++) {
            struct buf text = {0};
            const struct report_options o = {.has_utf8 = 0};
            write_as(makers[i], formats[f], &o, &text);
            for (size_t k = 0; k < text.length_bytes; k++)
                assert_true(text.at[k] == '\n' || (text.at[k] >= 0x20 && text.at[k] < 0x7F));
            buf_fini(&text);
        }
}

// Takes out "ESC [ digits ; digits m", and nothing else, and the spaces before line ends.
static void strip_styles(const struct buf *from, struct buf *to)
{
    for (const char *c = buf_text(from); *c; c++) {
        if (c[0] == '\033' && c[1] == '[') {
            const size_t length = strspn(c + 2, "0123456789;");
            assert_int_equal(c[2 + length], 'm');
            c += 2 + length;
            continue;
        }
        while (*c == '\n' && to->length_bytes && to->at[to->length_bytes - 1] == ' ')
            to->at[--to->length_bytes] = 0;
        buf_putc(to, *c);
    }
}

static void test_colour_changes_no_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAKERS; i++) {
        struct buf plain = {0}, coloured = {0}, stripped = {0};
        const struct report_options without = {.has_utf8 = 1},
                                    with = {.has_utf8 = 1, .has_colour = 1};
        write_as(makers[i], "terminal", &without, &plain);
        write_as(makers[i], "terminal", &with, &coloured);
        assert_null(strchr(buf_text(&plain), '\033'));
        assert_non_null(strchr(buf_text(&coloured), '\033'));
        strip_styles(&coloured, &stripped);
        assert_string_equal(buf_text(&stripped), buf_text(&plain));
        buf_fini(&plain);
        buf_fini(&coloured);
        buf_fini(&stripped);
    }
}

static void test_tails_need_enough_samples(void **state)
{
    (void)state;
    struct buf text = {0};
    const struct report_options o = {.width_columns = 200, .has_utf8 = 1};
    struct sample *s = sample_pipeline();
    s->facts.item_latency.p95_is_valid = 1;
    s->facts.item_latency.n = 60;
    report_write(report_format_find("terminal", NULL), &s->facts, &s->verdict, NULL, &o, &text);
    assert_non_null(strstr(buf_text(&text), "n too small for p99 (need 459, have 60)"));
    assert_null(strstr(buf_text(&text), "p99 0 ns"));
    buf_fini(&text);
    report_write(report_format_find("json", NULL), &s->facts, &s->verdict, NULL, &o, &text);
    struct json *root = json_parse(buf_text(&text), text.length_bytes, "report", NULL);
    const struct json *latency = json_get(root, "latency_ms");
    assert_true(json_get_real(latency, "p90", -1) > 0);
    assert_true(json_get_real(latency, "p99", -1) == -1); // null
    json_free(&root);
    buf_fini(&text);
    sample_free(&s);
}

static void test_json_keeps_its_schema(void **state)
{
    (void)state;
    static const char *const keys[] = {"schema", "lightmeter", "command", "host", "collection",
        "windows", "items", "throughput_per_s", "latency_ms", "stages", "unattributed",
        "reconciliation", "verdict", "findings"};
    for (size_t i = 0; i < MAKERS; i++) {
        struct buf text = {0};
        struct err e = {0};
        const struct report_options o = {0};
        write_as(makers[i], "json", &o, &text);
        struct json *root = json_parse(buf_text(&text), text.length_bytes, "report", &e);
        if (!root)
            fail_msg("%s", err_text(&e));
        assert_string_equal(json_get_string(root, "schema", ""), "lightmeter-report/1");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_non_null(json_get(root, keys[k]));
        json_free(&root);
        buf_fini(&text);
    }
}

// Every name in the report that is not data has to be in its page.
static void check_documented(const struct json *value, const char *page, const char *const *skipped)
{
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_count(value); i++)
            check_documented(json_at(value, i), page, skipped);
    } else if (json_is_object(value)) {
        for (void *it = json_first(value); it; it = json_next(value, it)) {
            struct buf quoted = {0};
            int is_skipped = 0;
            for (size_t i = 0; skipped[i]; i++)
                is_skipped |= strcmp(skipped[i], json_key(it)) == 0;
            buf_printf(&quoted, "`%s`", json_key(it));
            if (!strstr(page, buf_text(&quoted)))
                fail_msg("docs/report/json.md does not explain %s", buf_text(&quoted));
            buf_fini(&quoted);
            if (!is_skipped)
                check_documented(json_value(it), page, skipped);
        }
    }
}

static void test_json_is_documented(void **state)
{
    (void)state;
    static const char *const skipped[] = {"kinds", "usage", "launcher", NULL};
    struct buf page = {0}, path = {0}, text = {0};
    const struct report_options o = {0};
    buf_printf(&path, "%s/report/json.md", getenv("DOCS_DIR"));
    assert_int_equal(file_read(buf_text(&path), 1 << 20, &page, NULL), 0);
    for (size_t i = 0; i < MAKERS; i++) {
        write_as(makers[i], "json", &o, &text);
        struct json *root = json_parse(buf_text(&text), text.length_bytes, "report", NULL);
        check_documented(root, buf_text(&page), skipped);
        json_free(&root);
        buf_fini(&text);
    }
    buf_fini(&page);
    buf_fini(&path);
}

// Cell borders of a line: '|' that is not escaped.
static int borders_of(const char *line, size_t length)
{
    int borders = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\')
            i++;
        else
            borders += line[i] == '|';
    }
    return borders;
}

static void test_markdown_tables_keep_their_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAKERS; i++) {
        struct buf text = {0};
        const struct report_options o = {.has_utf8 = 1};
        int borders = 0;
        write_as(makers[i], "markdown", &o, &text);
        for (const char *line = buf_text(&text), *end; (end = strchr(line, '\n')); line = end + 1) {
            const int more = *line == '|' ? borders_of(line, (size_t)(end - line)) : 0;
            if (more && borders && more != borders)
                fail_msg("%d borders after %d: %.*s", more, borders, (int)(end - line), line);
            borders = more;
        }
        assert_null(strstr(buf_text(&text), "<b>"));
        buf_fini(&text);
    }
}

static void show(struct sample *s, const char *format, struct buf *out)
{
    const struct report_options o = {.has_utf8 = 1, .width_columns = 200};
    out->length_bytes = 0;
    report_write(report_format_find(format, NULL), &s->facts, &s->verdict, "run.lmt", &o, out);
}

static void test_markdown_title_is_short(void **state)
{
    (void)state;
    // The command is quoted as a shell reads it, so that no backtick stands at an end of it.
    static const struct {
        const char *word, *title;
    } cases[] = {{"`x`", "``'`x`'``,"}, {"plain", "`plain`,"}, {"a`b", "``'a`b'``,"}};
    struct buf text = {0}, meta = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample *s = sample_damaged();
        buf_fini(&meta);
        buf_printf(&meta, "{\"command\": [\"%s\"]}", cases[i].word);
        json_free(&s->model->meta);
        s->model->meta = json_parse(buf_text(&meta), meta.length_bytes, "META", NULL);
        show(s, "markdown", &text);
        assert_memory_equal(strchr(buf_text(&text), '`'), cases[i].title, strlen(cases[i].title));
        sample_free(&s);
    }
    struct sample *s = sample_damaged();
    buf_fini(&meta);
    buf_puts(&meta, "{\"command\": [\"detect\"");
    for (int i = 0; i < 1000; i++)
        buf_puts(&meta, ", \"photograph.jpg\"");
    buf_puts(&meta, "]}");
    json_free(&s->model->meta);
    s->model->meta = json_parse(buf_text(&meta), meta.length_bytes, "META", NULL);
    show(s, "markdown", &text);
    const char *title = strstr(buf_text(&text), "`detect ");
    assert_non_null(title);
    assert_true(strcspn(title, "\n") < 150);
    sample_free(&s);
    buf_fini(&meta);
    buf_fini(&text);
}

static void test_a_wrong_item_stage_is_told(void **state)
{
    (void)state;
    struct buf text = {0};
    struct sample *s = sample_pipeline();
    s->facts.counted_by = FACTS_BY_ITEM_STAGE;
    s->facts.item_stage = "nosuch";
    s->facts.items = 0;
    show(s, "terminal", &text);
    assert_non_null(
        strstr(buf_text(&text), "named 'nosuch' (--item-stage) was seen; seen: decode, infer"));
    assert_null(strstr(buf_text(&text), "decode in two threads")); // rests on the items
    show(s, "json", &text);
    assert_non_null(strstr(buf_text(&text), "lightmeter report --item-stage STAGE"));
    assert_null(strstr(buf_text(&text), "decode in two threads"));
    static const char *const there[] = {"decode", "fread"}; // a stage and a call: none has ended
    for (size_t i = 0; i < 2; i++) {
        s->facts.item_stage = there[i];
        show(s, "terminal", &text);
        assert_null(strstr(buf_text(&text), "was seen; seen"));
        assert_non_null(strstr(buf_text(&text), "decode in two threads"));
    }
    sample_free(&s);
    buf_fini(&text);
}

static void test_gaps_tell_their_reason(void **state)
{
    (void)state;
    struct buf text = {0};
    struct sample *s = sample_nasty();
    static const char meta[] = "{\"collection\": {\"methods\": [\"/proc/pressure: stalls\"]}}";
    static const char summary[] =
        "{\"processes\": [{\"pid\": 4000, \"name\": \"renamed\"},"
        "{\"pid\": 4001, \"name\": \"other\", \"is_of_other_user\": true}]}";
    json_free(&s->model->meta);
    json_free(&s->model->summary);
    s->model->meta = json_parse(meta, strlen(meta), "META", NULL);
    s->model->summary = json_parse(summary, strlen(summary), "SUMMARY", NULL);
    s->model->processes.at[1].command = "";
    show(s, "terminal", &text);
    assert_non_null(strstr(buf_text(&text), "process 4000 renamed"));
    assert_non_null(strstr(buf_text(&text), "the inside of other (4001): it changed its user"));
    assert_non_null(strstr(buf_text(&text), "pressure stalls (PSI): the run was too short"));
    assert_null(strstr(buf_text(&text), "CONFIG_"));
    s->model->processes.at[1].pid = 4001; // the one without the agent: told once
    show(s, "terminal", &text);
    assert_null(strstr(buf_text(&text), "the inside of 1 process"));
    s->model->processes.at[0].has_agent = 0;
    show(s, "terminal", &text);
    assert_non_null(strstr(buf_text(&text), "run-queue wait: no thread was seen from inside"));
    sample_free(&s);
    buf_fini(&text);
}

static void test_cut_calls_are_not_none(void **state)
{
    (void)state;
    struct buf text = {0};
    struct sample *s = sample_pipeline();
    show(s, "terminal", &text);
    assert_null(strstr(buf_text(&text), "<1 call"));
    s->facts.names.at[1].calls = 0;
    show(s, "terminal", &text);
    const char *row = strstr(buf_text(&text), "OrtRun");
    assert_non_null(row);
    assert_non_null(memmem(row, strcspn(row, "\n"), " <1 ", 4));
    assert_non_null(strstr(buf_text(&text), "<1 call: the window holds a part"));
    sample_free(&s);
    buf_fini(&text);
}

static void set_or_unset(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static struct report_options options_in(
    int fd, const char *term, const char *no_colour, const char *lang)
{
    set_or_unset("TERM", term);
    set_or_unset("NO_COLOR", no_colour);
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    set_or_unset("LANG", lang);
    return report_options_for_fd(fd);
}

static void test_options_of_a_pipe(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct report_options o = options_in(fds[1], "xterm-256color", NULL, "en_US.UTF-8");
    assert_int_equal(o.has_colour, 0);
    assert_int_equal(o.has_utf8, 1);
    assert_int_equal(o.width_columns, 80);
    assert_int_equal(options_in(fds[1], "xterm", NULL, "C").has_utf8, 0);
    assert_int_equal(options_in(fds[1], "xterm", NULL, NULL).has_utf8, 0);
    setenv("LC_ALL", "C.utf8", 1);
    assert_int_equal(report_options_for_fd(fds[1]).has_utf8, 1);
    setenv("LC_ALL", "POSIX", 1);
    setenv("LANG", "en_US.UTF-8", 1);
    assert_int_equal(report_options_for_fd(fds[1]).has_utf8, 0);
    close(fds[0]);
    close(fds[1]);
}

static void test_options_of_a_terminal(void **state)
{
    (void)state;
    struct winsize size = {.ws_col = 72, .ws_row = 24};
    int main_fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (main_fd < 0 || grantpt(main_fd) != 0 || unlockpt(main_fd) != 0) {
        skip(); // no pseudo-terminals here
        return;
    }
    int fd = open(ptsname(main_fd), O_RDWR | O_NOCTTY);
    assert_true(fd >= 0);
    assert_int_equal(ioctl(main_fd, TIOCSWINSZ, &size), 0);
    struct report_options o = options_in(fd, "xterm", NULL, "C.UTF-8");
    assert_int_equal(o.has_colour, 1);
    assert_int_equal(o.width_columns, 72);
    assert_int_equal(options_in(fd, "xterm", "1", NULL).has_colour, 0);
    assert_int_equal(options_in(fd, "xterm", "", NULL).has_colour, 1); // empty does not count
    assert_int_equal(options_in(fd, "dumb", NULL, NULL).has_colour, 0);
    assert_int_equal(options_in(fd, NULL, NULL, NULL).has_colour, 0);
    size.ws_col = 200;
    assert_int_equal(ioctl(main_fd, TIOCSWINSZ, &size), 0);
    assert_int_equal(options_in(fd, "xterm", NULL, NULL).width_columns, 80);
    close(fd);
    close(main_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_no_line_is_too_wide),
        cmocka_unit_test(test_ascii_is_ascii),
        cmocka_unit_test(test_colour_changes_no_text),
        cmocka_unit_test(test_tails_need_enough_samples),
        cmocka_unit_test(test_json_keeps_its_schema),
        cmocka_unit_test(test_json_is_documented),
        cmocka_unit_test(test_markdown_tables_keep_their_columns),
        cmocka_unit_test(test_markdown_title_is_short),
        cmocka_unit_test(test_a_wrong_item_stage_is_told),
        cmocka_unit_test(test_gaps_tell_their_reason),
        cmocka_unit_test(test_cut_calls_are_not_none),
        cmocka_unit_test(test_options_of_a_pipe),
        cmocka_unit_test(test_options_of_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
