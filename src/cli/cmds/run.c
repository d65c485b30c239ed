// SPDX-License-Identifier: Apache-2.0
// `lightmeter run -- COMMAND`: measures a program and shows the report when it has ended. Standard
// output belongs to the program; what Lightmeter has to say goes to stderr, after it. The exit
// status is the program's; the signal that ended it ends Lightmeter too.
#include "collect/run.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/show.h"
#include "collect/launch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 40 // of the program in the name of a trace
#define NAME_TRIES 1000
#define MAX_BYTES_LEAST (64 << 10)

struct run_arguments {
    const char *output, *json, *format, *item_stage, *stage_map;
    struct option_list no_hooks;
    uint64_t max_bytes;
    uint64_t keep_last_ns;
    int opencv_trace;
    int cuda_activity;
    int no_scheduler;
    int is_quiet;
};

static const char *const hook_sets[] = {
#define ROW(name) #name,
#include "agent/bridges/registry.def"
#include "agent/hooks/registry.def"
#undef ROW
    "python",
    NULL,
};

static int take_no_hook(void *into, const char *name, struct err *e)
{
    struct run_arguments *a = into;
    struct buf all = {0};
    for (size_t i = 0; hook_sets[i]; i++) {
        if (strcmp(hook_sets[i], name) == 0) {
            *vec_push(&a->no_hooks) = name;
            buf_fini(&all);
            return 0;
        }
        buf_printf(&all, "%s%s", i ? ", " : "", hook_sets[i]);
    }
    const char *near = nearest_word(name, hook_sets);
    err_set(e, "--no-hook: there is no hook set '%s'%s%s%s; there are %s", name,
        near ? ". Did you mean '" : "", near ? near : "", near ? "'?" : "", buf_text(&all));
    buf_fini(&all);
    return -1;
}

static const struct option_spec options[] = {
    {.name = "output",
        .short_name = 'o',
        .argument_name = "FILE",
        .help =
            "Write the trace to FILE, in place of lightmeter-PROGRAM-TIME.lmt in this folder. A "
            "trace that is there is replaced, and Lightmeter says so.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct run_arguments, output)},
    {.name = "json",
        .argument_name = "FILE",
        .help = "Also write the report as JSON to FILE, whole or not at all.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct run_arguments, json)},
    {.name = "format",
        .short_name = 'f',
        .argument_name = "FORMAT",
        .help = "Of the report on stderr: terminal (the default), markdown or json.",
        .kind = OPTION_CHOICE,
        .offset = offsetof(struct run_arguments, format),
        .choices = show_formats},
    {.name = "item-stage",
        .argument_name = "STAGE",
        .help = "Count one item each time STAGE ends, in place of marks, inferences or decodes.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct run_arguments, item_stage)},
    {.name = "stage-map",
        .argument_name = "FILE",
        .help = "Name functions, libraries and ranges (NVTX, ITT) of the program as stages: a YAML "
                "file "
                "with 'functions:', 'libraries:' and 'ranges:', each PATTERN: STAGE.",
        .kind = OPTION_STRING,
        .offset = offsetof(struct run_arguments, stage_map)},
    {.name = "no-hook",
        .argument_name = "NAME",
        .help = "Leave out a hook set; may be given several times. lightmeter doctor lists them.",
        .kind = OPTION_CALL,
        .take_fn = take_no_hook},
    {.name = "max-bytes",
        .argument_name = "SIZE",
        .help =
            "Limit of the trace, at least 64K. When it is near, calls are kept as sums only; the "
            "report says from when.",
        .kind = OPTION_BYTES,
        .offset = offsetof(struct run_arguments, max_bytes),
        .least = MAX_BYTES_LEAST,
        .most = INT64_MAX},
    {.name = "keep-last",
        .argument_name = "TIME",
        .help =
            "Keep only the last TIME (60s, 5m, 1h) of the run in the trace, however long it runs. "
            "With --max-bytes, less when it does not fit.",
        .kind = OPTION_TIME,
        .offset = offsetof(struct run_arguments, keep_last_ns),
        .least = 1000000000,
        .most = INT64_MAX},
    {.name = "no-scheduler",
        .help = "Leave out the scheduler's events, which are followed where that is allowed.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct run_arguments, no_scheduler)},
    {.name = "cuda-activity",
        .help = "Ask CUPTI how long CUDA's kernels and copies took on the accelerator, by stage. "
                "The program is slower then. Left alone where another profiler has it.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct run_arguments, cuda_activity)},
    {.name = "opencv-trace",
        .help =
            "Have OpenCV trace its own functions too; the report sums them up. OpenCV is slower "
            "then, and may write a line on the program's stderr.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct run_arguments, opencv_trace)},
    {.name = "quiet",
        .short_name = 'q',
        .help = "Nothing on stderr but errors.",
        .kind = OPTION_FLAG,
        .offset = offsetof(struct run_arguments, is_quiet)},
    {0},
};

// lightmeter-PROGRAM-TIME.lmt, with a number when that is there.
static void make_name(const char *program, struct buf *out)
{
    char safe[NAME_BYTES + 1], stamp[32] = "";
    const char *slash = strrchr(program, '/');
    size_t n = 0;
    for (const char *c = slash && slash[1] ? slash + 1 : program; *c && n < NAME_BYTES; c++)
        safe[n++] = isalnum((unsigned char)*c) || strchr("._-+", *c) ? *c : '_';
    safe[n] = 0;
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    for (int i = 1; i < NAME_TRIES; i++) {
        buf_fini(out);
        buf_printf(out, "lightmeter-%s-%s", safe, stamp);
        if (i > 1)
            buf_printf(out, "-%d", i);
        buf_puts(out, ".lmt");
        if (access(buf_text(out), F_OK) != 0)
            return;
    }
}

static void print_error_stream(const struct buf *text)
{
    const char *at = buf_text(text);
    size_t left_bytes = text->length_bytes;
    while (left_bytes) {
        ssize_t n = write(STDERR_FILENO, at, left_bytes);
        if (n <= 0)
            return; // a closed stderr changes nothing
        at += n;
        left_bytes -= (size_t)n;
    }
}

// Lines of `text` on stderr, each with our name before it.
static void print_lines(const char *text)
{
    struct buf out = {0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        buf_printf(&out, "lightmeter run: %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
    print_error_stream(&out);
    buf_fini(&out);
}

static void write_json(const struct show *show, const struct run_arguments *a, const char *trace)
{
    struct err e = {0};
    struct buf text = {0};
    const struct report_format *format = report_format_find("json", &e);
    struct report_options o = show_options(a->json, STDOUT_FILENO);
    if (output_is_same(a->json, trace)) { // a link that led nowhere before the run
        err_set(&e, "--json %s: is the trace, so the report was not written there", a->json);
        format = NULL;
    }
    if (format)
        show_write(show, format, trace, &o, &text);
    if (!format || file_write(a->json, buf_text(&text), text.length_bytes, &e) < 0)
        print_lines(err_text(&e));
    buf_fini(&text);
}

static void write_report(const struct show *show, const struct run_arguments *a,
    const struct collect_result *r, int is_replaced)
{
    struct err e = {0};
    struct buf text = {0};
    const struct report_format *format = report_format_find(a->format, &e);
    struct report_options o = show_options(NULL, STDERR_FILENO);
    if (!format) {
        print_lines(err_text(&e));
        return;
    }
    show_write(show, format, buf_text(&r->trace), &o, &text);
    print_error_stream(&text);
    buf_fini(&text);
    if (strcmp(a->format, "json") == 0)
        return; // what reads it shall find nothing else
    const char *words[] = {"lightmeter", "report", buf_text(&r->trace), NULL};
    buf_printf(&text,
        "%sShow this again: ", is_replaced ? "An older trace of that name was replaced. " : "");
    text_add_command(&text, words);
    buf_putc(&text, '\n');
    buf_puts(&text, buf_text(&r->notes));
    print_error_stream(&text);
    buf_fini(&text);
}

// After the target ended: what was lost, then the report. Nothing here changes the exit status.
static void tell(const struct run_arguments *a, const struct collect_result *r, int is_replaced)
{
    struct err e = {0};
    print_lines(buf_text(&r->losses));
    if (!r->trace.length_bytes || (a->is_quiet && !a->json))
        return;
    struct show *show = show_open(buf_text(&r->trace), a->item_stage, &e);
    if (!show) {
        print_lines(err_text(&e));
        return;
    }
    if (a->json)
        write_json(show, a, buf_text(&r->trace));
    if (!a->is_quiet)
        write_report(show, a, r, is_replaced);
    show_close(&show);
}

static int end_like(int wait_status)
{
    if (WIFSIGNALED(wait_status)) {
        launch_die_like(WTERMSIG(wait_status));
        return 128 + WTERMSIG(wait_status);
    }
    return WEXITSTATUS(wait_status);
}

// What would be found out only after the program had run.
static int check_outputs(const struct run_arguments *a, const char *trace, struct err *e)
{
    if (output_try_trace(trace, e) < 0 || (a->json && output_try("--json", a->json, e) < 0))
        return -1;
    if (a->json && output_is_same(a->json, trace))
        return err_set(
            e, "the trace and the JSON report would both be %s; name another with --json", trace);
    if (a->stage_map && output_is_same(a->stage_map, trace))
        return err_set(e, "the trace would replace the stage map %s; name another with -o", trace);
    if (a->json && a->stage_map && output_is_same(a->stage_map, a->json))
        return err_set(
            e, "the JSON report would replace the stage map %s; name another with --json", a->json);
    return 0;
}

static int measure(const struct command *self, const struct run_arguments *a, char **command)
{
    struct err e = {0};
    struct collect_result r = {0};
    struct stagemap map = {0};
    struct buf name = {0};
    int status = CLI_RUN_FAILED;
    if (a->stage_map && stagemap_read(a->stage_map, &map, &e) < 0)
        return command_fail(self, CLI_RUN_FAILED, &e);
    if (!a->output)
        make_name(command[0], &name);
    const struct collect_options o = {
        .argv = command,
        .output = a->output ? a->output : buf_text(&name),
        .item_stage = a->item_stage,
        .stage_map_path = a->stage_map,
        .map = &map,
        .no_hooks = a->no_hooks.at,
        .no_hook_count = a->no_hooks.count,
        .max_bytes = a->max_bytes,
        .keep_last_ns = a->keep_last_ns,
        .opencv_trace = a->opencv_trace,
        .cuda_activity = a->cuda_activity,
        .no_scheduler = a->no_scheduler,
    };
    struct stat before;
    int is_replaced = stat(o.output, &before) == 0;
    if (check_outputs(a, o.output, &e) < 0) {
        status = command_fail(self, CLI_RUN_FAILED, &e);
    } else if (collect_run(&o, &r, &e) < 0) {
        status = command_fail(self, r.launch_status, &e);
    } else {
        tell(a, &r, is_replaced);
        status = end_like(r.wait_status);
    }
    collect_result_fini(&r);
    stagemap_fini(&map);
    buf_fini(&name);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct run_arguments a = {.format = "terminal"};
    struct err e = {0};
    int first = command_parse(self, argc, argv, &a, &e);
    if (first >= 0 && (first == argc || !*argv[first]))
        first =
            err_set(&e, "which program? Give its command: lightmeter run -- PROGRAM [ARGUMENT...]");
    if (first >= 0 && a.item_stage && !*a.item_stage)
        first = err_set(&e, SHOW_NO_ITEM_STAGE);
    int status =
        first < 0 ? command_fail(self, self->usage_status, &e) : measure(self, &a, argv + first);
    option_list_fini(&a.no_hooks);
    return status;
}

const struct command command_run = {
    .name = "run",
    .operands = "[--] COMMAND [ARGUMENT...]",
    .help = "Measure a program and show where its time goes.",
    .details =
        "Runs COMMAND, which needs no change, with its own standard input, output, error stream "
        "and "
        "signals; when it has ended, shows the report on the error stream and leaves a trace.\n"
        "The exit status is that of COMMAND; a signal that ended it ends Lightmeter too. 125: "
        "Lightmeter itself failed, and COMMAND was not started; 126: COMMAND cannot be executed; "
        "127: "
        "it was not found.",
    .options = options,
    .stops_at_operand = 1,
    .usage_status = CLI_RUN_FAILED,
    .run_fn = run,
};
