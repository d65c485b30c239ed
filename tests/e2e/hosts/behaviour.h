// SPDX-License-Identifier: Apache-2.0
// A host of many behaviours: with no name it lists them, with one it shows that one. Included by
// the hosts of test_harm.py and test_harm_hosts.py. Threads: the behaviours' own.
#ifndef LIGHTMETER_TESTS_BEHAVIOUR_H
#define LIGHTMETER_TESTS_BEHAVIOUR_H

#include "lightmeter/mark.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct behaviour {
    const char *name;
    int (*run)(void);
};

// The exit status: the behaviour's, 0 for the list, 2 for a name that is none. `name` NULL: list.
static inline int behaviour_run(const struct behaviour *behaviours, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (!name)
            printf("%s\n", behaviours[i].name);
        else if (strcmp(name, behaviours[i].name) == 0)
            return behaviours[i].run();
    }
    return name ? 2 : 0;
}

// A thread that does next to nothing: one stage, and one more of `count`.
static inline void *behaviour_short_life(void *count)
{
    LM_STAGE("short");
    __atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
    return NULL;
}

#endif
