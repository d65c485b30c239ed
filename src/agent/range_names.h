// SPDX-License-Identifier: Apache-2.0
// Names of ranges (NVTX, ITT) and of their domains, each with what it is to Lightmeter. A bounded
// table: numbers in names are cut to '#', so that "frame 1", "frame 2", ... are one name, and what
// is too much goes to "(more names)" of its stage. Threads: any; lock-free, nothing is removed.
#ifndef LIGHTMETER_AGENT_RANGE_NAMES_H
#define LIGHTMETER_AGENT_RANGE_NAMES_H

#include "agent/range_rules.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define RANGE_NAMES_LIMIT 512u // distinct names of a process; further ones share one per stage
#define RANGE_DOMAINS 64u      // domains of a process; further ones share one

struct range_name {
    _Atomic uint64_t hash; // 0: free
    _Atomic uint32_t is_ready;
    _Atomic uint32_t is_async; // one has ended on another thread than it began on
    _Atomic uint16_t id;       // of names_intern; 0 unless a stage
    _Atomic uint16_t domain;
    _Atomic uint8_t use; // enum range_use
};

// The number of a domain by its name; 0 for NULL and "": the default domain. Never fails.
uint16_t range_domain(const char *name);
uint16_t range_domain_wide(const wchar_t *name);

// The name `text` (NULL: as "") of a domain. Never NULL; lives as long as the process.
const struct range_name *range_name(uint16_t domain, const char *text);
const struct range_name *range_name_wide(uint16_t domain, const wchar_t *text);

// A name that is nothing, and the one of a domain's frames, "frame": nothing either, unless a rule
// names it.
const struct range_name *range_name_none(void);
const struct range_name *range_name_frame(uint16_t domain);

// `pointer` when it is an entry of the table, else NULL: for what comes back from the program.
const struct range_name *range_name_check(const void *pointer);

// One of the name's ranges ended on another thread.
void range_name_set_async(const struct range_name *name);

// Names seen so far.
unsigned range_name_count(void);

// UTF-8 of a wide text into `out` (RANGE_TEXT_BYTES + 1), cut at a character; NULL as "".
void range_text_narrow(const wchar_t *text, char *out);

#endif
