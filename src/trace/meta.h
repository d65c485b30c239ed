// SPDX-License-Identifier: Apache-2.0
// The JSON of META and SUMMARY blocks as far as the trace itself needs it: the clock, and how
// repeated META blocks add up. Everything else in them belongs to the launcher and the report.
// Used by the launcher, `recover` and the model. Threads: no shared state.
//
//   META    {"clock": {"is_tsc", "start_ticks", "start_mono_ns", "start_unix_ns",
//                      "later_ticks", "later_mono_ns"}, ...}
//   SUMMARY {"clock": {"later_ticks", "later_mono_ns"}, ...}
//
// A repeated META block replaces the top-level keys that it holds. The last `later` pair counts.
#ifndef LIGHTMETER_TRACE_META_H
#define LIGHTMETER_TRACE_META_H

#include "base/err.h"
#include "base/json.h"
#include "trace/ticks.h"

#include <stddef.h>
#include <stdint.h>

struct trace_clock {
    int is_tsc;
    struct ticks_pair start; // time zero of the run
    struct ticks_pair later; // taken later than `start`; the later, the more exact the scale
    uint64_t start_unix_ns;  // CLOCK_REALTIME at `start`
};

// Takes `start` now and a first `later` a few milliseconds after it (spins for them).
void trace_clock_start(struct trace_clock *c, int clock_is_tsc);

// Takes a new `later`.
void trace_clock_update(struct trace_clock *c);

// Puts "clock" into a META object (whole) or a SUMMARY object (`later` only).
void trace_clock_put_meta(const struct trace_clock *c, struct json *meta);
void trace_clock_put_summary(const struct trace_clock *c, struct json *summary);

// Reads the clock; `summary` may be NULL. 0, or -1 with a message when `meta` holds no usable one.
int trace_clock_get(
    struct trace_clock *c, const struct json *meta, const struct json *summary, struct err *e);

// The conversion that the pairs give. 0, or -1 with a message.
int trace_clock_scale(const struct trace_clock *c, struct ticks_scale *s, struct err *e);

// Adds a META block's text to *meta (NULL at first; owned by the caller). 0, or -1 with a message
// and *meta unchanged.
int trace_meta_merge(struct json **meta, const void *text, size_t length_bytes, struct err *e);

#endif
