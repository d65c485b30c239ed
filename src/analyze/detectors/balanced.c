// SPDX-License-Identifier: Apache-2.0
// Verdict class balanced: nothing stands out. First signal: no stage has over half of the time, and
// none is over 1.3 times the next. Second: the threads of the pipeline are about equally busy.
// Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#include <string.h>

#define MOST_RATIO 0.5
#define NEXT_RATIO 1.3
#define BUSY_LEAST_RATIO 0.3

// The two largest shares of the item-carrying threads' time, code outside the stages included.
static void find_two(const struct facts *f, double share[2], const char *stage[2])
{
    share[0] = f->unattributed_ratio;
    share[1] = 0;
    stage[0] = stage[1] = "";
    for (size_t i = 0; i < f->stages.count; i++) {
        const struct facts_stage *s = &f->stages.at[i];
        const char *text = f->model->stages.at[s->stage].text;
        const int place = s->share_ratio > share[0] ? 0 : s->share_ratio > share[1] ? 1 : 2;
        if (strcmp(text, "wait") == 0 || place == 2)
            continue;
        if (place == 0) {
            share[1] = share[0];
            stage[1] = stage[0];
        }
        share[place] = s->share_ratio;
        stage[place] = text;
    }
}

static void judge_second(const struct facts *f, struct arena *a, struct finding *out)
{
    double most = 0, least = 2;
    for (size_t i = 0; i < f->threads.count; i++) {
        if (!f->threads.at[i].carries_items)
            continue;
        const double busy = look_busy_ratio(f, &f->threads.at[i]);
        most = busy > most ? busy : most;
        least = busy < least ? busy : least;
    }
    if (f->item_threads < 2)
        return;
    out->second_signal = most <= NEXT_RATIO * least ? 1 : -1;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = most, .unit = "ratio", .signal = 2},
        "the pipeline's %u threads are busy for %d to %d %% of the time", f->item_threads,
        look_percent(least), look_percent(most));
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    double share[2];
    const char *stage[2];
    find_two(f, share, stage);
    const struct facts_thread *t = look_limiting(f);
    if (!t || share[0] > MOST_RATIO || share[1] <= 0 || share[0] > NEXT_RATIO * share[1] ||
        look_busy_ratio(f, t) < BUSY_LEAST_RATIO)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = share[0];
    out->stage = stage[0];
    out->title = arena_printf(a, "No stage stands out: %s is %d %% of the time, %s %d %%",
        look_subject(a, f, stage[0]), look_percent(share[0]), look_subject(a, f, stage[1]),
        look_percent(share[1]));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = share[0], .unit = "ratio", .signal = 1},
        "the largest stage has %d %% of the time, the next %d %%", look_percent(share[0]),
        look_percent(share[1]));
    judge_second(f, a, out);
    look_add_cores(f, a, out, 0);
    look_how(out, "Gain by doing more items at once, or by lighter work in all stages alike.");
    look_wont(out, "Work on one stage alone: the next is as slow.");
    return 1;
}

const struct detector detector_balanced = {
    .name = "balanced",
    .help = "no stage and no resource stands out",
    .order = 90,
    .detect_fn = detect,
};
