// SPDX-License-Identifier: Apache-2.0
// Bridges: interfaces that programs already speak to tell a tool about their own work (NVTX, ITT).
// Nothing is caught: the program's side loads the library that an environment variable names, which
// the launcher points at the agent, and hands over its table of functions. One file per bridge,
// ending in one const struct. Threads: modules come up on any thread.
#ifndef LIGHTMETER_AGENT_BRIDGE_H
#define LIGHTMETER_AGENT_BRIDGE_H

#include <stdint.h>

struct bridge {
    const char *name;     // as in the registry, and after --no-hook
    const char *help;     // one line, for lists
    const char *shown;    // of the interface, as the coverage table calls it
    const char *variable; // of the environment, by which a program's side finds the agent
    // Modules of this process that handed over their table, and those whose table was not
    // understood: they run on as without a tool.
    const _Atomic uint32_t *modules, *refused;
};

// All bridges in the registry's order, ended by NULL.
extern const struct bridge *const bridges[];

// Whether a module that comes up now may hand over its table: recording is on, and the bridge was
// not switched off. Keeps errno.
int bridge_is_on(const char *name);

// Writes a line for each bridge to the process file.
void bridge_report_coverage(void);

#endif
