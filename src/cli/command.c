// SPDX-License-Identifier: Apache-2.0
// The list of subcommands, and what all of them do the same way: parse, fail, print.
// Called by main.c and the subcommands. Threads: none.
#include "cli/command.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/nearest.h"

#include <string.h>
#include <unistd.h>

#define ROW(name) extern const struct command command_##name;
#include "cli/cmds/registry.def"
#undef ROW

static const struct command *const commands[] = {
#define ROW(name) &command_##name,
#include "cli/cmds/registry.def"
#undef ROW
    NULL,
};

const struct command *const *command_all(void)
{
    return commands;
}

const struct command *command_find(const char *name, struct err *e)
{
    const char *names[sizeof commands / sizeof *commands] = {0};
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        names[i] = commands[i]->name;
    }
    const char *near = nearest_word(name, names);
    if (near)
        err_set(e, "there is no command '%s'. Did you mean '%s'? See lightmeter help.", name, near);
    else
        err_set(e,
            "there is no command '%s'. To measure a program: lightmeter run -- PROGRAM. See "
            "lightmeter "
            "help.",
            name);
    return NULL;
}

int command_parse(const struct command *c, int argc, char **argv, void *into, struct err *e)
{
    const struct options_command options = {
        .name = c->name, .specs = c->options, .stops_at_operand = c->stops_at_operand};
    return options_parse(&options, argc, argv, into, e);
}

// One write, so that lines of several processes do not mix. A closed stderr changes nothing.
static void say(const char *text, size_t length_bytes)
{
    while (length_bytes) {
        ssize_t n = write(STDERR_FILENO, text, length_bytes);
        if (n <= 0)
            return;
        text += n;
        length_bytes -= (size_t)n;
    }
}

void command_note(const struct command *c, const char *text)
{
    struct buf line = {0};
    buf_printf(&line, "lightmeter%s%s: %s\n", c ? " " : "", c ? c->name : "", text);
    say(buf_text(&line), line.length_bytes);
    buf_fini(&line);
}

int command_fail(const struct command *c, int status, const struct err *e)
{
    command_note(c, err_text(e));
    return status;
}

int command_print(const struct command *c, const char *text)
{
    struct err e = {0};
    if (file_write("-", text, strlen(text), &e) < 0)
        return command_fail(c, CLI_FAILED, &e);
    return 0;
}
