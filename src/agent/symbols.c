// SPDX-License-Identifier: Apache-2.0
// The symbol table of the hooks: open addressing over a fixed array, with a small filter in front,
// since a big program has hundreds of thousands of relocations and few of them are ours. Filled
// once.
#include "agent/symbols.h"

#include "agent/config.h"

#include <string.h>

#define FILTER_BITS 65536u
#define NAME_LIMIT_BYTES 512u

static struct symbols_hit table[SYMBOLS_SLOTS];
static uint64_t filter[FILTER_BITS / 64];

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

// From the first twelve bytes only: cheap for the many names that are not ours.
static uint32_t filter_bit(const char *name)
{
    uint32_t hash = 5381;
    for (int i = 0; i < 12 && name[i]; i++)
        hash = hash * 33 + (uint8_t)name[i];
    return (hash ^ hash >> 16) % FILTER_BITS;
}

static void add_function(const struct hook_function *function, int set)
{
    uint32_t at = hash_name(function->symbol) % SYMBOLS_SLOTS;
    while (table[at].function)
        at = (at + 1) % SYMBOLS_SLOTS;
    table[at] = (struct symbols_hit){function, set};
    uint32_t bit = filter_bit(function->symbol);
    filter[bit / 64] |= (uint64_t)1 << bit % 64;
}

void symbols_fill(void)
{
    for (int set = 0; hook_sets[set]; set++) {
        const struct hook_set *s = hook_sets[set];
        if (config_is_off(s->name)) {
            if (s->is_off)
                *s->is_off = 1;
            continue;
        }
        for (const struct hook_function *f = s->functions; f && f->symbol; f++)
            if (f->thunks)
                add_function(f, set);
    }
}

// cv::dnn::dnn4_v20220524::X is looked up as cv::dnn::X: the version changes with each release.
static const char *without_version(const char *name, char *out)
{
    static const char head[] = "_ZN2cv3dnn";
    static const char space[] = "14dnn4_v", later[] = "14dnn5_v";
    const size_t head_length = sizeof head - 1, skip = 16;
    if (strncmp(name, head, head_length) != 0)
        return name;
    const char *rest = name + head_length;
    if (strncmp(rest, space, sizeof space - 1) != 0 && strncmp(rest, later, sizeof later - 1) != 0)
        return name;
    size_t length = strlen(name);
    if (length < head_length + skip || length >= NAME_LIMIT_BYTES)
        return name;
    memcpy(out, name, head_length);
    memcpy(out + head_length, rest + skip, length - head_length - skip + 1);
    return out;
}

struct symbols_hit symbols_find(const char *name)
{
    char plain[NAME_LIMIT_BYTES];
    name = without_version(name, plain);
    uint32_t bit = filter_bit(name);
    if (!(filter[bit / 64] >> bit % 64 & 1))
        return (struct symbols_hit){NULL, -1};
    uint32_t at = hash_name(name) % SYMBOLS_SLOTS;
    for (; table[at].function; at = (at + 1) % SYMBOLS_SLOTS) {
        if (strcmp(table[at].function->symbol, name) == 0)
            return table[at];
    }
    return (struct symbols_hit){NULL, -1};
}
