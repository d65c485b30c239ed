// SPDX-License-Identifier: Apache-2.0
// The command `lightmeter`: finds the subcommand, runs it, exits with its status. The only file
// that exits. What a subcommand does is in cmds/NAME.c. Threads: the process has one.
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

// The names that other programs give to these two.
static const char *alias_of(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

// `lightmeter CMD --help` is `lightmeter help CMD`.
static int help_for(const char *name)
{
    char help[] = "help", word[64] = "";
    strncpy(word, name, sizeof word - 1);
    char *argv[] = {help, word, NULL};
    const struct command *c = command_find("help", NULL);
    return c->run_fn(c, 2, argv);
}

int main(int argc, char **argv)
{
    static char help[] = "help";
    static char *without_words[] = {help, help, NULL};
    struct err e = {0};
    if (argc < 2) {
        argc = 2;
        argv = without_words;
    }
    const struct command *c = command_find(alias_of(argv[1]), &e);
    if (!c)
        exit(command_fail(NULL, CLI_USAGE, &e));
    if (argc > 2 && is_help(argv[2]))
        exit(help_for(c->name));
    exit(c->run_fn(c, argc - 1, argv + 1));
}
