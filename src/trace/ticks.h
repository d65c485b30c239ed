// SPDX-License-Identifier: Apache-2.0
// The run's clock: raw ticks to nanoseconds since the start of the run, from two calibration pairs.
// Used by the launcher (takes pairs), the model and the dump (convert). Does not decide which clock
// a run uses (base/clock.h) nor where pairs are stored (trace/meta.h). Threads: no state.
#ifndef LIGHTMETER_TRACE_TICKS_H
#define LIGHTMETER_TRACE_TICKS_H

#include "base/clock.h"
#include "base/err.h"

#include <stdint.h>

// One moment on both clocks.
struct ticks_pair {
    uint64_t ticks;
    uint64_t mono_ns; // CLOCK_MONOTONIC
};

// ns = (ticks - origin) * (whole + fraction / 2^64), rounded down. Exact to 1 ns of the true ratio
// of the pairs for 2^60 ticks (years) on either side of the origin.
struct ticks_scale {
    uint64_t origin_ticks;
    uint64_t whole;
    uint64_t fraction;
};

// A scale whose zero is `start`. 0, or -1 with a message when the pairs are equal, in the wrong
// order or absurd (a clock slower than 1 kHz or faster than 1 THz).
int ticks_scale_init(
    struct ticks_scale *s, struct ticks_pair start, struct ticks_pair later, struct err *e);

// The scale of a clock that counts nanoseconds itself (CLOCK_MONOTONIC as ticks).
struct ticks_scale ticks_scale_identity(uint64_t origin_ticks);

// Nanoseconds since the start; negative before it. Monotonic in `ticks`.
static inline int64_t ticks_scale_ns(const struct ticks_scale *s, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t forward = ticks - s->origin_ticks;
    if (__builtin_expect((int64_t)forward >= 0, 1))
        return (int64_t)(forward * s->whole + (uint64_t)(((wide)forward * s->fraction) >> 64));
    const uint64_t back = 0 - forward;
    const wide part = (wide)back * s->fraction;
    const uint64_t up = (uint64_t)(part >> 64) + ((uint64_t)part != 0);
    return (int64_t)(0 - (back * s->whole + up));
}

// Ticks of the run's clock now.
static inline uint64_t ticks_now(int clock_is_tsc)
{
    return clock_is_tsc ? clock_tsc() : clock_mono_ns();
}

// A pair taken now: the most tightly bracketed of several tries (within some tens of nanoseconds).
struct ticks_pair ticks_calibrate(int clock_is_tsc);

#endif
