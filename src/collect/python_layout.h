// SPDX-License-Identifier: Apache-2.0
// Where CPython keeps what a stack consists of, for reading it from another process. One row for
// each release that is known; the layout does not change within one. Threads: no state.
#ifndef LIGHTMETER_COLLECT_PYTHON_LAYOUT_H
#define LIGHTMETER_COLLECT_PYTHON_LAYOUT_H

#include "collect/python_lines.h"

#include <stdint.h>

// Offsets in bytes within the structs of a 64-bit build. 0 where a release has no such field,
// unless it is the first.
struct python_layout {
    uint32_t version;                              // major << 8 | minor
    uint16_t interpreters;                         // in _PyRuntime
    uint16_t interpreter_next, interpreter_tstate; // in PyInterpreterState
    uint16_t tstate_next, tstate_thread;           // in PyThreadState; thread: its pthread_t
    uint16_t tstate_native;                        // its number in the kernel
    uint16_t tstate_frame;                         // the innermost frame, or where that is kept
    int frame_is_kept;                             // then at the offset `kept_frame`
    uint16_t kept_frame;
    uint16_t frame_bytes, frame_code, frame_back, frame_at;
    uint16_t frame_owner; // of a byte that is 3 for a frame that is none of Python's
    int at_is_address;    // frame_at holds an address in the code, else an index
    uint16_t at_unit;     // bytes of code that an index counts
    uint16_t code_line, code_file, code_name, code_lines, code_start;
    uint16_t text_data, text_wide; // where the characters begin: ASCII, others
    enum python_lines_kind lines;
};

// NULL: not known. `version`: PY_VERSION_HEX.
const struct python_layout *python_layout_find(uint64_t version);

#endif
