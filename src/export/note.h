// SPDX-License-Identifier: Apache-2.0
// What is known of a span besides its name and times, as keys and values for a viewer's details
// pane. Used by the exporters. Threads: no state.
#ifndef LIGHTMETER_EXPORT_NOTE_H
#define LIGHTMETER_EXPORT_NOTE_H

#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

enum note_key {
    NOTE_CALLS,      // of a fold
    NOTE_SELF_NS,    // own time, where it is not the duration
    NOTE_OFF_CPU_NS, // of the own time
    NOTE_RUNQ_NS,    // part of it
    NOTE_WAITED_FOR, // text: the cause of the rest of it
    NOTE_SWITCHES,
    NOTE_LONGEST_NS, // of a fold's calls
    NOTE_BYTES,
    NOTE_WIDTH_PX,
    NOTE_HEIGHT_PX,
    NOTE_CHANNELS,
    NOTE_BATCH,
    NOTE_SOURCE_WIDTH_PX,
    NOTE_SOURCE_HEIGHT_PX,
    NOTE_SCALE, // text: "1/2"
    NOTE_ITEM,
    // The attributes from TRACE_ATTR_FILE on, in their order.
    NOTE_VALUE,
    NOTE_KEY_COUNT = NOTE_VALUE + TRACE_ATTR_KEY_COUNT - TRACE_ATTR_FILE
};

struct note {
    enum note_key key;
    uint64_t value;
    char text[32]; // "" for a number
};

const char *note_name(enum note_key key); // "calls", "self_ns", ...

// Fills what is known of a span of `t`. Returns how many.
size_t note_collect(
    const struct model_thread *t, const struct model_span *s, struct note notes[NOTE_KEY_COUNT]);

#endif
