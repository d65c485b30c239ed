// SPDX-License-Identifier: Apache-2.0
// `lightmeter dump`: what is in a trace, record by record, or whether it is sound.
#include "trace/dump.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/command.h"
#include "trace/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct dump_arguments {
    int blocks, ticks, check;
    int64_t limit;
};

static const struct option_spec options[] = {
    {.name = "blocks",
        .short_name = 'b',
        .help = "Only the blocks, no records.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct dump_arguments, blocks)},
    {.name = "limit",
        .short_name = 'n',
        .argument_name = "COUNT",
        .help = "At most COUNT records of each block.",
        .kind = OPTION_INT,
        .offset = offsetof(struct dump_arguments, limit),
        .least = 1,
        .most = INT64_MAX},
    {.name = "ticks",
        .help = "Times as raw ticks of the run's clock.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct dump_arguments, ticks)},
    {.name = "check",
        .short_name = 'c',
        .help =
            "Verify the whole trace and print what is wrong; the exit status is 1 when something "
            "is.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct dump_arguments, check)},
    {0},
};

// A reader that went away (a pager that was closed) ends the dump quietly.
static int print(void *context, const char *text, size_t length_bytes)
{
    int *failed = context;
    if (fwrite(text, 1, length_bytes, stdout) == length_bytes)
        return 0;
    *failed = errno;
    return 1;
}

static int dump(const struct command *self, const char *path, const struct dump_arguments *a)
{
    struct err e = {0};
    int failed = 0;
    const struct trace_dump_options o = {
        .is_blocks_only = a->blocks, .is_raw_time = a->ticks, .record_limit = (uint64_t)a->limit};
    if (trace_dump_file(path, &o, print, &failed, &e) < 0)
        return command_fail(self, CLI_USAGE, &e);
    if (!failed && fflush(stdout) != 0)
        failed = errno;
    if (!failed)
        return 0;
    err_set_errno(&e, failed, "standard output cannot be written");
    return command_fail(self, CLI_FAILED, &e);
}

static int check(const struct command *self, const char *path)
{
    struct err e = {0};
    struct trace_check c = {0};
    struct buf text = {0};
    if (trace_check_file(path, &c, &e) < 0) {
        trace_check_fini(&c);
        return command_fail(self, CLI_USAGE, &e);
    }
    buf_puts(&text, buf_text(&c.text));
    buf_printf(&text,
        "%" PRIu64 " blocks, %" PRIu64 " processes, %" PRIu64 " threads, %" PRIu64
        " records, %" PRIu64 " spans: ",
        c.blocks, c.processes, c.threads, c.records, c.spans + c.folds);
    if (c.findings)
        buf_printf(&text, "%" PRIu64 " things are wrong\n", c.findings);
    else
        buf_printf(&text, "sound%s\n", c.is_cut ? ", but cut: it has no summary" : "");
    int status = command_print(self, buf_text(&text));
    if (!status && c.findings)
        status = CLI_FAILED;
    buf_fini(&text);
    trace_check_fini(&c);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct dump_arguments a = {0};
    struct err e = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && (first == argc || !*argv[first]))
        first = err_set(&e, "which trace? Give its file: lightmeter dump FILE.lmt");
    if (first >= 0 && first + 1 < argc)
        first = err_set(&e, "'%s' is one word too many; dump takes one trace", argv[first + 1]);
    if (first >= 0 && a.check && (a.blocks || a.ticks || a.limit))
        first = err_set(&e, "--check prints no records; leave the other options out");
    if (first < 0)
        return command_fail(self, CLI_USAGE, &e);
    return a.check ? check(self, argv[first]) : dump(self, argv[first], &a);
}

const struct command command_dump = {
    .name = "dump",
    .operands = "FILE",
    .help = "Print the records of a trace, or check it.",
    .details = "Prints the trace FILE block by block and record by record, damage included. With "
               "--check it prints only what is wrong.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
