// SPDX-License-Identifier: Apache-2.0
// `lightmeter doctor`: which collectors work on this machine, and what to do about the rest.
#include "cli/doctor.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"

#include <string.h>

#define COLUMNS 80
#define NAME_COLUMNS 22

struct doctor_arguments {
    int is_json;
};

static const struct option_spec options[] = {
    {.name = "json",
        .help = "Print JSON.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct doctor_arguments, is_json)},
    {0},
};

static const char *const states[DOCTOR_STATE_COUNT] = {
    [DOCTOR_WORKS] = "works", [DOCTOR_LIMITED] = "limited", [DOCTOR_MISSING] = "missing"};

static void write_text(const struct doctor *d, struct buf *out)
{
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct doctor_row *row = &d->rows.at[i];
        struct buf prefix = {0};
        text_add_padded(&prefix, row->name, NAME_COLUMNS, TEXT_LEFT);
        text_add_padded(&prefix, states[row->state], 9, TEXT_LEFT);
        text_add_wrapped(out, buf_text(&prefix), buf_text(&row->what), COLUMNS);
        buf_fini(&prefix);
        text_add_padded(&prefix, "", NAME_COLUMNS + 9, TEXT_LEFT);
        buf_puts(&prefix, "-> ");
        if (row->advice.length_bytes)
            text_add_wrapped(out, buf_text(&prefix), buf_text(&row->advice), COLUMNS);
        buf_fini(&prefix);
    }
    struct buf hooks = {0};
    for (size_t i = 0; doctor_hook_sets[i]; i++)
        buf_printf(&hooks, "%s%s", i ? ", " : "", doctor_hook_sets[i]);
    buf_putc(out, '\n');
    text_add_wrapped(out, "Hook sets (--no-hook leaves one out): ", buf_text(&hooks), COLUMNS);
    buf_fini(&hooks);
}

static void write_json(const struct doctor *d, struct buf *out)
{
    struct json *all = json_object(), *rows = json_array(), *hooks = json_array();
    json_put_string(all, "schema", "lightmeter-doctor/1");
    json_put_string(all, "version", LIGHTMETER_VERSION);
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct doctor_row *row = &d->rows.at[i];
        struct json *one = json_object();
        json_put_string(one, "name", row->name);
        json_put_string(one, "state", states[row->state]);
        json_put_string(one, "what", buf_text(&row->what));
        json_put_string(one, "advice", buf_text(&row->advice));
        json_append(rows, one);
    }
    for (size_t i = 0; doctor_hook_sets[i]; i++)
        json_append(hooks, json_string(doctor_hook_sets[i]));
    json_put(all, "checks", rows);
    json_put(all, "hook_sets", hooks);
    json_print(all, 2, out);
    json_free(&all);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct doctor_arguments a = {0};
    struct err e = {0};
    struct doctor d = {0};
    struct buf text = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && first < argc)
        first = err_set(&e, "'%s' is one word too many; doctor takes none", argv[first]);
    if (first < 0)
        return command_fail(self, CLI_USAGE, &e);
    doctor_check_agent(&d);
    int is_seeing = d.rows.at[0].state == DOCTOR_WORKS;
    doctor_check_loaders(&d);
    doctor_check_system(&d);
    if (a.is_json)
        write_json(&d, &text);
    else
        write_text(&d, &text);
    int status = command_print(self, buf_text(&text));
    buf_fini(&text);
    doctor_fini(&d);
    return status ? status : is_seeing ? 0 : CLI_FAILED;
}

const struct command command_doctor = {
    .name = "doctor",
    .operands = "",
    .help = "Show what can be measured on this machine, and what to do about the rest.",
    .details = "Tries each source of data the way a run uses it, the preloaded library by a run of "
               "/bin/true. The exit status is 0 when a run can see inside programs, else 1.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
