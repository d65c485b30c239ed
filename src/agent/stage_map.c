// SPDX-License-Identifier: Apache-2.0
// Matches symbols against the stage map, decides what may be mapped, and hands out the trampolines
// of stage_map_call.c. Only functions are mapped that are not in the table of stage_map_never.c.
// Does not write slots. Threads: the scan's, one at a time; the report reads counts.
#include "agent/stage_map.h"

#include "agent/config.h"
#include "agent/names.h"
#include "agent/process.h"
#include "agent/stage_map_call.h"
#include "agent/stage_map_frame.h"
#include "agent/stage_map_never.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_BYTES 256
#define WHY_BYTES 640

static struct {
    char patterns[CONFIG_MAPS][2][PATTERN_BYTES]; // of the symbol; second: as a C++ free function
    _Atomic uint32_t matches[CONFIG_MAPS];
    _Atomic uint32_t left_out[CONFIG_MAPS]; // 1 << enum stage_map_never
    int has_libraries, is_possible;
    _Atomic uint32_t thunk_count;
} map;

// "a::b::c" -> "_ZN1a1b1cE*": how the Itanium ABI begins the symbol of such a function. Of a part
// with a wildcard the length is not known.
static void mangle(const char *pattern, char *out)
{
    int at = snprintf(out, PATTERN_BYTES, "_ZN");
    while (*pattern && at < PATTERN_BYTES) {
        const char *end = strstr(pattern, "::");
        int length = end ? (int)(end - pattern) : (int)strlen(pattern);
        char number[16] = "*";
        if (!memchr(pattern, '*', (size_t)length) && !memchr(pattern, '?', (size_t)length))
            snprintf(number, sizeof number, "%d", length);
        at += snprintf(out + at, (size_t)(PATTERN_BYTES - at), "%s%.*s", number, length, pattern);
        pattern += length + (end ? 2 : 0);
    }
    if (at < PATTERN_BYTES)
        snprintf(out + at, (size_t)(PATTERN_BYTES - at), "E*");
}

// "_ZN1a1bE..." -> "a::b", "_Z1fi" -> "f"; anything else as it is.
static const char *readable(const char *symbol, char *out)
{
    const char *at = symbol + (strncmp(symbol, "_ZN", 3) == 0 ? 3 : 2);
    int length = 0;
    if (strncmp(symbol, "_Z", 2) != 0)
        return symbol;
    while (*at >= '1' && *at <= '9') {
        char *name;
        long count = strtol(at, &name, 10);
        if (count > (long)strlen(name) || length + count + 3 > PATTERN_BYTES)
            return symbol;
        length += snprintf(out + length, (size_t)(PATTERN_BYTES - length), "%s%.*s",
            length ? "::" : "", (int)count, name);
        at = name + count;
        if (symbol[2] != 'N')
            break;
    }
    return length ? out : symbol;
}

void stage_map_start(void)
{
    if (config.map_count)
        map.is_possible = elf_object_index_open() == 0 && stage_map_call_open() == 0;
    for (int i = 0; i < config.map_count; i++) {
        const struct config_map *m = &config.maps[i];
        map.has_libraries |= m->is_library;
        if (strstr(m->pattern, "::"))
            mangle(m->pattern, map.patterns[i][0]);
        else
            snprintf(map.patterns[i][0], PATTERN_BYTES, "%s", m->pattern);
        if (!strpbrk(m->pattern, "*?:"))
            snprintf(map.patterns[i][1], PATTERN_BYTES, "_Z%zu%s*", strlen(m->pattern), m->pattern);
    }
}

static int match_function(const char *symbol)
{
    for (int i = 0; i < config.map_count; i++) {
        if (!config.maps[i].is_library && (config_matches(map.patterns[i][0], symbol) ||
                                              config_matches(map.patterns[i][1], symbol)))
            return i;
    }
    return -1;
}

static int match_library(const char *file)
{
    for (int i = 0; i < config.map_count && *file; i++) {
        if (config.maps[i].is_library && config_matches(config.maps[i].pattern, file))
            return i;
    }
    return -1;
}

int stage_map_is_wanted(const char *symbol)
{
    return map.is_possible && (map.has_libraries || match_function(symbol) >= 0);
}

static void *add_thunk(const char *symbol, void *original, int entry)
{
    uint32_t count = atomic_load(&map.thunk_count);
    for (uint32_t i = 0; i < count; i++) {
        if (stage_map_thunks[i].original == original && stage_map_thunks[i].entry == entry)
            return stage_map_call_stub(i);
    }
    if (count == STAGE_MAP_THUNKS)
        return NULL;
    char shown[PATTERN_BYTES];
    stage_map_thunks[count].original = original;
    stage_map_thunks[count].name =
        names_intern(readable(symbol, shown), config.maps[entry].stage, TRACE_CAUSE_OTHER);
    stage_map_thunks[count].entry = (uint16_t)entry;
    atomic_store(&map.thunk_count, count + 1);
    return stage_map_call_stub(count);
}

// `file` and `owner` are of the object that the slot leads to; NULL: none.
static enum stage_map_never why_not(
    const struct stage_map_slot *slot, const char *file, const struct elf_object *owner)
{
    enum stage_map_never why = stage_map_never(slot->symbol, file ? file : "");
    if (why)
        return why;
    if (!slot->original)
        return NEVER_AMBIGUOUS;
    if (!file || !elf_object_has_function(owner, slot->symbol, slot->original))
        return NEVER_DATA;
    int is_called = slot->is_call_slot || elf_object_only_calls(slot->caller, slot->address);
    return is_called ? NEVER_NOT : NEVER_VALUE;
}

void *stage_map_thunk(const struct stage_map_slot *slot)
{
    struct elf_object owner;
    void *original = (void *)slot->original, *thunk = NULL;
    if (stage_map_call_is_stub(original))
        return NULL;
    const char *file = original ? elf_object_owner(slot->original, &owner) : NULL;
    int entry = match_function(slot->symbol);
    if (entry < 0)
        entry = match_library(file ? file : "");
    if (entry < 0)
        return NULL;
    enum stage_map_never why = why_not(slot, file, &owner);
    if (!why && !(thunk = add_thunk(slot->symbol, original, entry)))
        why = NEVER_FULL;
    if (why)
        atomic_fetch_or(&map.left_out[entry], 1u << why);
    else
        atomic_fetch_add(&map.matches[entry], 1);
    return thunk;
}

void stage_map_forget(void)
{
    stage_map_frame_forget();
    elf_object_calls_forget();
}

static uint32_t count_passed_on(int entry)
{
    uint32_t calls = 0;
    for (uint32_t i = 0; i < atomic_load(&map.thunk_count); i++) {
        if (stage_map_thunks[i].entry == entry)
            calls += atomic_load(&stage_map_thunks[i].passed_on);
    }
    return calls;
}

static __attribute__((format(printf, 2, 3))) void append(char *text, const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + length, WHY_BYTES - length, format, arguments);
    va_end(arguments);
}

static void describe(int entry, char *why)
{
    uint32_t matches = atomic_load(&map.matches[entry]), passed_on = count_passed_on(entry);
    uint32_t left_out = atomic_load(&map.left_out[entry]);
    if (!map.is_possible)
        append(why, "stage maps need x86-64 and glibc 2.35; use marks (lightmeter/mark.h)");
    else if (matches)
        append(why, "%u call sites, as stage %s", (unsigned)matches, config.maps[entry].stage);
    else if (!left_out)
        append(why, "no call of it passes a PLT slot: a call within one object cannot be caught; "
                    "use a mark (LM_STAGE) there");
    if (passed_on)
        append(why, "; %u calls were not recorded, from frames over %d KiB or without unwind table",
            (unsigned)passed_on, STAGE_MAP_FRAME_LIMIT_KIB);
    for (int i = 1, is_first = 1; i < NEVER_COUNT; i++) {
        if (!(left_out & 1u << i))
            continue;
        const char *lead = !is_first ? ", " : matches ? "; never mapped: " : "never mapped: ";
        append(why, "%s%s", lead, stage_map_never_text((enum stage_map_never)i));
        is_first = 0;
    }
}

void stage_map_report(void)
{
    for (int i = 0; i < config.map_count; i++) {
        char why[WHY_BYTES] = "";
        const char *status = atomic_load(&map.matches[i]) ? "covered" : "uninstrumented";
        describe(i, why);
        const char *parts[] = {config.maps[i].pattern, "stage-map", status, why};
        process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
    }
}
