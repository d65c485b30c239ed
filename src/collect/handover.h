// SPDX-License-Identifier: Apache-2.0
// What the launcher tells the preloaded library through the run directory: the file `config`, read
// once by each process, and the page `control`, which they watch. Written before the launch.
// Threads: one owner.
#ifndef LIGHTMETER_COLLECT_HANDOVER_H
#define LIGHTMETER_COLLECT_HANDOVER_H

#include "base/buf.h"
#include "base/err.h"
#include "collect/stagemap.h"
#include "trace/format.h"
#include "trace/meta.h"

#include <stddef.h>
#include <stdint.h>

#define HANDOVER_NO_HOOKS_LIMIT 32 // as many as the library keeps

enum handover_control {
    HANDOVER_RECORD = 0,
    HANDOVER_AGGREGATE = 1, // the limit is reached: sums only
    HANDOVER_STOP = 2,      // nothing any more
};

struct handover_options {
    const struct trace_clock *clock;
    const char *const *no_hooks; // names of hook sets
    size_t no_hook_count;
    const struct stagemap *map; // NULL: none
    int opencv_trace;           // OpenCV is asked to tell of its functions
    int cuda_activity;          // CUPTI is asked for the device time of CUDA
};

// Appends the text of `config`. 0, or -1 with a message when the clock gives no scale.
int handover_config_text(const struct handover_options *o, struct buf *out, struct err *e);

// Writes `config` and `control` into the directory. The mapped page, which handover_close unmaps;
// or NULL with a message.
struct trace_control *handover_open(int dir_fd, const struct handover_options *o, struct err *e);
void handover_close(struct trace_control **control); // accepts NULL in it

// Tells all processes of the run.
void handover_set(struct trace_control *control, enum handover_control value);

// Tells them that the launcher is alive: the time of the monotonic clock. When it is long past,
// threads of the target stop making segments that nobody would take away.
void handover_beat(struct trace_control *control, uint64_t now_ns);

// Tells them which free segments there are now: bit N of the small, of the large ones.
void handover_stock(struct trace_control *control, uint32_t small, uint32_t large);

// ns = ticks * *mult >> *shift for intervals up to an hour.
int handover_scale(const struct trace_clock *clock, uint64_t *mult, unsigned *shift, struct err *e);

#endif
