// SPDX-License-Identifier: Apache-2.0
// Verdict class cpu-single-thread: one thread (or the few threads of one stage) is always on the
// CPU, and other cores the program may use are idle. Second signal: the machine's own account of
// its idle cores, or the other threads wait for it. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#include <string.h>

#define FULL_RATIO 0.9
#define IDLE_CORES 0.3
#define IDLE_RATIO 0.15
#define WAITS_RATIO 0.5
#define SHARES_RATIO 0.2

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
    uint32_t sharing; // others that do the same stage, and are not full
    int is_one_stage;
    const struct facts_thread *first;
};

static void count_others(const struct facts *f, struct full *x)
{
    for (size_t i = 0; i < f->threads.count && x->first; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (!t->carries_items || look_wanted_ratio(f, t) >= FULL_RATIO)
            continue;
        if (look_ratio(f, t->idle_ns) >= WAITS_RATIO)
            x->waiting++;
        else if (look_wanted_ratio(f, t) >= SHARES_RATIO &&
                 strcmp(look_stage(f, x->first), look_stage(f, t)) == 0)
            x->sharing++;
    }
}

static struct full find_full(const struct facts *f)
{
    struct full x = {.is_one_stage = 1};
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (!t->carries_items || look_wanted_ratio(f, t) < FULL_RATIO)
            continue;
        x.is_one_stage &= !x.first || strcmp(look_stage(f, x.first), look_stage(f, t)) == 0;
        if (!x.first || t->steady.cpu_ns > x.first->steady.cpu_ns)
            x.first = t;
        x.threads++;
    }
    count_others(f, &x);
    return x;
}

// Cores that the program may use and nobody did: neither it nor, as far as that is known, others.
static double idle_cores(const struct facts *f)
{
    const struct facts_machine *m = &f->machine;
    const double others = m->other_busy_cores > 0 ? m->other_busy_cores : 0;
    return m->cores_allowed - m->cpu_used_cores - others;
}

static int cores_are_idle(const struct facts *f)
{
    const struct facts_machine *m = &f->machine;
    if (m->cores_allowed <= 0 || m->cpu_used_cores < 0)
        return 1; // not known: the evidence says so, and the confidence stays low
    const double least =
        m->cores_allowed * IDLE_RATIO > IDLE_CORES ? m->cores_allowed * IDLE_RATIO : IDLE_CORES;
    return idle_cores(f) >= least;
}

// That the thread is busy does not show that nothing else could be: the machine's own account of
// idle cores does, and so do threads that wait for it.
static void judge_second(
    const struct facts *f, const struct full *x, struct arena *a, struct finding *out)
{
    const struct facts_machine *m = &f->machine;
    look_add_cores(f, a, out, m->cores_allowed > 0 && m->cpu_used_cores >= 0);
    if (x->waiting) {
        out->second_signal = 1;
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_MEASURED, .value = x->waiting, .unit = "count", .signal = 2},
            "%u other threads of the pipeline wait for others for most of the time", x->waiting);
    }
    if (m->cores_allowed <= 0 || !m->cpu_is_sampled || m->other_busy_cores < 0)
        return;
    out->second_signal = 1;
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = idle_cores(f), .unit = "cores", .signal = 2},
        "by the machine's count %.2f of these cores were idle (other programs used %.2f)",
        idle_cores(f), m->other_busy_cores);
}

// What the cores do that the threads are not on: "" when there is none, or it is not known.
static const char *rest_text(const struct facts *f, const struct full *x, struct arena *a)
{
    const double others = f->machine.cores_allowed - x->threads;
    if (others < 0.5 || f->machine.cpu_used_cores < 0)
        return "";
    const double idle_ratio = idle_cores(f) / others;
    const char *name =
        others > 1.5 ? arena_printf(a, "while the other %.0f", others) : "while the other";
    if (idle_ratio >= 0.85)
        return arena_printf(a, others > 1.5 ? "%s wait" : "%s waits", name);
    return arena_printf(
        a, others > 1.5 ? "%s idle %d %%" : "%s idles %d %%", name, look_percent(idle_ratio));
}

static const char *write_title(
    const struct facts *f, const struct full *x, struct arena *a, const char *stage, double share)
{
    const char *rest = rest_text(f, x, a);
    if (x->threads > 1)
        return arena_printf(a, "%s keeps its %u threads always on the CPU, %s",
            look_subject(a, f, stage), x->threads, *rest ? rest : "and no other works");
    if (f->item_threads > 1)
        return arena_printf(a, "%s keeps its one thread busy %d %% of the time%s%s",
            look_subject(a, f, stage), look_percent(share), *rest ? ", " : "", rest);
    return arena_printf(a, "%s is %d %% of the time, on one core%s%s", look_subject(a, f, stage),
        look_percent(share), *rest ? ", " : "", rest);
}

static void advise(const struct facts *f, struct arena *a, const char *stage, struct finding *out)
{
    look_how(
        out, "Do several items at once: one worker for each allowed core, each with whole items.");
    look_how(out, "Or let the stages overlap: a thread each, with a short queue between them.");
    if (*stage)
        look_how(
            out, "Or make this stage itself cheaper (scaled decoding, fewer pixels, fused steps).");
    else
        look_how(out, look_hot_advice(f, a));
    look_wont(out, "A faster disk or accelerator: neither is waited for.");
    look_wont(out, "Tuning a small stage: it can give back no more than its share of the time.");
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct full x = find_full(f);
    if (!x.threads || !x.is_one_stage || x.sharing || !cores_are_idle(f))
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
    if (!*stage && look_hot(f))
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_ESTIMATED, .value = look_hot(f)->share_ratio, .unit = "ratio"},
            "%s", look_hot_text(f, a));
    advise(f, a, stage, out);
    return 1;
}

const struct detector detector_cpu_single_thread = {
    .name = "cpu_single_thread",
    .help = "one thread, or the few of one stage, is always on the CPU while other cores are idle",
    .order = 80,
    .detect_fn = detect,
};
