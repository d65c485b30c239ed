// SPDX-License-Identifier: Apache-2.0
// `lightmeter recover`: makes a trace of what a killed or hindered `lightmeter run` left behind.
#include "trace/recover.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

struct recover_arguments {
    const char *output;
};

static const struct option_spec options[] = {
    {.name = "output",
        .short_name = 'o',
        .argument_name = "FILE",
        .help = "Write the trace to FILE; without it, to where the run was going to write it.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct recover_arguments, output)},
    {0},
};

static void describe(const struct recover_result *r, struct buf *out)
{
    char spans[TEXT_NUMBER_BYTES];
    if (r->was_nothing)
        buf_puts(out, "The run was killed before it started its program: nothing was recorded, and "
                      "its directory is removed.\n");
    else if (r->was_done)
        buf_printf(out, "The run had been packed%s%s already; its directory is tidied up.\n",
            r->output.length_bytes ? " into " : "", buf_text(&r->output));
    else
        buf_printf(out,
            "%s: %s spans of %llu threads in %llu processes. See: lightmeter report %s\n",
            buf_text(&r->output), text_count(spans, (int64_t)r->spans),
            (unsigned long long)r->threads, (unsigned long long)r->processes, buf_text(&r->output));
    buf_puts(out, buf_text(&r->notes));
}

static int run(const struct command *self, int argc, char **argv)
{
    struct recover_arguments a = {0};
    struct err e = {0};
    struct recover_result result = {0};
    struct buf text = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && (first == argc || !*argv[first]))
        first = err_set(&e, "which run? Give its directory, /dev/shm/lightmeter-... for most runs");
    if (first >= 0 && first + 1 < argc)
        first =
            err_set(&e, "'%s' is one word too many; recover takes one directory", argv[first + 1]);
    if (first < 0)
        return command_fail(self, CLI_USAGE, &e);
    const struct recover_options o = {.dir = argv[first], .output = a.output};
    int status;
    if ((a.output && output_try_trace(a.output, &e) < 0) || recover_run(&o, &result, &e) < 0) {
        status = command_fail(self, CLI_FAILED, &e);
    } else {
        describe(&result, &text);
        status = command_print(self, buf_text(&text));
    }
    buf_fini(&text);
    recover_result_fini(&result);
    return status;
}

const struct command command_recover = {
    .name = "recover",
    .operands = "DIRECTORY",
    .help = "Make a trace of what a killed run left.",
    .details =
        "When `lightmeter run` was killed or could not write its trace, the run's directory "
        "(/dev/shm/lightmeter-... for most runs) holds the rest. This makes the whole trace of "
        "it and removes the directory. Doing it twice does no harm.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
