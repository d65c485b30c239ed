// SPDX-License-Identifier: Apache-2.0
// The variables of the bridges, see bridges.h. Called once per launch. Threads: no shared state.
#include "collect/bridges.h"

#include <string.h>

const struct bridges_row bridges_rows[] = {
    {"itt", "INTEL_LIBITTNOTIFY64"},
    {"nvtx", "NVTX_INJECTION64_PATH"},
    {NULL, NULL},
};
_Static_assert(sizeof bridges_rows / sizeof *bridges_rows + 2 <= BRIDGES_VARIABLES, "room for all");

int bridges_is_off(const char *name, const char *const *no_hooks, size_t no_hook_count)
{
    for (size_t i = 0; i < no_hook_count; i++)
        if (strcmp(no_hooks[i], name) == 0)
            return 1;
    return 0;
}

void bridges_variables(const char *agent, const char *const *no_hooks, size_t no_hook_count,
    struct launch_variable out[BRIDGES_VARIABLES])
{
    size_t n = 0;
    for (size_t i = 0; bridges_rows[i].name; i++)
        if (!bridges_is_off(bridges_rows[i].name, no_hooks, no_hook_count))
            out[n++] = (struct launch_variable){bridges_rows[i].variable, agent};
    out[n] = (struct launch_variable){NULL, NULL};
}

void bridges_variables_opencv(const char *prefix, struct launch_variable out[BRIDGES_VARIABLES])
{
    size_t n = 0;
    while (out[n].name)
        n++;
    out[n++] = (struct launch_variable){"OPENCV_TRACE", "1"};
    out[n++] = (struct launch_variable){"OPENCV_TRACE_LOCATION", prefix};
    out[n] = (struct launch_variable){NULL, NULL};
}
