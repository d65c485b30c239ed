// SPDX-License-Identifier: Apache-2.0
// What a subcommand is, and where all of them are listed. A subcommand is one file in cmds/ that
// ends in one `const struct command`, and its row in cmds/registry.def. Used by main.c, `help` and
// tests. Threads: constant data.
#ifndef LIGHTMETER_CLI_COMMAND_H
#define LIGHTMETER_CLI_COMMAND_H

#include "base/err.h"
#include "base/options.h"

#define CLI_USAGE 2        // exit status of a wrong command line, and of input that is not usable
#define CLI_FAILED 1       // exit status of a command that could not do its work
#define CLI_RUN_FAILED 125 // the same for `run`, whose other statuses are the target's

struct command {
    const char *name;     // as in the registry
    const char *operands; // "FILE", "[--] COMMAND [ARGUMENT...]", ""
    const char *help;     // one line
    const char *details;  // a paragraph or more for `lightmeter help NAME`
    const struct option_spec *options;
    int stops_at_operand; // options end at the first operand
    int usage_status;     // exit status of a wrong command line
    // Runs it. argv[0] is the command's name. Its exit status; messages are printed by then.
    int (*run_fn)(const struct command *self, int argc, char **argv);
};

// All subcommands, in the registry's order, ended by NULL.
const struct command *const *command_all(void);

// The one of that name, or NULL with a message that suggests the nearest.
const struct command *command_find(const char *name, struct err *e);

// Parses the options into `into`. Index of the first operand, or -1 with a message.
int command_parse(const struct command *c, int argc, char **argv, void *into, struct err *e);

// Prints "lightmeter NAME: MESSAGE" on stderr and gives `status` back.
int command_fail(const struct command *c, int status, const struct err *e);

// Prints "lightmeter NAME: TEXT" on stderr: what is to be known of work that was done.
void command_note(const struct command *c, const char *text);

// Prints to standard output; 0, or the failure status with a message when it cannot be written.
int command_print(const struct command *c, const char *text);

#endif
