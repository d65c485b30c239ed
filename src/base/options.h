// SPDX-License-Identifier: Apache-2.0
// Command-line options of a subcommand, from a constant table: parsing with messages that help, and
// the help text. Used by every file in src/cli/cmds. Does not print and does not exit.
// Threads: no shared state.
//
//   static const struct option_spec specs[] = {
//       {.name = "output", .short_name = 'o', .argument_name = "FILE", .help = "Write to FILE.",
//           .kind = OPTION_STRING, .offset = offsetof(struct run_options, output)},
//       {.name = "quiet", .short_name = 'q', .help = "Say nothing.",
//           .kind = OPTION_FLAG, .offset = offsetof(struct run_options, is_quiet)},
//       {0}};
#ifndef LIGHTMETER_BASE_OPTIONS_H
#define LIGHTMETER_BASE_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   // int, set to 1; takes no argument
    OPTION_STRING, // const char *, pointing into argv
    OPTION_LIST,   // struct option_list, one more element each time it is given
    OPTION_CHOICE, // const char *, the element of .choices that equals the argument
    OPTION_INT,    // int64_t within .least and .most
    OPTION_REAL,   // double within .least and .most
    OPTION_BYTES,  // uint64_t; "512M", "2GiB" (base/number.h), within .least and .most
    OPTION_TIME,   // uint64_t, nanoseconds; "60s", "1.5m" (base/number.h), within .least and .most
    OPTION_CALL,   // .take_fn is called
    OPTION_KIND_COUNT
};

// The arguments of a repeatable option; the strings lie in argv. Free with option_list_fini.
struct option_list {
    const char **at;
    size_t count, capacity;
};

struct option_spec {
    const char *name;          // without dashes; NULL ends a table
    char short_name;           // 0: none
    const char *argument_name; // "FILE"; NULL exactly for flags and calls without argument
    const char *help;          // sentences for a person
    enum option_kind kind;
    size_t offset;              // of the field in the struct that is filled
    const char *const *choices; // OPTION_CHOICE: ended by NULL
    // Bounds of numbers, both included; both 0: none. Of OPTION_BYTES in bytes, of OPTION_TIME in
    // ns.
    int64_t least, most;
    // OPTION_CALL: gets the struct that is filled and the argument (NULL without argument_name).
    // 0, or -1 with a message.
    int (*take_fn)(void *into, const char *argument, struct err *e);
};

struct options_command {
    const char *name; // "run"; messages point to `lightmeter help NAME`
    const struct option_spec *specs;
    int stops_at_operand; // 1: options end at the first operand (the command of `run`)
};

// Parses argv[1..argc-1] and fills `into` (which holds the defaults). Takes --name=value, --name
// value, -o value, -ovalue, -qo value, and `--`, after which all are operands. Reorders argv so
// that the operands come last, in their order; gives the index of the first (argc: none), or -1
// with a message; then `into` may be filled in part. A later option replaces an earlier one.
int options_parse(
    const struct options_command *command, int argc, char **argv, void *into, struct err *e);

void option_list_fini(struct option_list *list);

// Appends one line or more for each option, wrapped to `columns`.
void options_help(const struct option_spec *specs, int columns, struct buf *out);

#endif
