// SPDX-License-Identifier: Apache-2.0
// The registry of subcommands: each row has a struct of its name, help, options that are explained,
// and a man page that names every option; and unknown words get the nearest.
#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const rows[] = {
#define ROW(name) #name,
#include "cli/cmds/registry.def"
#undef ROW
    NULL,
};

static void each_row_has_its_command(void **state)
{
    (void)state;
    const struct command *const *all = command_all();
    size_t count = 0;
    for (; all[count]; count++) {
        assert_non_null(rows[count]);
        assert_string_equal(all[count]->name, rows[count]);
        assert_ptr_equal(command_find(rows[count], NULL), all[count]);
        assert_non_null(all[count]->run_fn);
        assert_true(strlen(all[count]->help) > 10 && strlen(all[count]->details) > 10);
        assert_int_equal(all[count]->help[strlen(all[count]->help) - 1], '.');
        assert_int_equal(all[count]->usage_status, strcmp(rows[count], "run") == 0 ? 125 : 2);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(all[i]->name, all[count]->name);
    }
    assert_null(rows[count]);
}

static void each_option_is_explained_and_in_the_man_page(void **state)
{
    (void)state;
    for (const struct command *const *c = command_all(); *c; c++) {
        char path[512], wanted[80];
        struct buf page = {0};
        struct err e = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/docs/man/lightmeter-%s.1", (*c)->name);
        if (file_read(path, 1 << 20, &page, &e) < 0)
            fail_msg("%s", e.text);
        for (const struct option_spec *o = (*c)->options; o->name; o++) {
            assert_true(o->help && strlen(o->help) > 10);
            snprintf(wanted, sizeof wanted, "Fl -%s", o->name);
            if (!strstr(buf_text(&page), wanted))
                fail_msg("%s does not explain --%s", path, o->name);
            for (const struct option_spec *p = (*c)->options; p != o; p++) {
                assert_string_not_equal(p->name, o->name);
                assert_true(!o->short_name || p->short_name != o->short_name);
            }
        }
        snprintf(wanted, sizeof wanted, ".Xr lightmeter-%s 1", (*c)->name);
        buf_fini(&page);
        assert_int_equal(file_read(SOURCE_DIR "/docs/man/lightmeter.1", 1 << 20, &page, &e), 0);
        if (!strstr(buf_text(&page), wanted))
            fail_msg("lightmeter.1 does not name %s", (*c)->name);
        buf_fini(&page);
    }
}

static void unknown_commands_get_the_nearest(void **state)
{
    (void)state;
    struct err e = {0};
    assert_null(command_find("reprot", &e));
    assert_non_null(strstr(e.text, "Did you mean 'report'?"));
    assert_null(command_find("zzzzzzzz", &e));
    assert_null(strstr(e.text, "Did you mean"));
    assert_non_null(strstr(e.text, "lightmeter run -- PROGRAM"));
    assert_null(command_find("", &e));
}

// What a command prints and gives back, in a child process.
static int output_of(const char *name, char *word, int closed, struct buf *out, struct buf *errors)
{
    int outs[2], errs[2], status = 0;
    assert_int_equal(pipe(outs), 0);
    assert_int_equal(pipe(errs), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        char self[16];
        char *argv[] = {self, word, NULL};
        snprintf(self, sizeof self, "%s", name);
        dup2(closed ? open("/dev/full", 1) : outs[1], STDOUT_FILENO);
        dup2(errs[1], STDERR_FILENO);
        const struct command *c = command_find(name, NULL);
        _exit(c->run_fn(c, word ? 2 : 1, argv));
    }
    close(outs[1]);
    close(errs[1]);
    char part[4096];
    for (ssize_t n; (n = read(outs[0], part, sizeof part)) > 0;)
        buf_add(out, part, (size_t)n);
    for (ssize_t n; (n = read(errs[0], part, sizeof part)) > 0;)
        buf_add(errors, part, (size_t)n);
    close(outs[0]);
    close(errs[0]);
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void help_lists_commands_and_options(void **state)
{
    (void)state;
    struct buf out = {0}, errors = {0};
    assert_int_equal(output_of("help", NULL, 0, &out, &errors), 0);
    for (size_t i = 0; rows[i]; i++) { // the first words: the rest may be on the next line
        char line[64];
        snprintf(line, sizeof line, "  %-10s%.20s", rows[i], command_all()[i]->help);
        if (!strstr(buf_text(&out), line))
            fail_msg("help does not say '%s'", line);
    }
    buf_fini(&out);
    for (size_t i = 0; rows[i]; i++) {
        char word[16];
        snprintf(word, sizeof word, "%s", rows[i]);
        assert_int_equal(output_of("help", word, 0, &out, &errors), 0);
        for (const struct option_spec *o = command_all()[i]->options; o->name; o++) {
            char wanted[80];
            snprintf(wanted, sizeof wanted, "--%s", o->name);
            assert_non_null(strstr(buf_text(&out), wanted));
        }
        buf_fini(&out);
    }
    assert_string_equal(buf_text(&errors), "");
    buf_fini(&errors);
}

static void output_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    struct buf out = {0}, errors = {0};
    assert_int_equal(output_of("version", NULL, 1, &out, &errors), CLI_FAILED);
    assert_memory_equal(buf_text(&errors), "lightmeter version: ", 20);
    buf_fini(&out);
    buf_fini(&errors);
}

static void each_command_refuses_an_unknown_option(void **state)
{
    (void)state;
    for (const struct command *const *c = command_all(); *c; c++) {
        char word[] = "--no-such-option";
        struct buf out = {0}, errors = {0};
        assert_int_equal(output_of((*c)->name, word, 0, &out, &errors), (*c)->usage_status);
        assert_string_equal(buf_text(&out), "");
        assert_non_null(strstr(buf_text(&errors), "--no-such-option"));
        buf_fini(&out);
        buf_fini(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_its_command),
        cmocka_unit_test(each_option_is_explained_and_in_the_man_page),
        cmocka_unit_test(unknown_commands_get_the_nearest),
        cmocka_unit_test(help_lists_commands_and_options),
        cmocka_unit_test(output_that_cannot_be_written_is_told),
        cmocka_unit_test(each_command_refuses_an_unknown_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
