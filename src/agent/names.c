// SPDX-License-Identifier: Apache-2.0
// Name table: a fixed array of entries and an open-addressing index of 16-bit numbers, both filled
// with atomics only. Two threads that intern one name at once may both get a number for it; both
// numbers are valid and mean the same text. Strings live in a fixed pool.
#include "agent/names.h"

#include "agent/process.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(AGENT_NAMES == NAMES_LIMIT, "a flag for each name");

#define INDEX_SLOTS (NAMES_LIMIT * 2u)
#define POOL_BYTES (256u << 10)
#define TEXT_LIMIT_BYTES 200u

struct entry {
    uint64_t hash;
    const char *name, *stage;
    uint32_t cause;
};

static struct entry entries[NAMES_LIMIT];
static _Atomic uint16_t slots[INDEX_SLOTS];
static _Atomic uint32_t entry_count = 2; // 0: none, 1: overflow
static char pool[POOL_BYTES];
static _Atomic uint32_t pool_used_bytes;

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (size_t i = 0; text[i] && i < TEXT_LIMIT_BYTES; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

static const char *keep(const char *text)
{
    uint32_t length_bytes = (uint32_t)strnlen(text, TEXT_LIMIT_BYTES);
    uint32_t at = atomic_fetch_add(&pool_used_bytes, length_bytes + 1);
    if (at + length_bytes + 1 > POOL_BYTES)
        return NULL;
    memcpy(pool + at, text, length_bytes);
    pool[at + length_bytes] = 0;
    return pool + at;
}

static void write_name(uint16_t id)
{
    const char *parts[] = {entries[id].name, entries[id].stage};
    process_text(TRACE_TEXT_NAME, id, 0, entries[id].cause, parts, 2);
}

static uint16_t add_entry(uint64_t hash, const char *name, const char *stage, uint32_t cause)
{
    uint32_t id = atomic_fetch_add(&entry_count, 1);
    if (id >= NAMES_LIMIT) {
        atomic_store(&entry_count, NAMES_LIMIT);
        return 1;
    }
    const char *kept_name = keep(name), *kept_stage = keep(stage);
    if (!kept_name || !kept_stage)
        return 1;
    entries[id] = (struct entry){hash, kept_name, kept_stage, cause};
    write_name((uint16_t)id);
    return (uint16_t)id;
}

static int is_entry(uint16_t id, uint64_t hash, const char *name, const char *stage)
{
    const struct entry *e = &entries[id];
    return e->hash == hash && strncmp(e->name, name, TEXT_LIMIT_BYTES) == 0 &&
           strncmp(e->stage, stage, TEXT_LIMIT_BYTES) == 0;
}

uint16_t names_intern(const char *name, const char *stage, uint32_t cause)
{
    uint64_t hash = hash_text(hash_text(0xcbf29ce484222325u, name), stage);
    uint16_t added = 0;
    for (uint32_t i = 0; i < INDEX_SLOTS; i++) {
        _Atomic uint16_t *slot = &slots[(hash + i) % INDEX_SLOTS];
        uint16_t id = atomic_load_explicit(slot, memory_order_acquire);
        if (!id) {
            if (!added)
                added = add_entry(hash, name, stage, cause);
            if (added == 1 || atomic_compare_exchange_strong(slot, &id, added))
                return added;
        }
        if (is_entry(id, hash, name, stage))
            return id;
    }
    return 1;
}

// 0: not asked for yet; NO_TEAM: it has none.
#define NO_TEAM UINT16_MAX
static _Atomic uint16_t teams[NAMES_LIMIT];

static uint16_t add_team(uint16_t id)
{
    char text[TEXT_LIMIT_BYTES];
    const struct entry *e = &entries[id];
    if (!e->name || strcmp(e->stage, "wait") == 0)
        return NO_TEAM;
    if (e->cause & TRACE_NAME_TEAM)
        return id;
    static const char tail[] = " (team)";
    size_t length_bytes = strnlen(e->name, sizeof text - sizeof tail);
    memcpy(text, e->name, length_bytes);
    memcpy(text + length_bytes, tail, sizeof tail);
    const uint16_t team =
        names_intern(text, e->stage, (uint32_t)TRACE_CAUSE_OTHER | TRACE_NAME_TEAM);
    return team > 1 ? team : NO_TEAM;
}

uint16_t names_of_team(uint16_t id)
{
    if (id >= NAMES_LIMIT)
        return 0;
    uint16_t team = atomic_load_explicit(&teams[id], memory_order_relaxed);
    if (!team) {
        team = add_team(id);
        atomic_store_explicit(&teams[id], team, memory_order_relaxed);
    }
    return team == NO_TEAM ? 0 : team;
}

const char *names_stage(uint16_t id)
{
    return id < NAMES_LIMIT && entries[id].stage ? entries[id].stage : "";
}

void names_write_all(void)
{
    static const char *const overflow[] = {"(more names)", "other"};
    process_text(TRACE_TEXT_NAME, 1, 0, 0, overflow, 2);
    uint32_t count = atomic_load(&entry_count);
    for (uint32_t id = 2; id < count && id < NAMES_LIMIT; id++) {
        if (entries[id].name)
            write_name((uint16_t)id);
    }
}
