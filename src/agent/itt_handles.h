// SPDX-License-Identifier: Apache-2.0
// Domains and strings of ITT (version 3 of the interface), as modules and tools hand them to each
// other. Those that a module made before the agent came hold what is needed; what we find out about
// one is kept in the field that the interface sets aside for that. Used by the bridge itt. Threads:
// any.
#ifndef LIGHTMETER_AGENT_ITT_HANDLES_H
#define LIGHTMETER_AGENT_ITT_HANDLES_H

#include "agent/range_names.h"

#include <stdint.h>

struct itt_domain {
    volatile int is_on;
    const char *name;
    void *wide;
    int extra1;
    void *extra2; // ours: the number and NUMBERED
    struct itt_domain *next;
};

struct itt_string {
    const char *text;
    void *wide;
    int extra1;
    void *extra2; // ours: the name in the domain that it was last used in
    struct itt_string *next;
};

// The number of the domain (0: the default, NULL too), and what the string is called in it.
uint16_t itt_number(const struct itt_domain *d);
const struct range_name *itt_name(uint16_t domain, struct itt_string *s);

// The handle for a name; NULL for NULL. Never fails: from fixed stores, further ones share the
// last.
struct itt_domain *itt_domain_create(const char *name);
struct itt_string *itt_string_create(const char *text);

#endif
