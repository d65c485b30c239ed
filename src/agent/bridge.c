// SPDX-License-Identifier: Apache-2.0
// The registry of bridges, and their lines in the coverage table. Called by modules that come up
// and at the end of the process. No allocation. Threads: any.
#include "agent/bridge.h"

#include "agent/config.h"
#include "agent/process.h"
#include "agent/range_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name) extern const struct bridge bridge_##name;
#include "agent/bridges/registry.def"
#undef ROW

const struct bridge *const bridges[] = {
#define ROW(name) &bridge_##name,
#include "agent/bridges/registry.def"
#undef ROW
    NULL};

int bridge_is_on(const char *name)
{
    return agent_thread_open() && !config_is_off(name);
}

static int is_ours(const char *value)
{
    static const char file[] = "liblightmeter-agent.so";
    const size_t length = strlen(value);
    return length >= sizeof file - 1 && strcmp(value + length - (sizeof file - 1), file) == 0;
}

static void report(const struct bridge *b)
{
    char why[320];
    const char *status = "absent", *value = getenv(b->variable);
    const unsigned modules = atomic_load(b->modules), refused = atomic_load(b->refused);
    if (config_is_off(b->name)) {
        status = "uninstrumented";
        snprintf(why, sizeof why, "switched off by --no-hook");
    } else if (modules) {
        status = "covered";
        snprintf(why, sizeof why, "used by %u module%s; %u names of ranges in the process%s",
            modules, modules == 1 ? "" : "s", range_name_count(),
            refused ? "; a further module's table was not understood" : "");
    } else if (refused) {
        status = "uninstrumented";
        snprintf(why, sizeof why, "its table is of a kind that is not known");
    } else if (value && !is_ours(value)) {
        status = "uninstrumented";
        snprintf(why, sizeof why,
            "%s was set already, to %.200s, and was left so; unset it to have "
            "its ranges here",
            b->variable, value);
    } else {
        snprintf(why, sizeof why, "%s",
            value ? "set up, and not used by this process"
                  : "its variable is not set in this process");
    }
    const char *parts[] = {b->shown, b->name, status, why};
    process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
}

void bridge_report_coverage(void)
{
    for (int i = 0; bridges[i]; i++)
        report(bridges[i]);
}
