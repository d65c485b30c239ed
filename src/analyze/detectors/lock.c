// SPDX-License-Identifier: Apache-2.0
// Verdict class lock: threads wait for each other's mutexes. First signal: the item-carrying
// threads are blocked on mutexes or read-write locks for over a fifth of the time. Second: together
// they get only about one core's worth of work done (or half of what they could) although more are
// free. Waiting for a queue to fill or to empty (condition variables) is not this. Threads: no
// state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#include <string.h>

#define LOCK_RATIO 0.2
#define ONE_CORE 1.3
#define FULL_RATIO 0.9

struct sums {
    double lock_ns, wall_ns, cpu_ns;
    uint32_t blocked; // threads that wait for a lock
};

// A twentieth of its time and more.
static int waits_for_lock(const struct facts_thread *t)
{
    return t->lock_ns * 20 > t->steady.wall_ns;
}

static struct sums sum_up(const struct facts *f)
{
    struct sums s = {0};
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (t->is_pool || (!t->carries_items && !waits_for_lock(t)))
            continue;
        s.lock_ns += (double)t->lock_ns;
        s.wall_ns += (double)t->steady.wall_ns;
        s.cpu_ns += (double)t->steady.cpu_ns;
        s.blocked += (uint32_t)waits_for_lock(t);
    }
    return s;
}

static const char *find_call(const struct facts *f)
{
    for (size_t i = 0; i < f->names.count; i++) {
        const char *name = f->model->names.at[f->names.at[i].name].text;
        if (strstr(name, "mutex") || strstr(name, "rwlock") || strstr(name, "spin_lock") ||
            strstr(name, "mtx_") || strstr(name, "critical") || strstr(name, "omp_set_"))
            return name;
    }
    return "a lock";
}

// Up to here the threads work about one after the other: one core, or half of those they could use.
static double serial_limit(uint32_t threads, double allowed)
{
    const double could = allowed > 0 && allowed < threads ? allowed : threads;
    return could / 2 > ONE_CORE ? could / 2 : ONE_CORE;
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct sums s = sum_up(f);
    const double ratio = s.wall_ns > 0 ? s.lock_ns / s.wall_ns : 0;
    if (ratio <= LOCK_RATIO || s.blocked < 2)
        return 0;
    const double cores = f->steady_ns > 0 ? s.cpu_ns / (double)f->steady_ns : 0;
    const double allowed = f->machine.cores_allowed;
    out->first_signal = 1;
    out->weight_ratio = ratio;
    out->title = arena_printf(a, "%u threads wait %d %% of their time for a lock, in %s", s.blocked,
        look_percent(ratio), find_call(f));
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = ratio, .unit = "ratio", .signal = 1},
        "blocked in %s for %d %% of the time of the threads that work or wait so", find_call(f),
        look_percent(ratio));
    if (f->split_is_measured)
        out->second_signal = cores <= serial_limit(s.blocked, allowed)      ? 1
                             : allowed > 0 && cores >= FULL_RATIO * allowed ? -1
                                                                            : 0;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = cores,
            .unit = "cores",
            .signal = out->second_signal ? 2 : 0},
        out->second_signal < 0 ? "but these threads keep %.2f cores busy: none is left to gain"
                               : "together these threads keep %.2f cores busy",
        cores);
    look_how(out,
        "Hold the lock for less: move work out of the locked part, or give each thread its "
        "own buffer.");
    look_how(
        out, "Record the call stacks of the wait (perf lock, or a debugger) to name the lock.");
    look_wont(out, "More threads: they would wait for the same lock.");
    look_wont(out, "A faster disk or accelerator.");
    return 1;
}

const struct detector detector_lock = {
    .name = "lock",
    .help = "threads are blocked on each other's mutexes",
    .order = 50,
    .detect_fn = detect,
};
