// SPDX-License-Identifier: Apache-2.0
// The table of range names, see range_names.h: open addressing by a 64-bit hash of domain and text.
// A slot is claimed by its hash and filled by all that find it empty, with the same: nobody waits
// for another, who may be off the processor for long. Called on every range whose text is not
// registered, so the text is hashed in one pass and compared by its hash only. Threads: any.
#include "agent/range_names.h"

#include "agent/names.h"
#include "agent/thread.h"

#include <stdio.h>
#include <string.h>

#define SLOTS (2u * RANGE_NAMES_LIMIT)
#define HASH_SEED 0xcbf29ce484222325u
#define HASH_PRIME 0x9fb21c651e98df25u // odd, bits spread

static struct range_name table[SLOTS];
static _Atomic uint32_t name_count;
// What stands in where there is no room for a name, or no recording.
static struct range_name nothing = {.is_ready = 1, .use = RANGE_IGNORE};

static struct {
    _Atomic uint64_t hash;
    _Atomic uint32_t is_ready;
    char text[RANGE_TEXT_BYTES + 1];
} domains[RANGE_DOMAINS]; // 0: the default; the last one: "(more domains)"

static uint64_t mix(uint64_t hash, uint8_t byte)
{
    hash = (hash ^ byte) * HASH_PRIME;
    return hash ^ hash >> 32;
}

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static int is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

// The text with its numbers as '#' (but a single digit behind a letter, as in "conv1") and without
// control characters, into `out`, and its hash.
static uint64_t cut(uint64_t hash, const char *text, char *out)
{
    size_t n = 0;
    char before = 0;
    while (*text && n < RANGE_TEXT_BYTES) {
        char c = *text++;
        if (is_digit(c) && (is_digit(*text) || !is_letter(before))) {
            while (is_digit(*text))
                text++;
            c = '#';
        } else if ((unsigned char)c < ' ' || c == 0x7f) {
            c = '?';
        }
        hash = mix(hash, (uint8_t)c);
        out[n++] = before = c;
    }
    out[n] = 0;
    return hash ? hash : 1;
}

void range_text_narrow(const wchar_t *text, char *out)
{
    size_t n = 0;
    for (; text && *text && n + 4 <= RANGE_TEXT_BYTES; text++) {
        const uint32_t c = (uint32_t)*text;
        if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c < 0x800) {
            out[n++] = (char)(0xc0 | c >> 6);
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000 && (c < 0xd800 || c > 0xdfff)) {
            out[n++] = (char)(0xe0 | c >> 12);
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c >= 0x10000 && c < 0x110000) {
            out[n++] = (char)(0xf0 | c >> 18);
            out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            out[n++] = '?';
        }
    }
    out[n] = 0;
}

// ---- Domains. ----

uint16_t range_domain(const char *name)
{
    char text[RANGE_TEXT_BYTES + 1];
    if (!name || !*name)
        return 0;
    const uint64_t hash = cut(HASH_SEED, name, text);
    for (uint16_t i = 1; i < RANGE_DOMAINS - 1; i++) {
        uint64_t found = 0;
        if (!atomic_compare_exchange_strong(&domains[i].hash, &found, hash) && found != hash)
            continue;
        if (!atomic_load_explicit(&domains[i].is_ready, memory_order_acquire)) {
            memcpy(domains[i].text, text, strlen(text) + 1);
            atomic_store_explicit(&domains[i].is_ready, 1, memory_order_release);
        }
        return i;
    }
    return RANGE_DOMAINS - 1;
}

uint16_t range_domain_wide(const wchar_t *name)
{
    char text[RANGE_TEXT_BYTES + 1];
    range_text_narrow(name, text);
    return range_domain(text);
}

static const char *domain_text(uint16_t domain)
{
    return domain == RANGE_DOMAINS - 1 ? "(more domains)" : domains[domain].text;
}

// ---- Names. ----

static int is_ready(const struct range_name *n)
{
    return atomic_load_explicit(&n->is_ready, memory_order_acquire) != 0;
}

// The slot of `hash`, claimed where `may_claim` says so; to be filled by the caller unless it is
// ready. NULL: there is none, or the table is full.
static struct range_name *slot_of(uint64_t hash, int may_claim)
{
    for (uint64_t i = 0; i < SLOTS; i++) {
        struct range_name *n = &table[(hash + i) % SLOTS];
        uint64_t found = atomic_load_explicit(&n->hash, memory_order_relaxed);
        if (!found) {
            if (!may_claim)
                return NULL;
            if (atomic_compare_exchange_strong(&n->hash, &found, hash))
                return n;
        }
        if (found == hash)
            return n;
    }
    return NULL;
}

static void fill(struct range_name *n, uint16_t domain, const char *shown, struct range_choice c)
{
    char full[2 * RANGE_TEXT_BYTES + 2];
    n->domain = domain;
    n->use = (uint8_t)c.use;
    if (c.use == RANGE_STAGE) {
        snprintf(full, sizeof full, "%s%s%s", domain_text(domain), domain ? ":" : "", shown);
        // Two may have got a number each: the first one counts, as a range's end compares it.
        uint16_t none = 0;
        atomic_compare_exchange_strong(
            &n->id, &none, names_intern(full, c.stage, TRACE_CAUSE_OTHER));
    }
    atomic_store_explicit(&n->is_ready, 1, memory_order_release);
}

// The entry of `hash`, made where there is none. Never NULL.
static const struct range_name *entry_of(
    uint64_t hash, uint16_t domain, const char *shown, struct range_choice c)
{
    struct range_name *n = slot_of(hash, 1);
    if (n && !is_ready(n))
        fill(n, domain, shown, c);
    return n ? n : &nothing;
}

// The table has its share of names: one stands for all of a domain and a stage that come now.
static const struct range_name *find_more(uint16_t domain, struct range_choice c)
{
    char unused[RANGE_TEXT_BYTES + 1];
    const char *stage = c.is_own_name ? "other" : c.stage;
    const uint64_t seed = mix(mix(mix(HASH_SEED, 0xff), (uint8_t)c.use), (uint8_t)domain);
    return entry_of(
        cut(seed, stage, unused), domain, "(more names)", (struct range_choice){c.use, stage, 0});
}

const struct range_name *range_name(uint16_t domain, const char *text)
{
    char shown[RANGE_TEXT_BYTES + 1];
    const uint64_t hash = cut(mix(HASH_SEED, (uint8_t)domain), text ? text : "", shown);
    const struct range_name *n = slot_of(hash, 0);
    if (__builtin_expect(n && is_ready(n), 1))
        return n;
    if (!agent_thread_open()) // nothing is named before recording is on
        return &nothing;
    range_rules_shorten(shown);
    const struct range_choice c = range_rules_choose(domain_text(domain), shown);
    if (!n && atomic_fetch_add(&name_count, 1) >= RANGE_NAMES_LIMIT) {
        atomic_store(&name_count, RANGE_NAMES_LIMIT);
        return find_more(domain, c);
    }
    return entry_of(hash, domain, shown, c);
}

const struct range_name *range_name_wide(uint16_t domain, const wchar_t *text)
{
    char narrow[RANGE_TEXT_BYTES + 1];
    range_text_narrow(text, narrow);
    return range_name(domain, narrow);
}

const struct range_name *range_name_none(void)
{
    return &nothing;
}

const struct range_name *range_name_frame(uint16_t domain)
{
    return range_name(domain, "frame");
}

const struct range_name *range_name_check(const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer - (uintptr_t)table;
    const int is_entry = at < sizeof table && at % sizeof *table == 0;
    if (!is_entry)
        return pointer == &nothing ? &nothing : NULL;
    return atomic_load_explicit(&table[at / sizeof *table].is_ready, memory_order_acquire)
               ? &table[at / sizeof *table]
               : NULL;
}

void range_name_set_async(const struct range_name *name)
{
    const uintptr_t at = (uintptr_t)name - (uintptr_t)table;
    if (at < sizeof table)
        atomic_store_explicit(&table[at / sizeof *table].is_async, 1, memory_order_relaxed);
}

unsigned range_name_count(void)
{
    return atomic_load(&name_count);
}
