// SPDX-License-Identifier: Apache-2.0
// `lightmeter export`: a trace in the format of another viewer.
#include "export/export.h"
#include "base/buf.h"
#include "base/file.h"
#include "cli/command.h"
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

static int write_out(const struct exporter *x, const char *trace, const char *output, struct err *e)
{
    int result = -1;
    struct model *model = model_load(trace, e);
    struct file_out *out = model ? file_out_open(output, e) : NULL;
    if (out && x->write_fn(model, out, e) == 0)
        result = file_out_commit(&out, e);
    file_out_abort(&out);
    model_free(&model);
    return result;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct export_arguments a = {0};
    struct err e = {0};
    struct buf name = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && !a.to)
        first = err_set(&e, "to which format? Say --to perfetto or --to chrome");
    if (first >= 0 && first == argc)
        first = err_set(&e, "which trace? Give its file: lightmeter export --to %s FILE.lmt", a.to);
    if (first >= 0 && first + 1 < argc)
        first = err_set(&e, "'%s' is one word too many; export takes one trace", argv[first + 1]);
    const struct exporter *x = first < 0 ? NULL : exporter_find(a.to, &e);
    if (!x)
        return command_fail(self, CLI_USAGE, &e);
    if (!a.output)
        make_name(argv[first], x->file_extension, &name);
    const char *output = a.output ? a.output : buf_text(&name);
    int failed = write_out(x, argv[first], output, &e) < 0;
    if (!failed && !a.output) {
        struct buf line = {0};
        buf_printf(&line, "%s\n", output);
        failed = command_print(self, buf_text(&line));
        buf_fini(&line);
    } else if (failed) {
        failed = command_fail(self, CLI_FAILED, &e);
    }
    buf_fini(&name);
    return failed;
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
