// SPDX-License-Identifier: Apache-2.0
// `lightmeter version`: the version and the trace format that this build reads and writes.
#include "cli/command.h"
#include "trace/format.h"

#include <stdio.h>

static const struct option_spec options[] = {{0}};

static int run(const struct command *self, int argc, char **argv)
{
    struct err e = {0};
    char text[128];
    int first = command_parse(self, argc, argv, NULL, &e);
    if (first >= 0 && first < argc)
        first = err_set(&e, "'%s' is one word too many; version takes none", argv[first]);
    if (first < 0)
        return command_fail(self, CLI_USAGE, &e);
    snprintf(text, sizeof text, "lightmeter " LIGHTMETER_VERSION "\ntrace format %u\n",
        (unsigned)TRACE_FILE_VERSION);
    return command_print(self, text);
}

const struct command command_version = {
    .name = "version",
    .operands = "",
    .help = "Print the version.",
    .details = "Prints the version of Lightmeter and of the trace format it writes.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
