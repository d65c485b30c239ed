// SPDX-License-Identifier: Apache-2.0
// `lightmeter report FILE`: the report of a trace, on standard output or into a file.
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/show.h"

#include <unistd.h>

struct report_arguments {
    const char *format, *item_stage, *output;
};

static const struct option_spec options[] = {
    {.name = "format",
        .short_name = 'f',
        .argument_name = "FORMAT",
        .help = "terminal (the default), markdown or json.",
        .kind = OPTION_CHOICE,
        .offset = offsetof(struct report_arguments, format),
        .choices = show_formats},
    {.name = "item-stage",
        .argument_name = "STAGE",
        .help = "Count one item each time STAGE ends, in place of marks, inferences or decodes.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct report_arguments, item_stage)},
    {.name = "output",
        .short_name = 'o',
        .argument_name = "FILE",
        .help = "Write to FILE, whole or not at all, in place of standard output.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct report_arguments, output)},
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct report_arguments a = {.format = "terminal"};
    struct err e = {0};
    struct buf text = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && (first == argc || !*argv[first]))
        first = err_set(&e, "which trace? Give its file: lightmeter report FILE.lmt");
    if (first >= 0 && first + 1 < argc)
        first = err_set(&e, "'%s' is one word too many; report takes one trace", argv[first + 1]);
    if (first >= 0 && a.item_stage && !*a.item_stage)
        first = err_set(&e, SHOW_NO_ITEM_STAGE);
    if (first >= 0 && a.output && output_is_same(a.output, argv[first]))
        first = err_set(
            &e, "the report would replace the trace %s; name another file with -o", argv[first]);
    const struct report_format *format = first < 0 ? NULL : report_format_find(a.format, &e);
    if (!format)
        return command_fail(self, CLI_USAGE, &e);
    struct show *show = show_open(argv[first], a.item_stage, &e);
    if (!show)
        return command_fail(self, CLI_USAGE, &e);
    struct report_options o = show_options(a.output, STDOUT_FILENO);
    show_write(show, format, argv[first], &o, &text);
    show_close(&show);
    int failed = file_write(a.output ? a.output : "-", buf_text(&text), text.length_bytes, &e);
    buf_fini(&text);
    return failed ? command_fail(self, CLI_FAILED, &e) : 0;
}

const struct command command_report = {
    .name = "report",
    .operands = "FILE",
    .help = "Show the report of a trace.",
    .details =
        "Reads the trace FILE, which `lightmeter run` wrote, and shows where the time went and "
        "what limits the run. A damaged trace is read up to the damage, and the report says so.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
