// SPDX-License-Identifier: Apache-2.0
// Signs and cells of the bars. Called by the formats and while the document is filled.
// Threads: no state.
#include "report/bar.h"

#include <math.h>

static const struct {
    const char *label, *utf8, *ascii;
    int cause; // of facts_split.cause_ns; -1: none
} parts[BAR_PART_COUNT] = {
    [BAR_CPU] = {"CPU", "█", "#", -1},
    [BAR_RUNQ] = {"run queue", "▒", "q", -1},
    [BAR_IO] = {"I/O", "≡", "i", TRACE_CAUSE_IO},
    [BAR_NET] = {"network", "≈", "n", TRACE_CAUSE_NET},
    [BAR_LOCK] = {"lock", "╳", "l", TRACE_CAUSE_LOCK},
    [BAR_GIL] = {"GIL", "╪", "g", TRACE_CAUSE_GIL},
    [BAR_ACCEL] = {"accel", "▲", "a", TRACE_CAUSE_ACCEL},
    [BAR_SLEEP] = {"sleep", "·", "z", TRACE_CAUSE_SLEEP},
    [BAR_OTHER] = {"other", "░", "?", TRACE_CAUSE_OTHER},
};

const char *bar_part_label(enum bar_part part)
{
    return parts[part].label;
}

const char *bar_part_glyph(enum bar_part part, int has_utf8)
{
    return has_utf8 ? parts[part].utf8 : parts[part].ascii;
}

uint64_t bar_part_ns(const struct facts_split *split, enum bar_part part)
{
    if (part == BAR_CPU)
        return split->cpu_ns;
    if (part == BAR_RUNQ)
        return split->runq_ns;
    return split->cause_ns[parts[part].cause];
}

const char *bar_sliver(int has_utf8)
{
    return has_utf8 ? "▏" : ".";
}

// Hands the cells that rounding down left over to the largest remainders.
static void hand_out_rest(int *count, double *remainder, int rest)
{
    for (; rest > 0; rest--) {
        int best = 0;
        for (int p = 1; p < BAR_PART_COUNT; p++)
            if (remainder[p] > remainder[best])
                best = p;
        count[best]++;
        remainder[best] = -1;
    }
}

int bar_cells(const struct facts_split *split, double ratio, int width, enum bar_part *cells)
{
    int count[BAR_PART_COUNT], total, rest, at = 0;
    double sum = 0, remainder[BAR_PART_COUNT];
    width = width > BAR_CELLS_MAX ? BAR_CELLS_MAX : width;
    ratio = !(ratio > 0) ? 0 : ratio > 1 ? 1 : ratio;
    rest = total = (int)lround(ratio * width);
    for (int p = 0; p < BAR_PART_COUNT; p++)
        sum += (double)bar_part_ns(split, (enum bar_part)p);
    if (sum <= 0)
        return 0;
    for (int p = 0; p < BAR_PART_COUNT; p++) {
        double exact = (double)bar_part_ns(split, (enum bar_part)p) / sum * total;
        count[p] = (int)floor(exact);
        remainder[p] = exact - count[p];
        rest -= count[p];
    }
    hand_out_rest(count, remainder, rest);
    for (int p = 0; p < BAR_PART_COUNT; p++)
        for (int i = 0; i < count[p] && at < total; i++)
            cells[at++] = (enum bar_part)p;
    return at;
}

enum bar_part bar_main_wait(const struct facts_split *split)
{
    enum bar_part best = BAR_CPU;
    uint64_t best_ns = split->wall_ns / 20;
    for (int p = BAR_CPU + 1; p < BAR_PART_COUNT; p++)
        if (bar_part_ns(split, (enum bar_part)p) > best_ns) {
            best = (enum bar_part)p;
            best_ns = bar_part_ns(split, best);
        }
    return best;
}
