// SPDX-License-Identifier: Apache-2.0
// See itt_handles.h. Stores of fixed size, filled with atomics only. Threads: any.
#include "agent/itt_handles.h"

#include <string.h>

#define NUMBERED 0x4c4d0000u

uint16_t itt_number(const struct itt_domain *d)
{
    if (!d)
        return 0;
    const uintptr_t known = (uintptr_t)__atomic_load_n(&d->extra2, __ATOMIC_RELAXED);
    if (known >= NUMBERED && known < NUMBERED + RANGE_DOMAINS)
        return (uint16_t)(known - NUMBERED);
    const uint16_t number = range_domain(d->name);
    // The interface hands domains out as const, with fields that are the tool's.
    __atomic_store_n(&((struct itt_domain *)(uintptr_t)d)->extra2,
        (void *)(uintptr_t)(NUMBERED + number), __ATOMIC_RELAXED);
    return number;
}

const struct range_name *itt_name(uint16_t domain, struct itt_string *s)
{
    if (!s)
        return range_name(domain, "");
    const struct range_name *known =
        range_name_check(__atomic_load_n(&s->extra2, __ATOMIC_RELAXED));
    if (known && known->domain == domain)
        return known;
    known = range_name(domain, s->text);
    __atomic_store_n(&s->extra2, (void *)(uintptr_t)known, __ATOMIC_RELAXED);
    return known;
}

// ---- Handles: from fixed stores; further ones share the last. ----

#define DOMAINS RANGE_DOMAINS
#define STRINGS 2048u
#define STRING_PROBES 32u

static struct itt_domain domains[DOMAINS];
static struct itt_string strings[STRINGS];
static _Atomic uint32_t domain_state[DOMAINS], string_state[STRINGS];
static char texts[64u << 10];
static _Atomic uint32_t texts_used_bytes;
static const char no_text[] = "(more names)";
static struct itt_string more_strings = {.text = no_text};

static const char *keep(const char *text)
{
    const uint32_t length_bytes = (uint32_t)strnlen(text, RANGE_TEXT_BYTES);
    const uint32_t at = atomic_fetch_add(&texts_used_bytes, length_bytes + 1);
    if (at > sizeof texts || length_bytes + 1 > sizeof texts - at) {
        atomic_store(&texts_used_bytes, sizeof texts);
        return no_text;
    }
    memcpy(texts + at, text, length_bytes);
    return texts + at;
}

// One for each number of a domain.
struct itt_domain *itt_domain_create(const char *name)
{
    if (!name)
        return NULL;
    const uint16_t number = range_domain(name);
    struct itt_domain *d = &domains[number];
    uint32_t expected = 0;
    if (atomic_compare_exchange_strong(&domain_state[number], &expected, 1))
        __atomic_store_n(&d->name, keep(name), __ATOMIC_RELAXED);
    // By everybody: it must be there before the first use, and is always the same.
    __atomic_store_n(&d->extra2, (void *)(uintptr_t)(NUMBERED + number), __ATOMIC_RELAXED);
    d->is_on = 1;
    return d;
}

// By the hash of its text, as some libraries ask anew at each use. A place that has just been taken
// by another thread, and not filled yet, is passed over: two handles of one text mean the same.
struct itt_string *itt_string_create(const char *text)
{
    if (!text)
        return NULL;
    const uint32_t length = (uint32_t)strnlen(text, RANGE_TEXT_BYTES);
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    for (uint32_t i = 0; i < STRING_PROBES; i++) {
        const uint32_t at = (hash + i) % STRINGS;
        uint32_t expected = 0;
        if (atomic_compare_exchange_strong(&string_state[at], &expected, 1)) {
            __atomic_store_n(&strings[at].text, keep(text), __ATOMIC_RELEASE);
            return &strings[at];
        }
        const char *known = __atomic_load_n(&strings[at].text, __ATOMIC_ACQUIRE);
        if (known && strncmp(known, text, RANGE_TEXT_BYTES) == 0)
            return &strings[at];
    }
    return &more_strings;
}
