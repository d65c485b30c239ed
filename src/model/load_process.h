// SPDX-License-Identifier: Apache-2.0
// One process image while its trace is loaded: its names' numbers, its threads' labels, its file.
// Used by the loader only. Threads: one owner.
#ifndef LIGHTMETER_MODEL_LOAD_PROCESS_H
#define LIGHTMETER_MODEL_LOAD_PROCESS_H

#include "base/err.h"
#include "model/model.h"
#include "trace/ticks.h"

#include <stddef.h>
#include <stdint.h>

struct load_label {
    uint32_t tid;
    const char *label, *creator; // in the model's arena; "" when not told
};

struct load_process {
    uint32_t pid;
    uint64_t image_ticks;
    uint32_t index;      // in model.processes
    VEC(uint32_t) names; // the process's number of a name to the model's; MODEL_NONE: not told
    VEC(struct load_label) labels;
    uint8_t *file; // the last copy of its process file; NULL: none seen
    size_t file_bytes;
};

// Keeps a copy of the process file `bytes`, in place of an older one.
void load_process_keep(struct load_process *p, const uint8_t *bytes, size_t length_bytes);

// Reads what was kept into the model, and keeps it no longer. 0, or -1 when a record in it is
// damaged: what came before is used, and *fault_offset_bytes says where.
int load_process_read(struct load_process *p, struct model *m, const struct ticks_scale *scale,
    size_t *fault_offset_bytes);

// Takes one TEXT record, wherever it stood. `p` may be NULL (a record of the launcher).
void load_process_text(struct load_process *p, struct model *m, const struct trace_text *text);

// Gives the process's threads (`of_process`: their numbers in the model, ascending) the labels and
// creators that were told.
void load_process_label(
    struct load_process *p, struct model *m, const uint32_t *of_process, size_t count);

void load_process_fini(struct load_process *p);

// The model's name for a number of the process; the name "?" when it was never told.
static inline uint32_t load_process_name(const struct load_process *p, uint16_t id)
{
    return __builtin_expect(id < p->names.count, 1) ? p->names.at[id] : MODEL_NONE;
}

#endif
