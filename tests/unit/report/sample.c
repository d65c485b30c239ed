// SPDX-License-Identifier: Apache-2.0
// Runs made by hand. Numbers are chosen so that columns, units and roundings of many sizes appear,
// and so that stages and unattributed time add up to the whole. Threads: none.
#include "sample.h"

#include "base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u

static struct sample *sample_new(const char *meta, const char *summary)
{
    struct sample *s = heap_alloc(1, sizeof *s);
    s->model = model_new();
    s->model->damage = "";
    if (meta)
        s->model->meta = json_parse(meta, strlen(meta), "META", NULL);
    if (summary)
        s->model->summary = json_parse(summary, strlen(summary), "SUMMARY", NULL);
    s->facts.model = s->model;
    s->facts.item_stage = "";
    s->facts.setup_name = "";
    s->facts.machine = (struct facts_machine){.cores_allowed = 2,
        .cpu_used_cores = -1,
        .throttled_ratio = -1,
        .runq_ratio = -1,
        .steal_ratio = -1,
        .psi_cpu_ratio = -1,
        .psi_io_ratio = -1,
        .psi_memory_ratio = -1,
        .read_bytes = UINT64_MAX,
        .rchar_bytes = UINT64_MAX,
        .minor_faults = UINT64_MAX,
        .major_faults = UINT64_MAX,
        .other_busy_cores = -1,
        .runnable_threads = -1};
    s->verdict = (struct verdict){.class_name = "inconclusive", .stage = "", .headline = ""};
    s->facts.split_is_measured = 1;
    s->facts.cpu_residual_ratio = -1;
    s->facts.accel.busy_ratio = -1;
    return s;
}

void sample_free(struct sample **s)
{
    if (!*s)
        return;
    for (size_t i = 0; i < (*s)->verdict.findings.count; i++) {
        struct finding *f = &(*s)->verdict.findings.at[i];
        vec_fini(&f->evidence);
        vec_fini(&f->will_not_help);
        vec_fini(&f->how);
    }
    vec_fini(&(*s)->verdict.findings);
    vec_fini(&(*s)->verdict.evidence);
    vec_fini(&(*s)->verdict.will_not_help);
    vec_fini(&(*s)->verdict.how);
    vec_fini(&(*s)->facts.stages);
    vec_fini(&(*s)->facts.names);
    vec_fini(&(*s)->facts.threads);
    vec_fini(&(*s)->facts.queues);
    vec_fini(&(*s)->facts.lines);
    model_free(&(*s)->model);
    free(*s);
    *s = NULL;
}

static struct facts_split split_of(
    uint64_t cpu_ms, uint64_t runq_ms, enum trace_cause cause, uint64_t wait_ms)
{
    struct facts_split split = {.wall_ns = (cpu_ms + runq_ms + wait_ms) * MS,
        .cpu_ns = cpu_ms * MS,
        .runq_ns = runq_ms * MS};
    split.cause_ns[cause] = wait_ms * MS;
    return split;
}

// A stage of which the share of `whole_ms` follows.
static struct facts_stage *add_stage(
    struct sample *s, const char *name, uint64_t calls, struct facts_split split, uint64_t whole_ms)
{
    struct facts_stage *stage = vec_push(&s->facts.stages);
    stage->stage = model_stage_id(s->model, name);
    stage->calls = stage->items = calls;
    stage->split = split;
    stage->share_ratio = (double)split.wall_ns / ((double)whole_ms * MS);
    stage->threads = 1;
    stage->occupancy_ratio = stage->share_ratio;
    const uint64_t mean_ns = calls ? split.wall_ns / calls : 0;
    stage->latency = (struct facts_latency){.p50_ns = mean_ns,
        .p90_ns = mean_ns * 5 / 4,
        .p95_ns = mean_ns * 3 / 2,
        .p99_ns = mean_ns * 2,
        .max_ns = mean_ns * 5 / 2,
        .n = calls,
        .p90_is_valid = calls >= 44,
        .p95_is_valid = calls >= 90,
        .p99_is_valid = calls >= 459};
    return stage;
}

static void add_name(struct sample *s, const char *name, const char *stage, uint64_t calls,
    struct facts_split split, uint64_t bytes)
{
    struct facts_name *n = vec_push(&s->facts.names);
    *n = (struct facts_name){.name = model_name_id(s->model, name, stage, TRACE_CAUSE_OTHER),
        .calls = calls,
        .split = split,
        .bytes = bytes};
}

static struct facts_thread *add_thread(struct sample *s, uint32_t tid, const char *label,
    const char *creator, struct facts_split steady)
{
    const uint32_t index = model_thread_add(s->model, 0, tid);
    s->model->threads.at[index].label = label;
    s->model->threads.at[index].creator = creator;
    struct facts_thread *t = vec_push(&s->facts.threads);
    t->thread = index;
    t->steady = t->whole = steady;
    t->stage = MODEL_NONE;
    t->kernel_cpu_ns = steady.cpu_ns;
    return t;
}

static void add_process(
    struct sample *s, const char *command, int has_agent, enum trace_split_method method)
{
    struct model_process *p = vec_push(&s->model->processes);
    *p = (struct model_process){.pid = 4000,
        .parent_pid = 3999,
        .command = command,
        .end_ns = s->model->end_ns,
        .has_agent = has_agent,
        .split_method = method};
}

static void add_coverage(struct sample *s, const char *library, const char *status, const char *why)
{
    struct model_coverage *c = vec_push(&s->model->coverage);
    const char *set = strcmp(status, "absent") == 0 ? "unused" : "set";
    *c = (struct model_coverage){library, set, status, why, 0};
}

static void add_evidence(
    struct sample *s, const char *text, enum evidence_kind kind, double value, int signal)
{
    struct evidence *e = vec_push(&s->verdict.evidence);
    *e = (struct evidence){text, kind, value, "ratio", signal};
}

static struct finding *add_finding(
    struct sample *s, const char *class_name, const char *stage, const char *title, int second)
{
    struct finding *f = vec_push(&s->verdict.findings);
    *f = (struct finding){.class_name = class_name,
        .stage = stage,
        .title = title,
        .first_signal = 1,
        .second_signal = second,
        .weight_ratio = 0.5};
    return f;
}

static void set_windows(
    struct sample *s, int64_t startup_ms, int64_t steady_ms, int64_t teardown_ms)
{
    s->facts.startup_ns = startup_ms * MS;
    s->facts.steady_ns = steady_ms * MS;
    s->facts.teardown_ns = teardown_ms * MS;
    s->model->end_ns = (startup_ms + steady_ms + teardown_ms) * MS;
}

static void set_pipeline_machine(struct sample *s)
{
    struct facts_machine *m = &s->facts.machine;
    *m = (struct facts_machine){.cores_allowed = 2,
        .cpu_used_cores = 1.23,
        .runq_ratio = 0.0031,
        .steal_ratio = 0.0001,
        .psi_cpu_ratio = 0.012,
        .psi_io_ratio = 0,
        .psi_memory_ratio = 0,
        .read_bytes = 45 * MS,
        .rchar_bytes = 61200000,
        .minor_faults = 120345,
        .major_faults = 0,
        .other_busy_cores = 0.11,
        .throttled_ratio = -1,
        .cpu_is_sampled = 1,
        .pool_threads = 1,
        .pool_cores = 0.24,
        .runnable_threads = 1.4};
    s->facts.accel = (struct facts_accel){.work_ns = 512 * (uint64_t)MS,
        .is_by_stage = 1,
        .busy_ratio = 0.14,
        .used_bytes = 1 << 30,
        .has_bytes = (uint64_t)8 << 30};
}

static void set_pipeline_verdict(struct sample *s)
{
    struct verdict *v = &s->verdict;
    v->class_name = "cpu-single-thread";
    v->stage = "decode";
    v->confidence = CONFIDENCE_HIGH;
    v->headline = "Decoding is 71 % of the time, on one core, while the other waits.";
    add_evidence(s,
        "one thread is on the CPU for 97 % of the steady time, and decode is most of it",
        EVIDENCE_MEASURED, 0.97, 1);
    add_evidence(s,
        "the other allowed core is idle for 77 % of the steady time, and every item passes this "
        "thread: "
        "1 / the sum of the stages is the 17.5 items/s that were seen",
        EVIDENCE_DERIVED, 0.77, 2);
    *vec_push(&v->will_not_help) = "a faster accelerator: inference is 20 % of the time";
    *vec_push(&v->will_not_help) = "faster storage: reading is 3 % of the time";
    *vec_push(&v->how) = "decode in two threads: at most 2.0x, until both cores are busy";
    *vec_push(&v->how) = "decode at 1/2 scale where the photograph is shrunk later anyway";
    add_finding(s, "cpu-single-thread", "decode", v->headline, 1);
    add_finding(s, "io-latency", "load", "Reading waits for storage for a part of the time.", 0);
}

static const char pipeline_meta[] =
    "{\"command\": [\"build/examples/ocr\", \"--model\", \"det.onnx\", \"my photos\"],"
    "\"host\": {\"cpu\": \"A Processor\", \"cores_allowed\": 2, \"memory_bytes\": 8589934592,"
    "\"kernel\": \"6.1.0\", \"container\": null, \"gpus\": []},"
    "\"collection\": {\"methods\": [\"calls: a library preloaded into the program (measured)\"]}}";
static const char pipeline_summary[] =
    "{\"exit\": {\"status\": 0, \"signal\": 0}, \"usage\": {\"max_rss_bytes\": 412000000},"
    "\"launcher\": {\"cpu_ratio\": 0.012}}";

static void set_pipeline_threads(struct sample *s)
{
    struct facts_thread *t = add_thread(s, 4000, "ocr", "", split_of(3323, 20, TRACE_CAUSE_IO, 85));
    t->carries_items = 1;
    t->stage = model_stage_id(s->model, "decode");
    t->whole.wall_ns = 3850 * (uint64_t)MS;
    t->stages_ns = 3620 * (uint64_t)MS;
    t->unattributed_ns = 230 * (uint64_t)MS;
    t = add_thread(s, 4001, "ocr", "libonnxruntime.so.1", split_of(821, 5, TRACE_CAUSE_LOCK, 2602));
    t->is_pool = 1;
    t->unattributed_ns = 3428 * (uint64_t)MS;
}

static void add_lines(struct sample *s)
{
    static const struct model_place places[] = {{"read_photo", "/home/me/ocr.py", 12},
        {"boxes", "/home/me/ocr.py", 57}, {"loads", "/usr/lib/python3.11/json/__init__.py", 346}};
    const uint32_t decode = model_stage_id(s->model, "decode");
    const struct facts_line lines[] = {{&places[0], decode, "", 233, 2400e6, 0.7},
        {&places[1], MODEL_NONE, "postprocess", 14, 144e6, 0.042},
        {&places[2], MODEL_NONE, "", 5, 51e6, 0.015}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        *vec_push(&s->facts.lines) = lines[i];
    s->facts.line_samples = 333;
}

struct sample *sample_pipeline(void)
{
    struct sample *s = sample_new(pipeline_meta, pipeline_summary);
    struct facts *f = &s->facts;
    set_windows(s, 410, 3428, 12);
    add_process(s, "ocr", 1, TRACE_SPLIT_RSEQ);
    struct facts_stage *decode =
        add_stage(s, "decode", 60, split_of(2430, 4, TRACE_CAUSE_IO, 0), 3428);
    decode->pixels = 740 * (uint64_t)MS;
    decode->bytes = 61 * (uint64_t)MS;
    decode->calls += 29751;
    decode->folded =
        (struct facts_folded){.calls = 29751, .own_ns = 2304 * (uint64_t)MS, .max_ns = 1890000};
    struct facts_stage *infer =
        add_stage(s, "infer", 60, split_of(670, 16, TRACE_CAUSE_LOCK, 0), 3428);
    infer->library_cpu_ns = 800 * MS;
    infer->accel_work_ns = 512 * (uint64_t)MS;
    add_stage(s, "load", 120, split_of(22, 0, TRACE_CAUSE_IO, 81), 3428)->bytes = 61 * (uint64_t)MS;
    add_stage(s, "postprocess", 60, split_of(5, 0, TRACE_CAUSE_OTHER, 0), 3428);
    add_stage(s, "wait", 12, split_of(0, 0, TRACE_CAUSE_LOCK, 2602), 3428)->share_ratio =
        0; // the pool
    f->unattributed = split_of(196, 0, TRACE_CAUSE_OTHER, 4);
    f->unattributed_ratio = 200.0 / 3428;
    add_name(s, "jpeg_read_scanlines", "decode", 29751, split_of(2300, 4, TRACE_CAUSE_IO, 0), 0);
    add_name(s, "OrtRun", "infer", 60, split_of(670, 16, TRACE_CAUSE_OTHER, 0), 0);
    add_name(s, "jpeg_start_decompress", "decode", 60, split_of(130, 0, TRACE_CAUSE_IO, 0), 0);
    add_name(s, "fread", "load", 120, split_of(22, 0, TRACE_CAUSE_IO, 81), 61 * (uint64_t)MS);
    add_lines(s);
    set_pipeline_threads(s);
    set_pipeline_machine(s);
    set_pipeline_verdict(s);
    add_coverage(s, "libc.so.6", "covered", "");
    add_coverage(s, "libjpeg.so.62", "covered", "");
    add_coverage(s, "libonnxruntime.so.1", "covered", "");
    add_coverage(s, "libpng16.so.16", "uninstrumented", "no hooks for libpng in this version");
    add_coverage(s, "libturbojpeg", "absent", "");
    f->items = 60;
    f->counted_by = FACTS_BY_INFERENCE;
    f->item_stage = "infer";
    f->throughput_per_s = 17.503;
    f->latency_is_gap = 1;
    f->item_latency = (struct facts_latency){.p50_ns = 41200000,
        .p90_ns = 90300000,
        .p95_ns = 101000000,
        .max_ns = 301200000,
        .n = 59,
        .p90_is_valid = 1};
    f->item_threads = 1;
    f->sum_ns = f->wall_ns = (3850 + 3428) * (uint64_t)MS;
    f->overhead_ratio = 0.0041;
    s->model->span_count = 30051;
    return s;
}

static void set_nasty_threads(struct sample *s)
{
    struct facts_thread *t = add_thread(s, 5000,
        "\xE7\xB4\xAB\xE7\xA6\x81\xE5\x9F\x8E\033]0;owned\a|worker`thread`with a long name", "",
        split_of(400, 100, TRACE_CAUSE_LOCK, 500));
    t->carries_items = 1;
    t->stages_ns = 900 * (uint64_t)MS;
    t->unattributed_ns = 100 * (uint64_t)MS;
    t = add_thread(s, 5001, "sender", "", split_of(1, 0, TRACE_CAUSE_NET, 999));
    t->carries_items = 1;
    t->stages_ns = 1000 * (uint64_t)MS;
    for (uint32_t i = 0; i < 10; i++)
        add_thread(s, 5002 + i, "", "libwith-a-name-that-goes-on-and-on.so.12",
            split_of(i, 0, 0, 1000 - i))
            ->is_pool = 1;
}

static void set_nasty_verdict(struct sample *s)
{
    struct verdict *v = &s->verdict;
    v->class_name = "lock";
    v->stage = "a stage | with `ticks` and <b>markup</b>";
    v->confidence = CONFIDENCE_MEDIUM;
    v->headline =
        "Threads wait for each other: 50 % of the time is spent at one lock, \033[31mred\033[0m, "
        "and averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword.";
    add_evidence(s, "50 % blocked on one lock\r\nover two lines", EVIDENCE_ESTIMATED, 0.5, 1);
    add_finding(s, "lock", v->stage, v->headline, 0);
    for (int i = 0; i < 6; i++)
        add_finding(s, "balanced", "", "@someone should look at #1 | and _this_ *too*", -1);
}

static void add_nasty_stages(struct sample *s)
{
    add_stage(s, "a stage | with `ticks` and <b>markup</b>", 1234567,
        split_of(400, 100, TRACE_CAUSE_LOCK, 500), 2000)
        ->bytes = 5;
    struct facts_stage *wide = add_stage(s,
        "\xE5\x89\x8D\xE5\x87\xA6\xE7\x90\x86\xE3\x83\x91\xE3\x82\xA4\xE3\x83\x97\xE3\x83\xA9\xE3"
        "\x82\xA4"
        "\xE3\x83\xB3\xE3\x81\xAE\xE6\xAE\xB5",
        600, split_of(1, 0, TRACE_CAUSE_NET, 700), 2000);
    wide->threads = 12;
    add_stage(s, "e\xCC\x81tape\xE2\x80\xAE txet", 90, split_of(0, 10, TRACE_CAUSE_GIL, 100), 2000);
    add_stage(s, "\xFF\xFE broken \xC3", 1, split_of(0, 0, TRACE_CAUSE_ACCEL, 60), 2000);
    add_stage(s, "line\nbreak\ttab", 2, split_of(0, 0, TRACE_CAUSE_SLEEP, 28), 2000);
    add_stage(s, "", 0, split_of(0, 0, TRACE_CAUSE_OTHER, 1), 2000);
    s->facts.unattributed = split_of(90, 0, TRACE_CAUSE_OTHER, 10);
    s->facts.unattributed_ratio = 0.05;
}

struct sample *sample_nasty(void)
{
    struct sample *s =
        sample_new("{\"command\": [\"sh\", \"-c\", \"echo 'a b' | cat\\n\\u001b[2J\", \"\"]}",
            "{\"exit\": {\"status\": 3, \"signal\": 0}}");
    struct facts *f = &s->facts;
    set_windows(s, 0, 1000, 0);
    add_process(s, "sh\033[2J", 1, TRACE_SPLIT_CPU_CLOCK);
    add_process(s, "child|`x`", 0, TRACE_SPLIT_NONE);
    add_nasty_stages(s);
    add_name(s, "std::vector<std::pair<int, float>>::emplace_back(int&&, float&&) [with lots more]",
        "line\nbreak\ttab", 5, split_of(0, 0, TRACE_CAUSE_SLEEP, 28), 7);
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "function_%d", i);
        add_name(s, name, "decode", 10, split_of(1, 0, TRACE_CAUSE_IO, 0), 0);
    }
    set_nasty_threads(s);
    set_nasty_verdict(s);
    for (int i = 0; i < 2; i++) {
        struct facts_queue *q = vec_push(&f->queues);
        *q = (struct facts_queue){
            .name = model_name_id(s->model,
                i ? "q2" : "queue | of \xE7\xB4\xAB a rather long name that is cut", "queue",
                TRACE_CAUSE_OTHER),
            .puts = 1000,
            .gets = 998,
            .mean_depth = i ? 0.012 : 7.9,
            .max_depth = 8,
            .occupancy_ratio = i ? 0.011 : 1};
    }
    add_coverage(s, "lib|pipe`tick`.so", "uninstrumented", "");
    *vec_push(&s->model->notes) = "a note with | and `ticks` and \033[5mblink";
    f->items = 1000000;
    f->counted_by = FACTS_BY_MARKS;
    f->throughput_per_s = 1234567.8;
    f->item_latency = (struct facts_latency){.p50_ns = 900,
        .p90_ns = 1900,
        .p95_ns = 9900,
        .p99_ns = 99000,
        .max_ns = 3723000000000,
        .n = 1000000,
        .p90_is_valid = 1,
        .p95_is_valid = 1,
        .p99_is_valid = 1};
    f->item_threads = 2;
    f->sum_ns = 1999 * (uint64_t)MS;
    f->wall_ns = 2000 * (uint64_t)MS;
    f->residual_ratio = 0.0005;
    s->model->span_count = 1235260;
    return s;
}

struct sample *sample_empty(void)
{
    struct sample *s =
        sample_new("{\"command\": [\"./static\"], \"target\": {\"is_preloadable\": false,"
                   "\"why\": \"./static is statically linked\"}}",
            "{\"exit\": {\"status\": 0, \"signal\": 0}}");
    set_windows(s, 0, 0, 0);
    s->model->end_ns = 3 * (int64_t)MS;
    add_process(s, "static", 0, TRACE_SPLIT_NONE);
    s->facts.split_is_measured = 0;
    s->verdict.headline =
        "Nothing can be said about what limits this run: its inside was not seen.";
    *vec_push(&s->verdict.how) =
        "link the program dynamically, or mark its stages with lightmeter/mark.h";
    return s;
}

struct sample *sample_damaged(void)
{
    struct sample *s =
        sample_new("{\"command\": [\"crash\"]}", "{\"exit\": {\"status\": 139, \"signal\": 11}}");
    struct facts *f = &s->facts;
    set_windows(s, 0, 50, 0);
    add_process(s, "crash", 1, TRACE_SPLIT_NONE);
    s->model->processes.at[0].agent_ns = 12 * MS;
    f->split_is_measured = 0;
    add_stage(s, "decode", 3, split_of(30, 0, TRACE_CAUSE_OTHER, 0), 50);
    f->unattributed = split_of(20, 0, TRACE_CAUSE_OTHER, 0);
    f->unattributed_ratio = 0.4;
    struct facts_thread *t =
        add_thread(s, 4000, "crash", "", split_of(50, 0, TRACE_CAUSE_OTHER, 0));
    t->carries_items = 1;
    t->stages_ns = 30 * (uint64_t)MS;
    t->unattributed_ns = 20 * (uint64_t)MS;
    t->kernel_cpu_ns = UINT64_MAX;
    f->item_threads = 1;
    f->dropped_records = 17;
    f->sum_ns = f->wall_ns = 50 * (uint64_t)MS;
    s->model->damage = "Block 3 at byte 4096 does not match its checksum.";
    s->model->span_count = 3;
    s->verdict.headline = "Nothing is certain: the signals are too weak.";
    return s;
}
