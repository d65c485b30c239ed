// SPDX-License-Identifier: Apache-2.0
// What several detectors need: the thread that holds the others up, ratios of the steady window,
// and words for people. Called by detectors and verdict.c. Judges nothing. Threads: no state.
#include "analyze/look.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A line outside of all stages is worth naming when it was seen so often, and is so much of them.
#define HOT_SAMPLES 20u
#define HOT_RATIO 0.25

// Of the allowed cores: what others must have, and the run itself must not have, to be crowded out;
// and how much of its threads' time must be spent waiting for a core.
#define LOOK_OTHERS_RATIO 0.25
#define LOOK_OWN_RATIO 0.75
#define LOOK_CROWD_RUNQ_RATIO 0.15

int look_is_too_short(const struct facts *f)
{
    if (f->steady_ns < LOOK_STEADY_LEAST_NS)
        return 1;
    return f->counted_by != FACTS_BY_NOTHING && f->items < LOOK_ITEMS_LEAST &&
           f->steady_ns < LOOK_ITEMS_WORTH_NS;
}

int look_is_crowded_out(const struct facts *f)
{
    const struct facts_machine *m = &f->machine;
    uint64_t runq_ns = 0, wall_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        if (!f->threads.at[i].carries_items)
            continue;
        runq_ns += f->threads.at[i].steady.runq_ns;
        wall_ns += f->threads.at[i].steady.wall_ns;
    }
    return m->cores_allowed > 0 && m->cpu_used_cores >= 0 &&
           m->other_busy_cores >= LOOK_OTHERS_RATIO * m->cores_allowed &&
           m->cpu_used_cores < LOOK_OWN_RATIO * m->cores_allowed &&
           (double)runq_ns >= LOOK_CROWD_RUNQ_RATIO * (double)wall_ns && runq_ns;
}

double look_ratio(const struct facts *f, uint64_t ns)
{
    return f->steady_ns > 0 ? (double)ns / (double)f->steady_ns : 0;
}

double look_wanted_ratio(const struct facts *f, const struct facts_thread *t)
{
    return look_ratio(f, t->steady.cpu_ns + t->steady.runq_ns);
}

double look_cpu_ratio(const struct facts *f, const struct facts_thread *t)
{
    return look_ratio(f, t->steady.cpu_ns);
}

double look_busy_ratio(const struct facts *f, const struct facts_thread *t)
{
    return look_ratio(f, facts_busy_ns(t));
}

const struct facts_thread *look_limiting(const struct facts *f)
{
    const struct facts_thread *best = NULL;
    uint64_t best_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (!t->carries_items || t->steady.wall_ns < t->idle_ns)
            continue;
        const uint64_t held_ns = t->steady.wall_ns - t->idle_ns;
        if (!best || held_ns > best_ns) {
            best = t;
            best_ns = held_ns;
        }
    }
    return best;
}

const char *look_stage(const struct facts *f, const struct facts_thread *t)
{
    if (t->stage == MODEL_NONE || t->stage_ns < t->unattributed.wall_ns)
        return "";
    return f->model->stages.at[t->stage].text;
}

const struct facts_stage *look_largest(const struct facts *f)
{
    const struct facts_stage *best = NULL;
    for (size_t i = 0; i < f->stages.count; i++) {
        const struct facts_stage *s = &f->stages.at[i];
        if (strcmp(f->model->stages.at[s->stage].text, "wait") == 0 || s->share_ratio <= 0)
            continue;
        if (!best || s->share_ratio > best->share_ratio)
            best = s;
    }
    return best;
}

const struct facts_line *look_hot(const struct facts *f)
{
    for (size_t i = 0; i < f->lines.count; i++) {
        const struct facts_line *line = &f->lines.at[i];
        if (line->stage == MODEL_NONE)
            return line->samples >= HOT_SAMPLES &&
                           line->share_ratio >= HOT_RATIO * f->unattributed_ratio
                       ? line
                       : NULL;
    }
    return NULL;
}

const char *look_subject(struct arena *a, const struct facts *f, const char *stage)
{
    const struct facts_line *hot = *stage ? NULL : look_hot(f);
    if (hot)
        return arena_printf(a, "Your own code, most of it at %s (%s),",
            model_place_text(a, hot->place), hot->place->function);
    static const char *const words[][2] = {{"setup", "Setting up"}, {"load", "Loading"},
        {"receive", "Receiving"}, {"decode", "Decoding"}, {"convert", "Colour conversion"},
        {"preprocess", "Preprocessing"}, {"transfer", "Copying to the device"},
        {"enqueue", "Queueing work for the device"}, {"infer", "Inference"},
        {"postprocess", "Postprocessing"}, {"track", "Tracking"}, {"draw", "Drawing"},
        {"encode", "Encoding"}, {"save", "Saving"}, {"send", "Sending"}, {"wait", "Waiting"},
        {"", "Code outside the known stages"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], stage) == 0)
            return words[i][1];
    return arena_printf(a, "Stage '%s'", stage);
}

int look_percent(double ratio)
{
    const double percent = ratio * 100 + 0.5;
    return percent < 0 ? 0 : percent > 100000 ? 100000 : (int)percent;
}

const char *look_duration(struct arena *a, double ns)
{
    if (ns >= 1e9)
        return arena_printf(a, ns >= 1e10 ? "%.0f s" : "%.1f s", ns / 1e9);
    if (ns >= 1e6)
        return arena_printf(a, ns >= 1e7 ? "%.0f ms" : "%.1f ms", ns / 1e6);
    return arena_printf(a, "%.0f us", ns / 1e3);
}

const char *look_cores(struct arena *a, double cores)
{
    const double whole = (double)(long long)(cores + 0.5);
    const double off = cores - whole;
    if (off > -0.05 && off < 0.05)
        return whole == 1 ? "one core" : arena_printf(a, "%.0f cores", whole);
    return arena_printf(a, cores < 1 ? "%.2g cores" : "%.1f cores", cores);
}

void look_add(struct arena *a, struct finding *out, struct evidence e, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    e.text = arena_strdup(a, text);
    *vec_push(&out->evidence) = e;
}

void look_demote(struct finding *out)
{
    for (size_t i = 0; i < out->evidence.count; i++)
        if (out->evidence.at[i].signal == 2)
            out->evidence.at[i].signal = 0;
}

void look_how(struct finding *out, const char *text)
{
    *vec_push(&out->how) = text;
}

void look_wont(struct finding *out, const char *text)
{
    *vec_push(&out->will_not_help) = text;
}

void look_add_cores(const struct facts *f, struct arena *a, struct finding *out, int signal)
{
    const struct facts_machine *m = &f->machine;
    if (m->cpu_used_cores < 0)
        return;
    const struct evidence e = {
        .kind = EVIDENCE_MEASURED, .value = m->cpu_used_cores, .unit = "cores", .signal = signal};
    const char *how = m->cpu_is_sampled ? "seen from outside" : "summed up over its threads";
    if (m->cores_allowed > 0)
        look_add(a, out, e, "the program used %.2f of the %.3g cores it may use (%s)",
            m->cpu_used_cores, m->cores_allowed, how);
    else
        look_add(a, out, e, "the program used %.2f cores (%s); how many it may use is not known",
            m->cpu_used_cores, how);
}

const char *look_hot_text(const struct facts *f, struct arena *a)
{
    const struct facts_line *hot = look_hot(f);
    if (!hot)
        return NULL;
    return arena_printf(a, "%d %% of the time is line %u of %s, in %s%s%s (by %llu samples)",
        look_percent(hot->share_ratio), hot->place->line, hot->place->file, hot->place->function,
        *hot->meaning ? ", by its place " : "", hot->meaning, (unsigned long long)hot->samples);
}

const char *look_hot_advice(const struct facts *f, struct arena *a)
{
    const struct facts_line *hot = look_hot(f);
    if (!hot)
        return "Name your own functions as stages (--stage-map FILE, or LM_STAGE in the code): "
               "most of the time is in none.";
    return arena_printf(a,
        "Look at %s, in %s: if it is a loop of Python over numbers or pixels, let NumPy or OpenCV "
        "do it.",
        model_place_text(a, hot->place), hot->place->function);
}
