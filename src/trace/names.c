// SPDX-License-Identifier: Apache-2.0
// Makes and parses the names in a run directory without any library. Called by the drain for every
// directory entry, and by the preloaded library. Does not touch files. Threads: no state.
#include "trace/names.h"

// How many numbers follow each prefix, in the order of enum trace_name_kind.
static const struct {
    char prefix[8];
    int numbers;
} shapes[] = {
    [TRACE_NAME_FOREIGN] = {"", 0},
    [TRACE_NAME_SEGMENT] = {"s", 4},
    [TRACE_NAME_PROCESS] = {"p", 2},
    [TRACE_NAME_FREE] = {"free", 2},
    [TRACE_NAME_NEW] = {"new", 1},
};

static const char *const fixed[] = {
    [TRACE_NAME_META] = "meta.json",
    [TRACE_NAME_DONE] = "done",
    [TRACE_NAME_CONFIG] = "config",
    [TRACE_NAME_CONTROL] = "control",
};

static char *put_text(char *out, const char *text)
{
    while (*text)
        *out++ = *text++;
    return out;
}

static char *put_hex(char *out, uint64_t value)
{
    int shift = 60;
    while (shift > 0 && !(value >> shift))
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *out++ = "0123456789abcdef"[(value >> shift) & 15];
    return out;
}

static void numbers_get(const struct trace_name *n, uint64_t numbers[4])
{
    numbers[0] = n->pid;
    numbers[1] = n->image_ticks;
    numbers[2] = n->thread_seq;
    numbers[3] = n->segment_seq;
    if (n->kind == TRACE_NAME_FREE) {
        numbers[0] = n->length_bytes;
        numbers[1] = n->number;
    } else if (n->kind == TRACE_NAME_NEW) {
        numbers[0] = n->number;
    }
}

char *trace_name_format(char *text, const struct trace_name *n)
{
    char *out = text;
    if (n->kind >= TRACE_NAME_META) {
        out = put_text(out, fixed[n->kind]);
    } else {
        uint64_t numbers[4];
        numbers_get(n, numbers);
        out = put_text(out, shapes[n->kind].prefix);
        for (int i = 0; i < shapes[n->kind].numbers; i++) {
            *out++ = '-';
            out = put_hex(out, numbers[i]);
        }
    }
    *out = 0;
    return text;
}

// Whether `text` begins with `prefix`; its rest, or NULL.
static const char *skip_text(const char *text, const char *prefix)
{
    while (*prefix)
        if (*text++ != *prefix++)
            return NULL;
    return text;
}

// One hexadecimal number without leading zeros; the rest, or NULL.
static const char *take_hex(const char *text, uint64_t *value)
{
    const char *begin = text;
    *value = 0;
    for (;; text++) {
        uint64_t digit;
        if (*text >= '0' && *text <= '9')
            digit = (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            digit = (uint64_t)(*text - 'a') + 10;
        else
            break;
        if (*value >> 60)
            return NULL;
        *value = *value << 4 | digit;
    }
    if (text == begin || (*begin == '0' && text - begin > 1))
        return NULL;
    return text;
}

static int take_numbers(const char *text, int count, uint64_t numbers[4])
{
    for (int i = 0; i < count && text; i++)
        text = *text == '-' ? take_hex(text + 1, &numbers[i]) : NULL;
    return text && *text == 0;
}

// Fills the fields of `n` (whose kind is set); 0 when a number is too large for its field.
static int numbers_put(struct trace_name *n, const uint64_t numbers[4])
{
    if (n->kind == TRACE_NAME_FREE) {
        n->length_bytes = (uint32_t)numbers[0];
        n->number = (uint32_t)numbers[1];
        return numbers[0] <= UINT32_MAX && numbers[1] <= UINT32_MAX;
    }
    if (n->kind == TRACE_NAME_NEW) {
        n->number = (uint32_t)numbers[0];
        return numbers[0] <= UINT32_MAX;
    }
    n->pid = (uint32_t)numbers[0];
    n->image_ticks = numbers[1];
    n->thread_seq = (uint32_t)numbers[2];
    n->segment_seq = (uint32_t)numbers[3];
    return numbers[0] <= UINT32_MAX && numbers[2] <= UINT32_MAX && numbers[3] <= UINT32_MAX;
}

struct trace_name trace_name_parse(const char *text)
{
    const struct trace_name foreign = {.kind = TRACE_NAME_FOREIGN};
    for (int kind = TRACE_NAME_META; kind <= TRACE_NAME_CONTROL; kind++) {
        const char *rest = skip_text(text, fixed[kind]);
        if (rest && *rest == 0)
            return (struct trace_name){.kind = (enum trace_name_kind)kind};
    }
    for (int kind = TRACE_NAME_SEGMENT; kind <= TRACE_NAME_NEW; kind++) {
        uint64_t numbers[4] = {0};
        struct trace_name n = {.kind = (enum trace_name_kind)kind};
        const char *rest = skip_text(text, shapes[kind].prefix);
        if (rest && take_numbers(rest, shapes[kind].numbers, numbers))
            return numbers_put(&n, numbers) ? n : foreign;
    }
    return foreign;
}
