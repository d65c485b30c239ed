// SPDX-License-Identifier: Apache-2.0
// The user's own functions and libraries as stages (`--stage-map`): calls that go through a PLT
// slot are led through a trampoline that opens a span. Works for any function whose arguments on
// the stack take 128 bytes or less. x86-64 only. Called by the GOT patcher. Threads: any.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_H
#define LIGHTMETER_AGENT_STAGE_MAP_H

// Prepares the patterns of the configuration.
void stage_map_start(void);

// Whether calls of `symbol` may be wanted: by its name, or because whole libraries are.
int stage_map_is_wanted(const char *symbol);

// The trampoline for `original`, or NULL when it is not wanted after all (or none is left).
void *stage_map_thunk(const char *symbol, void *original);

// Writes what each entry matched to the process file.
void stage_map_report(void);

#endif
