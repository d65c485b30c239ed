// SPDX-License-Identifier: Apache-2.0
// Counts what the scans found for each hook set. Called by the GOT patcher. No allocation.
#include "agent/coverage.h"

#include "agent/config.h"
#include "agent/hook.h"
#include "agent/process.h"

#include <stdio.h>
#include <string.h>

#define SETS_LIMIT 128
#define NAME_BYTES 64

static struct {
    _Atomic uint32_t slots;
    _Atomic uint32_t is_loaded;
    char library[NAME_BYTES]; // the soname that was seen
} found[SETS_LIMIT];

void coverage_add(int set)
{
    if (set >= 0 && set < SETS_LIMIT)
        atomic_fetch_add(&found[set].slots, 1);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void coverage_see(const char *object)
{
    const char *name = file_name(object);
    for (int set = 0; hook_sets[set] && set < SETS_LIMIT; set++) {
        const char *const *libraries = hook_sets[set]->libraries;
        for (; libraries && *libraries; libraries++) {
            if (strncmp(name, *libraries, strlen(*libraries)) != 0)
                continue;
            if (hook_sets[set]->see)
                hook_sets[set]->see(name);
            if (atomic_exchange(&found[set].is_loaded, 1))
                continue;
            strncpy(found[set].library, name, NAME_BYTES - 1);
        }
    }
}

static void write_line(const char *library, const char *set, const char *status, const char *why)
{
    const char *parts[] = {library, set, status, why};
    process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
}

static void report_set(int set)
{
    const struct hook_set *s = hook_sets[set];
    char why[128];
    uint32_t slots = atomic_load(&found[set].slots);
    const char *library = !s->libraries           ? "libc.so.6"
                          : found[set].library[0] ? found[set].library
                                                  : s->libraries[0];
    if (config_is_off(s->name)) {
        write_line(library, s->name, "uninstrumented", "switched off by --no-hook");
    } else if (!s->libraries) {
        write_line(library, s->name, "covered", "by interposition");
    } else if (slots) {
        snprintf(why, sizeof why, "%u call sites", (unsigned)slots);
        write_line(library, s->name, "covered", why);
    } else if (atomic_load(&found[set].is_loaded)) {
        write_line(library, s->name, "uninstrumented",
            "loaded, but no caller reaches it through a slot that can be patched");
    } else {
        write_line(library, s->name, "absent", "not loaded by this process");
    }
}

void coverage_report(void)
{
    for (int set = 0; hook_sets[set] && set < SETS_LIMIT; set++)
        report_set(set);
}
