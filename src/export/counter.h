// SPDX-License-Identifier: Apache-2.0
// Everything in a model that is a value over time, one series after the other: depths of queues,
// the program's own counters, what the launcher sampled. Growing counters of the kernel become
// rates between two samples. Used by the exporters. Threads: one owner.
#ifndef LIGHTMETER_EXPORT_COUNTER_H
#define LIGHTMETER_EXPORT_COUNTER_H

#include "model/model.h"

#include <stdint.h>

enum counter_unit {
    COUNTER_PLAIN,
    COUNTER_BYTES,
    COUNTER_CORES,
    COUNTER_PER_S,
    COUNTER_BYTES_PER_S
};

// One series. It belongs to a thread, a process, or the machine.
struct counter {
    const char *name;
    enum counter_unit unit;
    uint32_t process, thread; // indices; MODEL_NONE: none
    int is_real;              // its values are reals, else integers
};

struct counter_value {
    int64_t integer;
    double real;
};

// Called in order: begin_fn once for a series, then value_fn for its values in the order of time. A
// rate stands at the beginning of the interval it holds for.
struct counter_visitor {
    void *context;
    void (*begin_fn)(void *context, const struct counter *c);
    void (*value_fn)(
        void *context, const struct counter *c, int64_t at_ns, struct counter_value value);
};

void counter_visit(const struct model *m, const struct counter_visitor *v);

const char *counter_unit_text(enum counter_unit unit); // "cores", "bytes/s", ...; "" for a count

#endif
