// SPDX-License-Identifier: Apache-2.0
// `lightmeter export`: a trace in the format of another viewer.
#include "export/export.h"
#include "base/buf.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "model/load.h"

#include <string.h>

struct export_arguments {
    const char *to, *output;
};

static const char *const formats[] = {
#define ROW(name) #name,
#include "export/exporters/registry.def"
#undef ROW
    NULL,
};

static const struct option_spec options[] = {
    {.name = "to",
        .short_name = 't',
        .argument_name = "FORMAT",
        .help = "perfetto (open at ui.perfetto.dev) or chrome (chrome://tracing).",
        .kind = OPTION_CHOICE,
        .offset = offsetof(struct export_arguments, to),
        .choices = formats},
    {.name = "output",
        .short_name = 'o',
        .argument_name = "FILE",
        .help =
            "Write to FILE; - is standard output. Without it the name is that of the trace with "
            "the format's extension.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct export_arguments, output)},
    {0},
};

static void make_name(const char *trace, const char *extension, struct buf *out)
{
    size_t length = strlen(trace);
    if (length > 4 && strcmp(trace + length - 4, ".lmt") == 0)
        length -= 4;
    buf_add(out, trace, length);
    buf_puts(out, extension);
}

// What the trace lost before is missing in the other format too, where nothing would say so.
static void say_losses(const struct command *self, const char *trace, const struct model *m)
{
    struct buf text = {0};
    uint64_t dropped = 0;
    for (size_t i = 0; i < m->processes.count; i++)
        dropped += m->processes.at[i].dropped_records;
    for (size_t i = 0; i < m->threads.count; i++)
        dropped += m->threads.at[i].dropped_records;
    if (*m->damage)
        buf_printf(&text, "%s: %s The export has what could be read.", trace, m->damage);
    if (dropped)
        buf_printf(&text,
            "%s%llu records were dropped while %s was recorded; the export lacks them.",
            *m->damage ? " " : "", (unsigned long long)dropped, trace);
    if (text.length_bytes)
        command_note(self, buf_text(&text));
    buf_fini(&text);
}

static int write_out(
    const struct exporter *x, const struct model *m, const char *output, struct err *e)
{
    int result = -1;
    struct file_out *out = file_out_open(output, e);
    if (out && x->write_fn(m, out, e) == 0)
        result = file_out_commit(&out, e);
    file_out_abort(&out);
    return result;
}

// Writes the trace to `output`; its exit status.
static int export(
    const struct command *self, const struct exporter *x, const char *trace, const char *output)
{
    struct err e = {0};
    struct model *m = model_load(trace, &e);
    int status = 0;
    if (!m)
        return command_fail(self, CLI_USAGE, &e);
    if (write_out(x, m, output, &e) < 0)
        status = command_fail(self, CLI_FAILED, &e);
    else
        say_losses(self, trace, m);
    model_free(&m);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct export_arguments a = {0};
    struct err e = {0};
    struct buf name = {0}, line = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && !a.to)
        first = err_set(&e, "to which format? Say --to perfetto or --to chrome");
    if (first >= 0 && (first == argc || !*argv[first]))
        first = err_set(&e, "which trace? Give its file: lightmeter export --to %s FILE.lmt", a.to);
    if (first >= 0 && first + 1 < argc)
        first = err_set(&e, "'%s' is one word too many; export takes one trace", argv[first + 1]);
    if (first >= 0 && a.output && output_is_same(a.output, argv[first]))
        first = err_set(
            &e, "the export would replace the trace %s; name another file with -o", argv[first]);
    const struct exporter *x = first < 0 ? NULL : exporter_find(a.to, &e);
    if (!x)
        return command_fail(self, CLI_USAGE, &e);
    make_name(argv[first], x->file_extension, &name);
    int status = export(self, x, argv[first], a.output ? a.output : buf_text(&name));
    buf_printf(&line, "%s\n", buf_text(&name));
    if (!status && !a.output)
        status = command_print(self, buf_text(&line));
    buf_fini(&line);
    buf_fini(&name);
    return status;
}

const struct command command_export = {
    .name = "export",
    .operands = "FILE",
    .help = "Write a trace in the format of another viewer.",
    .details = "Writes every span, item, queue and counter of the trace FILE for another viewer. "
               "Without -o it prints the name of the file it wrote.",
    .options = options,
    .usage_status = CLI_USAGE,
    .run_fn = run,
};
