// SPDX-License-Identifier: Apache-2.0
// By which variables of the environment a program's own annotations find the preloaded library, see
// agent/bridge.h. Called by the launcher. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_BRIDGES_H
#define LIGHTMETER_COLLECT_BRIDGES_H

#include "collect/launch.h"

#include <stddef.h>

#define BRIDGES_VARIABLES 8 // room for all, with the end

// The name of a bridge, and its variable.
struct bridges_row {
    const char *name, *variable;
};
extern const struct bridges_row bridges_rows[]; // ends with a name of NULL

// Whether the set `name` is one of `no_hooks`.
int bridges_is_off(const char *name, const char *const *no_hooks, size_t no_hook_count);

// The variables of all bridges but those in `no_hooks`, each with `agent` (a path, borrowed), ended
// by a name of NULL.
void bridges_variables(const char *agent, const char *const *no_hooks, size_t no_hook_count,
    struct launch_variable out[BRIDGES_VARIABLES]);

// Adds those with which OpenCV traces its functions into files of that prefix (borrowed).
void bridges_variables_opencv(const char *prefix, struct launch_variable out[BRIDGES_VARIABLES]);

#endif
