// SPDX-License-Identifier: Apache-2.0
// The report for programs: schema lightmeter-report/1, additive changes only; every field is
// explained in docs/report/json.md. Raw numbers with their unit in the name; null where nothing is
// known. Called through report_write. Threads: no state.
#include "report/document.h"
#include "report/json_lines.h"
#include "report/report.h"

#define SCHEMA "lightmeter-report/1"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void put_seconds(struct json *object, const char *key, uint64_t ns)
{
    if (ns == UINT64_MAX)
        json_put(object, key, json_null());
    else
        json_put_real(object, key, seconds(ns));
}

static void put_count(struct json *object, const char *key, uint64_t count)
{
    if (count > INT64_MAX)
        json_put(object, key, json_null());
    else
        json_put_int(object, key, (int64_t)count);
}

// Negative: not known.
static void put_ratio(struct json *object, const char *key, double ratio)
{
    json_put(object, key, ratio < 0 ? json_null() : json_real(ratio));
}

static void put_ms(struct json *object, const char *key, uint64_t ns, int is_valid)
{
    json_put(object, key, is_valid ? json_real((double)ns / 1e6) : json_null());
}

// A copy of a value of the META block; null when there is none.
static struct json *copy_of(const struct json *value)
{
    struct buf text = {0};
    if (!value)
        return json_null();
    json_print(value, 0, &text);
    struct json *copy = json_parse(buf_text(&text), text.length_bytes, "META", NULL);
    buf_fini(&text);
    return copy ? copy : json_null();
}

static struct json *texts(const char *const *at, size_t count)
{
    struct json *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(array, json_string(at[i]));
    return array;
}

static struct json *write_host(const struct document *d)
{
    static const char *const keys[] = {
        "cpu", "cores_allowed", "memory_bytes", "kernel", "container"};
    const struct json *host = json_get(d->model->meta, "host");
    struct json *object = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_put(object, keys[i], copy_of(json_get(host, keys[i])));
    const struct json *gpus = json_get(host, "gpus");
    json_put(object, "gpus", json_is_array(gpus) ? copy_of(gpus) : json_array());
    return object;
}

static struct json *write_coverage(const struct document *d)
{
    struct json *array = json_array();
    for (size_t i = 0; i < d->model->coverage.count; i++) {
        const struct model_coverage *c = &d->model->coverage.at[i];
        struct json *row = json_object();
        json_put_string(row, "library", c->library);
        json_put_string(row, "hooks", c->hooks);
        json_put_string(row, "status", c->status);
        json_put_string(row, "why", c->why);
        const int is_known = c->process < d->model->processes.count;
        json_put(
            row, "pid", is_known ? json_int(d->model->processes.at[c->process].pid) : json_null());
        json_append(array, row);
    }
    return array;
}

static struct json *write_collection(const struct document *d)
{
    struct json *object = json_object();
    json_put(object, "methods", texts(d->methods.at, d->methods.count));
    put_count(object, "spans", d->model->span_count);
    put_count(object, "dropped_spans", d->facts->dropped_records);
    json_put_real(object, "overhead_ratio", d->facts->overhead_ratio);
    json_put_bool(object, "split_is_measured", d->facts->split_is_measured);
    json_put(object, "launcher", copy_of(json_get(d->model->summary, "launcher")));
    json_put(object, "coverage", write_coverage(d));
    struct json *missing = json_array();
    for (size_t i = 0; i < d->gaps.count; i++) {
        struct json *row = json_object();
        json_put_string(row, "what", d->gaps.at[i].what);
        json_put_string(row, "why", d->gaps.at[i].why);
        json_append(missing, row);
    }
    json_put(object, "not_measurable_here", missing);
    return object;
}

static struct json *write_windows(const struct document *d)
{
    const struct facts *f = d->facts;
    const int64_t before_agent_ns = document_before_agent_ns(d);
    struct json *object = json_object();
    json_put_real(object, "startup_s", (double)f->startup_ns / 1e9);
    json_put_real(object, "steady_s", (double)f->steady_ns / 1e9);
    json_put_real(object, "teardown_s", (double)f->teardown_ns / 1e9);
    json_put(object, "before_agent_s",
        before_agent_ns < 0 ? json_null() : json_real((double)before_agent_ns / 1e9));
    return object;
}

static struct json *write_items(const struct facts *f)
{
    static const char *const words[] = {"nothing", "item-stage", "marks", "inference", "decodes"};
    struct json *object = json_object();
    put_count(object, "count", f->items);
    json_put_string(object, "counted_by", words[f->counted_by]);
    json_put_string(object, "stage", f->item_stage ? f->item_stage : "");
    put_count(object, "folded_calls", f->item_folded_calls);
    json_put_bool(object, "folded_are_items", f->folded_are_items);
    return object;
}

static struct json *write_latency(const struct facts *f)
{
    const struct facts_latency *l = &f->item_latency;
    struct json *object = json_object();
    put_ms(object, "p50", l->p50_ns, l->n > 0);
    put_ms(object, "p90", l->p90_ns, l->p90_is_valid);
    put_ms(object, "p95", l->p95_ns, l->p95_is_valid);
    put_ms(object, "p99", l->p99_ns, l->p99_is_valid);
    put_ms(object, "max", l->max_ns, l->n > 0);
    put_count(object, "n", l->n);
    json_put_string(object, "of", !l->n ? "nothing" : f->latency_is_gap ? "gaps" : "items");
    return object;
}

static void put_split(struct json *object, const struct facts_split *s)
{
    put_seconds(object, "cpu_s", s->cpu_ns);
    put_seconds(object, "runq_s", s->runq_ns);
    put_seconds(object, "io_s", s->cause_ns[TRACE_CAUSE_IO]);
    put_seconds(object, "net_s", s->cause_ns[TRACE_CAUSE_NET]);
    put_seconds(object, "lock_s", s->cause_ns[TRACE_CAUSE_LOCK]);
    put_seconds(object, "gil_s", s->cause_ns[TRACE_CAUSE_GIL]);
    put_seconds(object, "accel_s", s->cause_ns[TRACE_CAUSE_ACCEL]);
    put_seconds(object, "sleep_s", s->cause_ns[TRACE_CAUSE_SLEEP]);
    put_seconds(object, "other_s", s->cause_ns[TRACE_CAUSE_OTHER]);
}

static struct json *write_stage(const struct document *d, const struct facts_stage *s)
{
    const struct facts_latency *l = &s->latency;
    struct json *object = json_object();
    json_put_string(object, "name", d->model->stages.at[s->stage].text);
    put_count(object, "calls", s->calls);
    put_count(object, "items", s->items);
    put_seconds(object, "wall_s", s->split.wall_ns);
    json_put_real(object, "share", s->share_ratio);
    put_split(object, &s->split);
    json_put_int(object, "threads", s->threads);
    json_put_bool(object, "is_of_images", s->is_of_images);
    put_count(object, "minor_faults", s->minor_faults);
    put_count(object, "major_faults", s->major_faults);
    put_seconds(object, "accel_work_s", s->accel_work_ns);
    json_put_real(object, "occupancy", s->occupancy_ratio);
    put_ms(object, "p50_ms", l->p50_ns, l->n > 0);
    put_ms(object, "p95_ms", l->p95_ns, l->p95_is_valid);
    put_ms(object, "p99_ms", l->p99_ns, l->p99_is_valid);
    put_ms(object, "max_ms", l->max_ns > s->folded.max_ns ? l->max_ns : s->folded.max_ns,
        l->n > 0 || s->folded.max_ns > 0);
    put_count(object, "n", l->n);
    put_count(object, "folded_calls", s->folded.calls);
    put_ms(object, "folded_mean_ms", s->folded.calls ? s->folded.own_ns / s->folded.calls : 0,
        s->folded.calls > 0);
    put_ms(object, "folded_max_ms", s->folded.max_ns, s->folded.max_ns > 0);
    put_count(object, "bytes", s->bytes);
    put_count(object, "pixels", s->pixels);
    put_seconds(object, "library_cpu_s", s->library_cpu_ns);
    put_seconds(object, "team_s", s->team.wall_ns);
    put_seconds(object, "team_cpu_s", s->team.cpu_ns);
    return object;
}

static struct json *write_stages(const struct document *d)
{
    struct json *array = json_array();
    for (size_t i = 0; i < d->facts->stages.count; i++)
        json_append(array, write_stage(d, &d->facts->stages.at[i]));
    return array;
}

static struct json *write_unattributed(const struct facts *f)
{
    struct json *object = json_object();
    put_seconds(object, "wall_s", f->unattributed.wall_ns);
    json_put_real(object, "share", f->unattributed_ratio);
    put_split(object, &f->unattributed);
    json_put(object, "hot", json_lines(f, 1));
    return object;
}

static struct json *write_reconciliation(const struct facts *f)
{
    struct json *object = json_object();
    put_seconds(object, "sum_s", f->sum_ns);
    put_seconds(object, "wall_s", f->wall_ns);
    json_put_real(object, "residual_ratio", f->residual_ratio);
    put_ratio(object, "cpu_residual_ratio", f->cpu_residual_ratio);
    put_ratio(object, "scheduler_residual_ratio", f->scheduler_residual_ratio);
    return object;
}

// What the scheduler's events say, or null.
static struct json *write_scheduler(const struct facts_thread *f)
{
    if (!f->has_scheduler)
        return json_null();
    struct json *object = json_object();
    put_seconds(object, "sleep_s", f->scheduler_ns[FACTS_SCHEDULER_SLEEP]);
    put_seconds(object, "disk_s", f->scheduler_ns[FACTS_SCHEDULER_DISK]);
    put_seconds(object, "runnable_s", f->scheduler_ns[FACTS_SCHEDULER_RUNNABLE]);
    put_count(object, "wakings", f->wakings);
    json_put(object, "woken_most_by", f->waker_count ? json_int(f->waker_tid) : json_null());
    put_count(object, "woken_by_it", f->waker_count);
    return object;
}

static struct json *write_threads(const struct document *d)
{
    struct json *array = json_array();
    for (size_t i = 0; i < d->facts->threads.count; i++) {
        const struct facts_thread *f = &d->facts->threads.at[i];
        const struct model_thread *t = &d->model->threads.at[f->thread];
        struct json *row = json_object(), *steady = json_object();
        json_put_int(row, "pid", d->model->processes.at[t->process].pid);
        json_put_int(row, "tid", t->tid);
        json_put_string(row, "name", t->label);
        json_put_string(row, "creator", t->creator);
        json_put_bool(row, "carries_items", f->carries_items);
        json_put_bool(row, "is_pool", f->is_pool);
        json_put(row, "main_stage",
            f->stage == MODEL_NONE ? json_null() : json_string(d->model->stages.at[f->stage].text));
        put_seconds(row, "wall_s", f->whole.wall_ns);
        put_split(row, &f->whole);
        put_seconds(row, "stages_s", f->stages_ns);
        put_seconds(row, "unattributed_s", f->unattributed_ns);
        json_put_real(row, "residual_s", (double)f->residual_ns / 1e9);
        put_seconds(row, "kernel_cpu_s", f->kernel_cpu_ns);
        put_seconds(steady, "wall_s", f->steady.wall_ns);
        put_split(steady, &f->steady);
        json_put(row, "steady", steady);
        json_put(row, "scheduler", write_scheduler(f));
        put_count(row, "dropped_spans", t->dropped_records);
        const struct model_span *open = document_open_call(t);
        json_put(row, "open_call",
            open ? json_string(d->model->names.at[open->name].text) : json_null());
        json_put(row, "open_call_s", open ? json_real((double)open->dur_ns / 1e9) : json_null());
        json_append(array, row);
    }
    return array;
}

static struct json *write_processes(const struct document *d)
{
    static const char *const methods[] = {"none", "rseq", "cpu-clock", "perf-page"};
    struct json *array = json_array();
    for (size_t i = 0; i < d->model->processes.count; i++) {
        const struct model_process *p = &d->model->processes.at[i];
        struct json *row = json_object();
        json_put_int(row, "pid", p->pid);
        json_put_int(row, "parent_pid", p->parent_pid);
        json_put_string(row, "command", p->command);
        json_put_real(row, "start_s", (double)p->start_ns / 1e9);
        json_put_real(row, "end_s", (double)p->end_ns / 1e9);
        json_put_bool(row, "has_agent", p->has_agent);
        json_put_string(row, "split_method",
            p->split_method <= TRACE_SPLIT_PERF_PAGE ? methods[p->split_method] : "none");
        put_count(row, "dropped_spans", p->dropped_records);
        put_count(row, "dropped_threads", p->dropped_threads);
        json_append(array, row);
    }
    return array;
}

static struct json *write_queues(const struct document *d)
{
    struct json *array = json_array();
    for (size_t i = 0; i < d->facts->queues.count; i++) {
        const struct facts_queue *q = &d->facts->queues.at[i];
        struct json *row = json_object();
        json_put_string(row, "name", d->model->names.at[q->name].text);
        put_count(row, "puts", q->puts);
        put_count(row, "gets", q->gets);
        json_put_real(row, "mean_depth", q->mean_depth);
        json_put_int(row, "max_depth", q->max_depth);
        json_put_real(row, "occupancy", q->occupancy_ratio);
        json_append(array, row);
    }
    return array;
}

static struct json *write_functions(const struct document *d)
{
    struct json *array = json_array();
    for (size_t i = 0; i < d->facts->names.count; i++) {
        const struct facts_name *c = &d->facts->names.at[i];
        const struct model_name *name = &d->model->names.at[c->name];
        struct json *row = json_object();
        json_put_string(row, "name", name->text);
        json_put_string(row, "stage", d->model->stages.at[name->stage].text);
        put_count(row, "calls", c->calls);
        put_seconds(row, "self_s", c->split.wall_ns);
        put_split(row, &c->split);
        put_count(row, "bytes", c->bytes);
        json_append(array, row);
    }
    return array;
}

static struct json *write_machine(const struct facts *f)
{
    const struct facts_machine *m = &f->machine;
    struct json *object = json_object();
    put_ratio(object, "cores_allowed", m->cores_allowed > 0 ? m->cores_allowed : -1);
    put_ratio(object, "quota_cores", m->quota_cores > 0 ? m->quota_cores : -1);
    put_ratio(object, "cpu_used_cores", m->cpu_used_cores);
    json_put_int(object, "pool_threads", m->pool_threads);
    json_put_real(object, "pool_cores", m->pool_cores);
    put_ratio(object, "other_busy_cores", m->other_busy_cores);
    put_ratio(object, "throttled_ratio", m->throttled_ratio);
    put_seconds(object, "throttled_s", m->throttled_ratio < 0 ? UINT64_MAX : m->throttled_ns);
    put_ratio(object, "runq_ratio", m->runq_ratio);
    put_ratio(object, "steal_ratio", m->steal_ratio);
    put_ratio(object, "psi_cpu_ratio", m->psi_cpu_ratio);
    put_ratio(object, "psi_io_ratio", m->psi_io_ratio);
    put_ratio(object, "psi_memory_ratio", m->psi_memory_ratio);
    put_count(object, "storage_read_bytes", m->read_bytes);
    put_count(object, "read_call_bytes", m->rchar_bytes);
    put_count(object, "minor_faults", m->minor_faults);
    put_count(object, "major_faults", m->major_faults);
    json_put_int(object, "files_looked_at", (int64_t)f->files.looked_at);
    json_put_int(object, "files_in_memory", (int64_t)f->files.in_memory);
    put_seconds(object, "accel_work_s", f->accel.work_ns);
    put_ratio(object, "accel_busy_ratio", f->accel.busy_ratio);
    return object;
}

static struct json *write_evidence(const struct evidence *at, size_t count)
{
    static const char *const kinds[] = {"measured", "derived", "estimated"};
    struct json *array = json_array();
    for (size_t i = 0; i < count; i++) {
        struct json *row = json_object();
        json_put_string(row, "text", at[i].text);
        json_put_string(row, "kind", kinds[at[i].kind]);
        json_put_real(row, "value", at[i].value);
        json_put_string(row, "unit", at[i].unit);
        json_put_int(row, "signal", at[i].signal);
        json_append(array, row);
    }
    return array;
}

static struct json *write_verdict(const struct document *d)
{
    const struct verdict *v = d->verdict;
    static const char *const words[] = {"inconclusive", "medium", "high"};
    struct json *object = json_object();
    json_put_string(object, "class", v->class_name);
    json_put_string(object, "stage", v->stage);
    json_put_string(object, "confidence", words[v->confidence]);
    json_put_string(object, "headline", v->headline);
    json_put(object, "evidence", write_evidence(v->evidence.at, v->evidence.count));
    json_put(object, "will_not_help", texts(v->will_not_help.at, v->will_not_help.count));
    json_put(object, "how", texts(d->steps.at, d->steps.count));
    return object;
}

// Lever, priority, effort and prediction are null until a lever has been matched and predicted.
static struct json *write_findings(const struct verdict *v)
{
    static const char *const signals[] = {"contradicted", "not-measured", "seen"};
    struct json *array = json_array();
    for (size_t i = 0; i < v->findings.count; i++) {
        const struct finding *f = &v->findings.at[i];
        struct json *row = json_object();
        json_put_int(row, "id", (int64_t)i + 1);
        json_put_string(row, "title", f->title);
        json_put_string(row, "stage", f->stage);
        json_put_string(row, "class", f->class_name);
        json_put(row, "lever", json_null());
        json_put(row, "priority", json_null());
        json_put(row, "effort", json_null());
        json_put_real(row, "weight", f->weight_ratio);
        json_put_string(row, "first_signal", signals[f->first_signal + 1]);
        json_put_string(row, "second_signal", signals[f->second_signal + 1]);
        json_put(row, "evidence", write_evidence(f->evidence.at, f->evidence.count));
        json_put(row, "predicted", json_null());
        json_put(row, "how", texts(f->how.at, f->how.count));
        json_put(row, "will_not_help", texts(f->will_not_help.at, f->will_not_help.count));
        json_append(array, row);
    }
    return array;
}

// How the numbers were got that are not measured directly; everything else is measured.
static struct json *write_kinds(const struct facts *f)
{
    static const char *const derived[] = {"windows", "throughput_per_s", "stages.share",
        "stages.occupancy", "stages.p50_ms", "stages.p95_ms", "stages.p99_ms",
        "stages.folded_mean_ms", "unattributed", "reconciliation", "queues.mean_depth",
        "queues.occupancy", "functions", "machine"};
    struct json *object = json_object();
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        json_put_string(object, derived[i], "derived");
    if (f->latency_is_gap)
        json_put_string(object, "latency_ms", "derived");
    json_put_string(object, "stages.library_cpu_s", "estimated");
    json_put_string(object, "lines", "estimated");
    json_put_string(object, "unattributed.hot", "estimated");
    json_put_string(object, "collection.overhead_ratio", "estimated");
    return object;
}

static void put_run(struct json *root, const struct document *d)
{
    const struct json *command = json_get(d->model->meta, "command");
    struct json *product = json_object(), *exit = json_object();
    json_put_string(product, "version", LIGHTMETER_VERSION);
    json_put(root, "lightmeter", product);
    json_put(root, "command", json_is_array(command) ? copy_of(command) : json_array());
    json_put(root, "trace", *d->source ? json_string(d->source) : json_null());
    json_put_real(root, "run_s", (double)d->run_ns / 1e9);
    json_put(exit, "status", d->exit_status >= 0 ? json_int(d->exit_status) : json_null());
    json_put(exit, "signal", d->exit_signal > 0 ? json_int(d->exit_signal) : json_null());
    json_put(root, "exit", exit);
    json_put(root, "damage", *d->model->damage ? json_string(d->model->damage) : json_null());
    json_put(root, "notes", texts(d->model->notes.at, d->model->notes.count));
    json_put(root, "host", write_host(d));
    json_put(root, "collection", write_collection(d));
}

static void write_report(const struct document *d, const struct report_options *o, struct buf *out)
{
    (void)o;
    const struct facts *f = d->facts;
    struct json *root = json_object();
    json_put_string(root, "schema", SCHEMA);
    put_run(root, d);
    json_put(root, "windows", write_windows(d));
    json_put(root, "items", write_items(f));
    json_put(root, "throughput_per_s",
        f->throughput_per_s > 0 ? json_real(f->throughput_per_s) : json_null());
    json_put(root, "latency_ms", write_latency(f));
    json_put(root, "stages", write_stages(d));
    json_put(root, "unattributed", write_unattributed(f));
    json_put(root, "reconciliation", write_reconciliation(f));
    json_put(root, "verdict", write_verdict(d));
    json_put(root, "findings", write_findings(d->verdict));
    json_put(root, "functions", write_functions(d));
    json_put(root, "lines", json_lines(f, 0));
    json_put(root, "threads", write_threads(d));
    json_put(root, "processes", write_processes(d));
    json_put(root, "queues", write_queues(d));
    json_put(root, "machine", write_machine(f));
    json_put(root, "usage", copy_of(json_get(d->model->summary, "usage")));
    json_put(root, "kinds", write_kinds(f));
    json_print(root, 2, out);
    json_free(&root);
}

const struct report_format format_json = {
    .name = "json",
    .help = "for programs: schema lightmeter-report/1",
    .write_fn = write_report,
};
