// SPDX-License-Identifier: Apache-2.0
// Verdict class cpu-single-thread: one thread (or the few threads of one stage) is always on the
// CPU, and other cores the program may use are idle. Second signal: an account that is not ours
// agrees (the kernel's, or the launcher's), or the other threads wait for it. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#include <string.h>

#define FULL_RATIO 0.9
#define IDLE_CORES 0.3
#define IDLE_RATIO 0.15
#define WAITS_RATIO 0.5
#define AGREES_RATIO 0.85

// Stages whose library works on several cores are not what keeps the others idle.
static const char *serial_stage(
    const struct facts *f, const struct facts_thread *t, double *share_ratio)
{
    const struct facts_stage *best = NULL;
    *share_ratio = look_ratio(f, t->unattributed.wall_ns);
    for (size_t i = 0; i < f->stages.count; i++) {
        const struct facts_stage *s = &f->stages.at[i];
        if (strcmp(f->model->stages.at[s->stage].text, "wait") == 0 ||
            s->library_cpu_ns * 2 > s->split.cpu_ns)
            continue;
        if (!best || s->split.wall_ns > best->split.wall_ns)
            best = s;
    }
    if (f->item_threads > 1) {
        *share_ratio = look_ratio(f, t->stage_ns);
        return look_stage(f, t);
    }
    if (!best || best->split.wall_ns < t->unattributed.wall_ns)
        return "";
    *share_ratio = look_ratio(f, best->split.wall_ns);
    return f->model->stages.at[best->stage].text;
}

struct full {
    uint32_t threads; // always on the CPU (or waiting for one)
    uint32_t waiting; // other item-carrying threads that mostly wait for other threads
    int is_one_stage;
    const struct facts_thread *first;
};

static struct full find_full(const struct facts *f)
{
    struct full x = {.is_one_stage = 1};
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (!t->carries_items)
            continue;
        if (look_wanted_ratio(f, t) < FULL_RATIO) {
            x.waiting += look_ratio(f, t->idle_ns) >= WAITS_RATIO;
            continue;
        }
        x.is_one_stage &= !x.first || strcmp(look_stage(f, x.first), look_stage(f, t)) == 0;
        if (!x.first || t->steady.cpu_ns > x.first->steady.cpu_ns)
            x.first = t;
        x.threads++;
    }
    return x;
}

static int cores_are_idle(const struct facts *f)
{
    const struct facts_machine *m = &f->machine;
    if (m->cores_allowed <= 0 || m->cpu_used_cores < 0)
        return 1; // not known: the evidence says so, and the confidence stays low
    const double least =
        m->cores_allowed * IDLE_RATIO > IDLE_CORES ? m->cores_allowed * IDLE_RATIO : IDLE_CORES;
    return m->cores_allowed - m->cpu_used_cores >= least;
}

static void judge_second(
    const struct facts *f, const struct full *x, struct arena *a, struct finding *out)
{
    const struct facts_machine *m = &f->machine;
    const struct model_thread *mt = &f->model->threads.at[x->first->thread];
    const double life_ns = (double)(mt->end_ns - mt->start_ns);
    if (m->cores_allowed <= 0 || m->cpu_used_cores < 0) {
        look_add_cores(f, a, out, 0);
        return;
    }
    if (m->cpu_is_sampled)
        out->second_signal = m->cpu_used_cores >= AGREES_RATIO * (double)x->threads ? 1 : 0;
    look_add_cores(f, a, out, out->second_signal ? 2 : 1);
    if (x->waiting) {
        out->second_signal = 1;
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_MEASURED, .value = x->waiting, .unit = "count", .signal = 2},
            "%u other threads of the pipeline wait for others for most of the time", x->waiting);
    }
    if (out->second_signal || mt->cpu_ns == UINT64_MAX || life_ns <= 0)
        return;
    const double kernel_ratio = (double)x->first->kernel_cpu_ns / life_ns;
    out->second_signal = kernel_ratio >= AGREES_RATIO;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = kernel_ratio,
            .unit = "ratio",
            .signal = out->second_signal ? 2 : 0},
        "by the kernel's count the thread was on the CPU for %d %% of its life",
        look_percent(kernel_ratio));
}

static const char *write_title(
    const struct facts *f, const struct full *x, struct arena *a, const char *stage, double share)
{
    const double allowed = f->machine.cores_allowed;
    const char *rest = allowed > 2.5
                           ? arena_printf(a, "while the other %.0f wait", allowed - x->threads)
                       : allowed > 1.5 ? "while the other waits"
                                       : "";
    if (x->threads > 1)
        return arena_printf(a, "%s keeps its %u threads always on the CPU, %s",
            look_subject(a, stage), x->threads, *rest ? rest : "and no other works");
    if (f->item_threads > 1)
        return arena_printf(a, "%s keeps its one thread busy %d %% of the time%s%s",
            look_subject(a, stage), look_percent(share), *rest ? ", " : "", rest);
    return arena_printf(a, "%s is %d %% of the time, on one core%s%s", look_subject(a, stage),
        look_percent(share), *rest ? ", " : "", rest);
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct full x = find_full(f);
    if (!x.threads || !x.is_one_stage || !cores_are_idle(f))
        return 0;
    if (f->machine.cores_allowed > 0 && f->machine.cores_allowed < (double)x.threads + IDLE_CORES)
        return 0;
    double share;
    const char *stage = serial_stage(f, x.first, &share);
    const double cpu = look_cpu_ratio(f, x.first), wanted = look_wanted_ratio(f, x.first);
    out->first_signal = 1;
    out->weight_ratio = wanted;
    out->stage = stage;
    out->title = write_title(f, &x, a, stage, share);
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = cpu, .unit = "ratio", .signal = 1},
        "%s on the CPU for %d %% of the steady time",
        x.threads > 1 ? "each of these threads is" : "one thread is", look_percent(cpu));
    if (wanted - cpu > 0.05)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED, .value = wanted - cpu, .unit = "ratio"},
            "it waits another %d %% for a core that other threads or programs have",
            look_percent(wanted - cpu));
    judge_second(f, &x, a, out);
    look_how(
        out, "Do several items at once: one worker for each allowed core, each with whole items.");
    look_how(out, "Or let the stages overlap: a thread each, with a short queue between them.");
    look_how(
        out, "Or make this stage itself cheaper (scaled decoding, fewer pixels, fused steps).");
    look_wont(out, "A faster disk or accelerator: neither is waited for.");
    look_wont(out, "Making any other stage faster by more than its own share.");
    return 1;
}

const struct detector detector_cpu_single_thread = {
    .name = "cpu_single_thread",
    .help = "one thread, or the few of one stage, is always on the CPU while other cores are idle",
    .order = 80,
    .detect_fn = detect,
};
