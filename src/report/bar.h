// SPDX-License-Identifier: Apache-2.0
// Bars that show what a time was spent on: CPU, run queue, and each cause of waiting has its own
// sign, so that a bar reads without colour. Used by the terminal and Markdown formats. Threads: no
// state.
#ifndef LIGHTMETER_REPORT_BAR_H
#define LIGHTMETER_REPORT_BAR_H

#include "analyze/facts.h"

// The parts of a cost split in the order in which bars and legends show them.
enum bar_part {
    BAR_CPU,
    BAR_RUNQ,
    BAR_IO,
    BAR_NET,
    BAR_LOCK,
    BAR_GIL,
    BAR_ACCEL,
    BAR_SLEEP,
    BAR_OTHER,
    BAR_PART_COUNT
};

#define BAR_CELLS_MAX 64

const char *bar_part_label(enum bar_part part);               // "CPU", "run queue", "I/O", ...
const char *bar_part_glyph(enum bar_part part, int has_utf8); // one column
uint64_t bar_part_ns(const struct facts_split *split, enum bar_part part);

// A bar for time too short to fill half a cell.
const char *bar_sliver(int has_utf8);

// Divides round(ratio x width) cells among the parts of `split`, in proportion, the largest
// remainders first; cells[i] is the part of cell i. Returns how many cells; at most width and
// BAR_CELLS_MAX. 0 with `split` not empty: draw the sliver.
int bar_cells(const struct facts_split *split, double ratio, int width, enum bar_part *cells);

// The part that took most besides the CPU, when it took at least 5 % of the time; else BAR_CPU.
enum bar_part bar_main_wait(const struct facts_split *split);

#endif
