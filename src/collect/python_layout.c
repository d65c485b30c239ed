// SPDX-License-Identifier: Apache-2.0
// See python_layout.h. The numbers were printed by programs built with each release's own headers
// (3.8.18, 3.9.18, 3.10.13, 3.11.2 and .7, 3.12.1, 3.13.0; x86-64). Threads: no state.
#include "collect/python_layout.h"

#include <stddef.h>

// 3.8 to 3.10 differ in the line tables and in what an index counts only.
#define OLD(minor, at, unit, kind)                                                                 \
    {                                                                                              \
        .version = 0x0300 | (minor), .interpreters = 32, .interpreter_next = 0,                    \
        .interpreter_tstate = 8, .tstate_next = 8, .tstate_thread = 176, .tstate_frame = 24,       \
        .frame_bytes = 112, .frame_code = 32, .frame_back = 24, .frame_at = (at),                  \
        .at_unit = (unit), .code_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, \
        .text_data = 48, .text_wide = 72, .lines = (kind),                                         \
    }

static const struct python_layout layouts[] = {
    OLD(8, 104, 1, PYTHON_LINES_PAIRS),
    OLD(9, 104, 1, PYTHON_LINES_PAIRS),
    OLD(10, 96, 2, PYTHON_LINES_RANGES),
    {
        .version = 0x030b,
        .interpreters = 40,
        .interpreter_next = 0,
        .interpreter_tstate = 16,
        .tstate_next = 8,
        .tstate_thread = 152,
        .tstate_native = 160,
        .tstate_frame = 56,
        .frame_is_kept = 1,
        .kept_frame = 8,
        .frame_bytes = 80,
        .frame_code = 32,
        .frame_back = 48,
        .frame_at = 56,
        .at_is_address = 1,
        .code_line = 72,
        .code_file = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_start = 184,
        .text_data = 48,
        .text_wide = 72,
        .lines = PYTHON_LINES_PLACES,
    },
    {
        .version = 0x030c,
        .interpreters = 40,
        .interpreter_next = 0,
        .interpreter_tstate = 72,
        .tstate_next = 8,
        .tstate_thread = 136,
        .tstate_native = 144,
        .tstate_frame = 56,
        .frame_is_kept = 1,
        .kept_frame = 0,
        .frame_bytes = 80,
        .frame_code = 0,
        .frame_back = 8,
        .frame_at = 56,
        .frame_owner = 70,
        .at_is_address = 1,
        .code_line = 68,
        .code_file = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_start = 192,
        .text_data = 40,
        .text_wide = 56,
        .lines = PYTHON_LINES_PLACES,
    },
    {
        .version = 0x030d,
        .interpreters = 632,
        .interpreter_next = 7264,
        .interpreter_tstate = 7344,
        .tstate_next = 8,
        .tstate_thread = 152,
        .tstate_native = 160,
        .tstate_frame = 72,
        .frame_bytes = 80,
        .frame_code = 0,
        .frame_back = 8,
        .frame_at = 56,
        .frame_owner = 70,
        .at_is_address = 1,
        .code_line = 68,
        .code_file = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_start = 200,
        .text_data = 40,
        .text_wide = 56,
        .lines = PYTHON_LINES_PLACES,
    },
};

const struct python_layout *python_layout_find(uint64_t version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == version >> 16)
            return &layouts[i];
    return NULL;
}
