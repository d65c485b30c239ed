// SPDX-License-Identifier: Apache-2.0
// Numbers as the report writes them: those of base/text.h, kept in an arena, and durations of one
// column in one unit. Used to fill the document. Independent of the locale. Threads: as the arena.
#ifndef LIGHTMETER_REPORT_FIGURE_H
#define LIGHTMETER_REPORT_FIGURE_H

#include "base/arena.h"

#include <stdint.h>

const char *figure_duration(struct arena *a, uint64_t ns);
const char *figure_count(struct arena *a, uint64_t count);
const char *figure_bytes(struct arena *a, uint64_t bytes);
const char *figure_rate(struct arena *a, double value);  // three digits that count, no unit
const char *figure_cores(struct arena *a, double cores); // "2", "1.23"
const char *figure_percent(struct arena *a, double ratio);

// Durations that can be compared and added by eye: the unit and the digits follow from the largest.
struct figure_scale {
    const char *unit; // "s", "ms", "us"
    double unit_ns;
    int digits; // behind the point
};
struct figure_scale figure_scale_for(uint64_t largest_ns);
const char *figure_scaled(struct arena *a, const struct figure_scale *s, uint64_t ns); // "0.412 s"
const char *figure_scaled_percent(struct arena *a, double ratio); // one digit: "71.2 %", "0.0 %"

#endif
