// SPDX-License-Identifier: Apache-2.0
// The process's table from name and stage to the 16-bit number in records. Lock-free; entries are
// never removed. Hooks and marks ask once per call site. Threads: any.
#ifndef LIGHTMETER_AGENT_NAMES_H
#define LIGHTMETER_AGENT_NAMES_H

#include <stdint.h>

#define NAMES_LIMIT 4096u

// The number of (name, stage); 1 ("(more names)") once the table is full. `cause`: enum trace_cause
// of blocked time in it. Strings are copied (cut at 200 bytes each).
uint16_t names_intern(const char *name, const char *stage, uint32_t cause);

// The number of the name that the pieces of a call of the name `id` go by on other threads:
// "cv::resize (team)", of its stage. 0: there are none of it, as it only waits.
uint16_t names_of_team(uint16_t id);

// The stage of the name `id`; "" when there is no such name.
const char *names_stage(uint16_t id);

// Writes the whole table into the process file again (in a forked child).
void names_write_all(void);

#endif
