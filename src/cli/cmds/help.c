// SPDX-License-Identifier: Apache-2.0
// `lightmeter help [COMMAND]`: what Lightmeter is, what its commands are, what one of them takes.
#include "base/buf.h"
#include "base/text.h"
#include "cli/command.h"

#include <string.h>

#define COLUMNS 80

static const struct option_spec options[] = {{0}};

static void write_overview(struct buf *out)
{
    text_add_wrapped(out, "",
        "Lightmeter measures where the time of a vision pipeline goes (loading, decoding, "
        "preprocessing, inference, postprocessing, saving), says what holds it back, and shows the "
        "evidence. The program needs no change.",
        COLUMNS);
    buf_puts(out, "\n  lightmeter run -- python3 detect.py photos/\n"
                  "  lightmeter run -o run.lmt -- ./pipeline --threads 4\n"
                  "  lightmeter report run.lmt\n\nCommands:\n");
    for (const struct command *const *c = command_all(); *c; c++) {
        struct buf prefix = {0};
        buf_puts(&prefix, "  ");
        text_add_padded(&prefix, (*c)->name, 10, TEXT_LEFT);
        text_add_wrapped(out, buf_text(&prefix), (*c)->help, COLUMNS);
        buf_fini(&prefix);
    }
    buf_puts(out, "\nMore on one: lightmeter help COMMAND. What works on this machine: lightmeter "
                  "doctor.\n");
}

static void write_command(const struct command *c, struct buf *out)
{
    buf_printf(out, "lightmeter %s%s%s%s\n\n", c->name, c->options->name ? " [OPTIONS]" : "",
        *c->operands ? " " : "", c->operands);
    text_add_wrapped(out, "", c->details, COLUMNS);
    if (c->options->name) {
        buf_puts(out, "\nOptions:\n");
        options_help(c->options, COLUMNS, out);
    }
    buf_printf(out, "\nSee also: man lightmeter-%s\n", c->name);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct err e = {0};
    struct buf text = {0};
    const struct command *about = NULL;
    int first = command_parse(self, argc, argv, NULL, &e);
    if (first >= 0 && first < argc) {
        about = command_find(argv[first], &e);
        if (!about)
            first = -1;
        else if (first + 1 < argc)
            first =
                err_set(&e, "'%s' is one word too many; help takes one command", argv[first + 1]);
    }
    if (first < 0)
        return command_fail(self, CLI_USAGE, &e);
    if (about)
        write_command(about, &text);
    else
        write_overview(&text);
    int status = command_print(self, buf_text(&text));
    buf_fini(&text);
    return status;
}

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .help = "Explain Lightmeter, or one of its commands.",
    .details =
        "Without a word: what Lightmeter is and its commands. With one: what that command does "
        "and takes.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
