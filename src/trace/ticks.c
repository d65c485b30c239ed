// SPDX-License-Identifier: Apache-2.0
// Calibration of the run's clock. Called by the launcher when a run starts, goes on and ends, and
// by whoever opens a trace. The conversion itself is inline in the header. Threads: no state.
#include "trace/ticks.h"

#include <inttypes.h>

#define CALIBRATE_TRIES 16

__extension__ typedef unsigned __int128 wide_uint;

int ticks_scale_init(
    struct ticks_scale *s, struct ticks_pair start, struct ticks_pair later, struct err *e)
{
    if (later.ticks <= start.ticks || later.mono_ns <= start.mono_ns)
        return err_set(e,
            "the clock of the run cannot be calibrated: its second reading (%" PRIu64
            " ticks, %" PRIu64 " ns) is not after the first (%" PRIu64 " ticks, %" PRIu64
            " ns); record the run again",
            later.ticks, later.mono_ns, start.ticks, start.mono_ns);
    const uint64_t ticks = later.ticks - start.ticks;
    const uint64_t ns = later.mono_ns - start.mono_ns;
    if (ns / ticks >= 1000000 || ticks / ns >= 1000)
        return err_set(e,
            "the clock of the run cannot be calibrated: %" PRIu64 " ticks in %" PRIu64
            " ns is no rate of a real clock; record the run again",
            ticks, ns);
    s->origin_ticks = start.ticks;
    s->whole = ns / ticks;
    s->fraction = (uint64_t)(((wide_uint)(ns % ticks) << 64) / ticks);
    return 0;
}

struct ticks_scale ticks_scale_identity(uint64_t origin_ticks)
{
    return (struct ticks_scale){.origin_ticks = origin_ticks, .whole = 1};
}

struct ticks_pair ticks_calibrate(int clock_is_tsc)
{
    struct ticks_pair best = {0};
    uint64_t best_width = UINT64_MAX;
    if (!clock_is_tsc) {
        best.ticks = best.mono_ns = clock_mono_ns();
        return best;
    }
    for (int i = 0; i < CALIBRATE_TRIES; i++) {
        const uint64_t before = clock_tsc();
        const uint64_t mono_ns = clock_mono_ns();
        const uint64_t width = clock_tsc() - before;
        if (width < best_width) {
            best_width = width;
            best = (struct ticks_pair){.ticks = before + width / 2, .mono_ns = mono_ns};
        }
    }
    return best;
}
