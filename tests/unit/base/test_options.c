// SPDX-License-Identifier: Apache-2.0
// Tests of base/options.h: every way to write an option, operands, messages, and the help text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/options.h"

#include <string.h>

struct filled {
    int is_quiet, is_verbose;
    const char *output, *format;
    struct option_list hooks;
    int64_t jobs;
    double ratio;
    uint64_t most_bytes;
    uint64_t keep_ns, wait_ns;
    const char *called_with;
};

static int take_called(void *into, const char *argument, struct err *e)
{
    if (strcmp(argument, "bad") == 0)
        return err_set(e, "--call: 'bad' is refused");
    ((struct filled *)into)->called_with = argument;
    return 0;
}

#define FIELD(name) offsetof(struct filled, name)
static const char *const formats[] = {"terminal", "markdown", "json", NULL};
static const struct option_spec specs[] = {
    {.name = "quiet", .short_name = 'q', .help = "Say nothing.", .offset = FIELD(is_quiet)},
    {.name = "verbose", .short_name = 'v', .help = "Say more.", .offset = FIELD(is_verbose)},
    {.name = "output",
        .short_name = 'o',
        .argument_name = "FILE",
        .kind = OPTION_STRING,
        .help = "Write the trace to FILE instead of a name made from the command and the time.",
        .offset = FIELD(output)},
    {.name = "format",
        .argument_name = "NAME",
        .help = "One of several.",
        .kind = OPTION_CHOICE,
        .choices = formats,
        .offset = FIELD(format)},
    {.name = "no-hook",
        .argument_name = "NAME",
        .help = "Leave NAME out.",
        .kind = OPTION_LIST,
        .offset = FIELD(hooks)},
    {.name = "jobs",
        .short_name = 'j',
        .argument_name = "N",
        .help = "Jobs.",
        .kind = OPTION_INT,
        .least = 1,
        .most = 64,
        .offset = FIELD(jobs)},
    {.name = "ratio",
        .argument_name = "X",
        .help = "Ratio.",
        .kind = OPTION_REAL,
        .most = 1,
        .offset = FIELD(ratio)},
    {.name = "max-bytes",
        .argument_name = "SIZE",
        .help = "Limit.",
        .kind = OPTION_BYTES,
        .least = 4096,
        .most = INT64_MAX,
        .offset = FIELD(most_bytes)},
    {.name = "keep",
        .argument_name = "TIME",
        .help = "Kept.",
        .kind = OPTION_TIME,
        .least = 1000000000,
        .most = INT64_MAX,
        .offset = FIELD(keep_ns)},
    {.name = "wait",
        .argument_name = "TIME",
        .help = "Waits.",
        .kind = OPTION_TIME,
        .offset = FIELD(wait_ns)},
    {.name = "call",
        .argument_name = "X",
        .help = "Calls.",
        .kind = OPTION_CALL,
        .take_fn = take_called},
    {0},
};
static const struct options_command anywhere = {.name = "report", .specs = specs};
static const struct options_command before = {.name = "run", .specs = specs, .stops_at_operand = 1};

// Parses the words of `line`, split at single blanks; argv[0] is put in front. Cleared each time.
static struct filled got;
static char *words[32];
static int word_count;
static struct err message;

static int parse(const struct options_command *command, const char *line)
{
    static char text[512];
    option_list_fini(&got.hooks);
    got = (struct filled){0};
    message.text[0] = 0;
    strcpy(text, line);
    word_count = 0;
    words[word_count++] = text + sizeof text - 1;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[word_count++] = word;
    return options_parse(command, word_count, words, &got, &message);
}

static void assert_operands(int first, const char *expected)
{
    char joined[256] = "";
    for (int i = first; i < word_count; i++) {
        strcat(joined, words[i]);
        strcat(joined, i + 1 < word_count ? " " : "");
    }
    if (first < 0)
        fail_msg("%s", err_text(&message));
    assert_string_equal(joined, expected);
}

static void assert_refused(const char *line, const char *expected)
{
    assert_int_equal(parse(&anywhere, line), -1);
    if (!strstr(err_text(&message), expected))
        fail_msg("'%s' does not hold '%s'", err_text(&message), expected);
}

static void takes_every_way_of_writing(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--output=a", "--output a", "-o a", "-oa", "-qo a", "-qvoa", "--output=x -o a"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_operands(parse(&anywhere, lines[i]), "");
        assert_string_equal(got.output, "a");
    }
    parse(&anywhere, "-qv");
    assert_int_equal(got.is_quiet, 1);
    assert_int_equal(got.is_verbose, 1);
    assert_null(got.output);
}

static void keeps_defaults(void **state)
{
    (void)state;
    struct filled f = {.output = "default", .jobs = 3};
    char *argv[] = {(char[]){"run"}, (char[]){"-q"}, NULL};
    assert_int_equal(options_parse(&anywhere, 2, argv, &f, NULL), 2);
    assert_string_equal(f.output, "default");
    assert_int_equal(f.jobs, 3);
    assert_int_equal(f.is_quiet, 1);
    assert_int_equal(options_parse(&anywhere, 1, argv, &f, NULL), 1);
    assert_int_equal(options_parse(&anywhere, 0, argv, &f, NULL), 1);
}

static void argument_may_look_like_anything(void **state)
{
    (void)state;
    parse(&anywhere, "-o - --call=--quiet");
    assert_string_equal(got.output, "-");
    assert_string_equal(got.called_with, "--quiet");
    parse(&anywhere, "--output=a=b=c");
    assert_string_equal(got.output, "a=b=c");
    parse(&anywhere, "--output=");
    assert_string_equal(got.output, "");
    parse(&anywhere, "--output -x");
    assert_string_equal(got.output, "-x");
}

static void operands_come_last_in_their_order(void **state)
{
    (void)state;
    assert_operands(parse(&anywhere, "a -q b --output o c"), "a b c");
    assert_string_equal(got.output, "o");
    assert_int_equal(got.is_quiet, 1);
    assert_operands(parse(&anywhere, "a b"), "a b");
    assert_operands(parse(&anywhere, "-q"), "");
    assert_operands(parse(&anywhere, "a -v - b -- -q c --"), "a - b -q c --");
    assert_int_equal(got.is_quiet, 0);
    assert_operands(parse(&anywhere, "-- a"), "a");
    assert_operands(parse(&anywhere, "a --"), "a");
    assert_operands(parse(&anywhere, "a b c d -q e f -v"), "a b c d e f");
}

static void stops_at_the_first_operand_when_asked(void **state)
{
    (void)state;
    assert_operands(parse(&before, "-q cmd -v --output x"), "cmd -v --output x");
    assert_int_equal(got.is_quiet, 1);
    assert_int_equal(got.is_verbose, 0);
    assert_null(got.output);
    assert_operands(parse(&before, "-q -- -cmd -- x"), "-cmd -- x");
    assert_operands(parse(&before, "-q"), "");
    assert_operands(parse(&before, "-q --"), "");
}

static void gathers_lists(void **state)
{
    (void)state;
    parse(&anywhere, "--no-hook a --no-hook=b x --no-hook c");
    assert_int_equal(got.hooks.count, 3);
    assert_string_equal(got.hooks.at[0], "a");
    assert_string_equal(got.hooks.at[1], "b");
    assert_string_equal(got.hooks.at[2], "c");
    option_list_fini(&got.hooks);
    assert_null(got.hooks.at);
}

static void reads_numbers_within_bounds(void **state)
{
    (void)state;
    parse(&anywhere, "-j64 --ratio 0.5 --max-bytes 512M --format json");
    assert_int_equal(got.jobs, 64);
    assert_true(got.ratio == 0.5);
    assert_true(got.most_bytes == 512u << 20);
    assert_ptr_equal(got.format, formats[2]);
    assert_refused("-j 0", "-j: '0' is not a whole number from 1 to 64");
    assert_refused("--jobs=65", "--jobs: '65' is not a whole number from 1 to 64");
    assert_refused("--jobs=x", "'x' is not a whole number");
    assert_refused("--jobs=", "'' is not a whole number");
    assert_refused("--ratio 1.01", "'1.01' is not a number from 0 to 1");
    assert_refused("--ratio nan", "'nan' is not a number");
    assert_refused("--max-bytes 12Q", "'12Q' is not a size in bytes (say 512M");
    assert_refused("--max-bytes 4095", "is not a size");
    assert_refused("--format yaml", "'yaml' is not one of terminal, markdown, json. See");
    assert_refused("--call bad", "--call: 'bad' is refused");
}

static void reads_lengths_of_time_within_bounds(void **state)
{
    (void)state;
    parse(&anywhere, "--keep 1s --wait 250ms");
    assert_true(got.keep_ns == 1000000000u);
    assert_true(got.wait_ns == 250000000u);
    parse(&anywhere, "--keep=1.5m --wait 0");
    assert_true(got.keep_ns == UINT64_C(90000000000));
    assert_true(got.wait_ns == 0);
    parse(&anywhere, "--keep 2h --wait 7");
    assert_true(got.keep_ns == UINT64_C(7200000000000));
    assert_true(got.wait_ns == UINT64_C(7000000000));
    assert_refused(
        "--keep 999ms", "'999ms' is not a length of time (say 60s, 1.5m or 2h) of at least 1 s");
    assert_refused("--keep 10000000h", "is not a length of time");
    assert_refused("--wait -1s", "'-1s' is not a length of time (say 60s, 1.5m or 2h). See");
    assert_refused("--wait 1d", "is not a length of time");
    assert_refused("--wait", "--wait");
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    assert_refused("--fromat json", "no option '--fromat'. Did you mean '--format'? See lightmeter "
                                    "help report.");
    assert_refused("--outptu=x", "Did you mean '--output'?");
    assert_refused("--max", "Did you mean '--max-bytes'?");
    assert_refused("--zebra", "there is no option '--zebra'. See lightmeter help report.");
    assert_refused("-x", "there is no option '-x'. See");
    assert_refused("-qx", "there is no option '-qx'");
    assert_refused("---quiet", "there is no option '---quiet'");
    assert_refused("--output", "--output needs an argument: --output FILE.");
    assert_refused("-qo", "-o needs an argument: -o FILE.");
    assert_refused("--output --quiet", "--output needs an argument");
    assert_refused("--output -- x", "--output needs an argument");
    assert_refused("--quiet=1", "--quiet takes no argument, but got '1'");
    assert_refused("--=x", "there is no option '--=x'");
}

static void help_fits_the_columns(void **state)
{
    (void)state;
    struct buf out = {0};
    options_help(specs, 60, &out);
    static const char expected[] = "  -q, --quiet             Say nothing.\n"
                                   "  -v, --verbose           Say more.\n"
                                   "  -o, --output FILE       Write the trace to FILE instead of\n"
                                   "                          a name made from the command and\n"
                                   "                          the time.\n";
    assert_memory_equal(buf_text(&out), expected, strlen(expected));
    assert_non_null(strstr(buf_text(&out), "      --max-bytes SIZE    Limit.\n"));
    buf_fini(&out);
    static const struct option_spec wide[] = {
        {.name = "a-very-long-option-name", .argument_name = "FILE", .help = "Short."}, {0}};
    options_help(wide, 60, &out);
    assert_string_equal(buf_text(&out), "      --a-very-long-option-name FILE\n"
                                        "                          Short.\n");
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_way_of_writing),
        cmocka_unit_test(keeps_defaults),
        cmocka_unit_test(argument_may_look_like_anything),
        cmocka_unit_test(operands_come_last_in_their_order),
        cmocka_unit_test(stops_at_the_first_operand_when_asked),
        cmocka_unit_test(gathers_lists),
        cmocka_unit_test(reads_numbers_within_bounds),
        cmocka_unit_test(reads_lengths_of_time_within_bounds),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(help_fits_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
