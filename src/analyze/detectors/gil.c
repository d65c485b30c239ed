// SPDX-License-Identifier: Apache-2.0
// Verdict class gil: threads of a Python program wait for each other's turn with the interpreter.
// First signal: the threads that work, or wait so, are blocked on the global lock for over a
// seventh of the time. Second: together they get only about one core's worth of work done although
// more are free. Code that gives the lock up while it works (decoding in Pillow, NumPy on large
// arrays) keeps more cores busy and is not this. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#define GIL_RATIO 0.15
#define MOST_RATIO 0.5 // more than one core is busy all the same, but most of the time is this
#define ONE_CORE 1.25
#define OTHER_RATIO 0.25 // of what ran, by a thread that works in no stage
#define MORE_CORES 1.5   // allowed, that one core is little of

struct sums {
    double gil_ns, wall_ns, cpu_ns;
    uint32_t blocked; // threads that wait for it
};

// A twentieth of its time and more.
static int waits_for_gil(const struct facts_thread *t)
{
    return t->steady.cause_ns[TRACE_CAUSE_GIL] * 20 > t->steady.wall_ns;
}

static struct sums sum_up(const struct facts *f)
{
    struct sums s = {0};
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (t->is_pool || (!t->carries_items && !waits_for_gil(t)))
            continue;
        s.gil_ns += (double)t->steady.cause_ns[TRACE_CAUSE_GIL];
        s.wall_ns += (double)t->steady.wall_ns;
        s.cpu_ns += (double)t->steady.cpu_ns;
        s.blocked += (uint32_t)waits_for_gil(t);
    }
    return s;
}

static double cores_of(const struct facts *f, const struct sums *s)
{
    return f->steady_ns > 0 ? s->cpu_ns / (double)f->steady_ns : 0;
}

static void judge_second(
    const struct facts *f, const struct sums *s, struct arena *a, struct finding *out)
{
    const double cores = cores_of(f, s);
    if (f->split_is_measured &&
        (f->machine.cores_allowed <= 0 || f->machine.cores_allowed >= MORE_CORES))
        out->second_signal = cores <= ONE_CORE ? 1 : cores > 2 * ONE_CORE ? -1 : 0;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = cores,
            .unit = "cores",
            .signal = out->second_signal ? 2 : 0},
        out->second_signal < 0 ? "but these threads keep %.2f cores busy all the same"
                               : "together these threads keep %.2f cores busy",
        cores);
}

// The line that had the lock most. One of a thread that works in no stage is worth more: it may
// just poll.
static const struct facts_line *find_holder(const struct facts *f)
{
    if (f->busiest_other.place && f->busiest_other.share_ratio >= OTHER_RATIO)
        return &f->busiest_other;
    return f->busiest.place ? &f->busiest : NULL;
}

static void add_holder(
    const struct facts *f, const struct facts_line *holder, struct arena *a, struct finding *out)
{
    if (!holder)
        return;
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_ESTIMATED, .value = holder->share_ratio, .unit = "ratio"},
        "%d %% of what ran in the interpreter was line %u of %s, in %s%s (by %llu samples)",
        look_percent(holder->share_ratio), holder->place->line, holder->place->file,
        holder->place->function,
        holder == &f->busiest_other ? ", on a thread that has no stage" : "",
        (unsigned long long)holder->samples);
    look_how(
        out, arena_printf(a,
                 "Take the work at %s (%s) out of the interpreter: NumPy, OpenCV and Pillow give "
                 "the lock up while they compute. If it only polls, let it wait instead "
                 "(queue.get, Event.wait).",
                 model_place_text(a, holder->place), holder->place->function));
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct sums s = sum_up(f);
    const double ratio = s.wall_ns > 0 ? s.gil_ns / s.wall_ns : 0;
    if (ratio <= GIL_RATIO || !s.blocked || (cores_of(f, &s) > ONE_CORE && ratio < MOST_RATIO))
        return 0;
    out->first_signal = 1;
    out->weight_ratio = ratio;
    const struct facts_line *holder = find_holder(f);
    out->title = holder ? arena_printf(a,
                              "%u thread%s %d %% of the time for Python's global lock, held "
                              "most at %s (%s)",
                              s.blocked, s.blocked == 1 ? " waits" : "s wait", look_percent(ratio),
                              model_place_text(a, holder->place), holder->place->function)
                        : arena_printf(a, "%u thread%s %d %% of the time for Python's global lock",
                              s.blocked, s.blocked == 1 ? " waits" : "s wait", look_percent(ratio));
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = ratio, .unit = "ratio", .signal = 1},
        "blocked on the global interpreter lock for %d %% of the time of the threads that work or "
        "wait so",
        look_percent(ratio));
    judge_second(f, &s, a, out);
    add_holder(f, holder, a, out);
    look_how(
        out, "Or use processes in place of threads (multiprocessing, a DataLoader's workers).");
    look_wont(out, "More threads: they would wait for the same lock.");
    look_wont(out, "A faster disk or accelerator.");
    return 1;
}

const struct detector detector_gil = {
    .name = "gil",
    .help = "threads wait for Python's global interpreter lock",
    .order = 45,
    .detect_fn = detect,
};
