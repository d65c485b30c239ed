// SPDX-License-Identifier: Apache-2.0
// Reads the row of an .eh_frame table that holds for a call site, as far as it says where the
// caller's frame ends (the CFA). What compilers write is understood: a register and an offset, or
// such an address read from the stack (realigned frames); anything else counts as unknown. A call
// site is looked up once; a word of the cache holds both its address and its rule. Threads: any.
#include "agent/stage_map_frame.h"

#include "agent/elf_object.h"

#include <stdatomic.h>
#include <string.h>

#define SITES 4096u // a power of two
#define REMEMBERED 8
#define DEREF_LIMIT_BYTES (1u << 20) // an address in the frame lies no further from its start

// DWARF's opcodes and encodings, as far as they are met in .eh_frame.
enum { CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0 };
enum { ENCODED_ABSOLUTE = 0, ENCODED_UDATA4 = 3, ENCODED_TABLE = 0x3b, ENCODED_RELATIVE = 0x10 };

struct cursor {
    const uint8_t *at, *end;
    int is_bad;
};

// Where a frame ends: *(register + offset) or the sum itself. `number` -1: not known.
struct cfa {
    int number; // enum stage_map_register
    int is_deref;
    int64_t offset;
};

struct table {
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;
    int is_augmented, is_signal;
    struct cursor start;
};

static _Atomic uint64_t sites[SITES];

void stage_map_frame_forget(void)
{
    for (size_t i = 0; i < SITES; i++)
        atomic_store_explicit(&sites[i], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static uint64_t take(struct cursor *c, size_t length)
{
    uint64_t value = 0;
    if (c->is_bad || (size_t)(c->end - c->at) < length) {
        c->is_bad = 1;
        return 0;
    }
    memcpy(&value, c->at, length);
    c->at += length;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 63 && !c->is_bad; shift += 7) {
        byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
    }
    c->is_bad |= (byte & 0x80) != 0;
    return value;
}

static int64_t take_sleb(struct cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && shift < 63 && !c->is_bad; shift += 7) {
        byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
    }
    c->is_bad |= (byte & 0x80) != 0;
    if (byte & 0x40 && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static void skip(struct cursor *c, uint64_t length)
{
    if (c->is_bad || (uint64_t)(c->end - c->at) < length)
        c->is_bad = 1;
    else
        c->at += length;
}

// How long a pointer of that encoding is; 0: not one that is met here.
static size_t pointer_bytes(uint8_t encoding)
{
    static const uint8_t lengths[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0};
    return lengths[encoding & 0x0f];
}

static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
    uintptr_t place = (uintptr_t)c->at;
    size_t length = pointer_bytes(encoding);
    uint64_t value = take(c, length);
    if (!length || (encoding & 0xf0 && (encoding & 0xf0) != ENCODED_RELATIVE))
        c->is_bad = 1;
    if (encoding & 0x08 && length == 4)
        value = (uint64_t)(int32_t)value;
    else if (encoding & 0x08 && length == 2)
        value = (uint64_t)(int16_t)value;
    return encoding & ENCODED_RELATIVE ? value + place : value;
}

// The register of a DWARF number, -1 for those that do not outlive a call.
static int register_of(uint64_t dwarf)
{
    static const int8_t numbers[16] = {-1, -1, -1, FRAME_RBX, -1, -1, FRAME_RBP, FRAME_RSP, -1, -1,
        -1, -1, FRAME_R12, FRAME_R13, FRAME_R14, FRAME_R15};
    return dwarf < 16 ? numbers[dwarf] : -1;
}

// An entry's contents behind its length.
static struct cursor entry_at(const uint8_t *at)
{
    struct cursor c = {at, at + 4, 0};
    uint64_t length = take(&c, 4);
    c.is_bad = length < 4 || length == 0xffffffff;
    c.end = c.is_bad ? c.at : c.at + length;
    return c;
}

static void read_augmentation(struct table *t, struct cursor *c, const char *letters)
{
    t->is_augmented = 1;
    uint64_t length = take_uleb(c);
    struct cursor data = *c;
    skip(c, length);
    for (; *letters && !data.is_bad; letters++) {
        if (*letters == 'R')
            t->encoding = (uint8_t)take(&data, 1);
        else if (*letters == 'P')
            skip(&data, pointer_bytes((uint8_t)take(&data, 1)));
        else if (*letters == 'L')
            take(&data, 1);
        else if (*letters == 'S')
            t->is_signal = 1;
        else
            data.is_bad = 1;
    }
    c->is_bad |= data.is_bad;
}

// The common entry (CIE): how those that refer to it are to be read.
static int read_common(struct table *t, const uint8_t *at)
{
    struct cursor c = entry_at(at);
    uint64_t id = take(&c, 4), version = take(&c, 1);
    const char *letters = (const char *)c.at;
    size_t length = c.is_bad ? 0 : strnlen(letters, (size_t)(c.end - c.at));
    skip(&c, length + 1);
    *t = (struct table){.code_align = take_uleb(&c)};
    t->data_align = take_sleb(&c);
    if (version == 1)
        take(&c, 1);
    else
        take_uleb(&c);
    if (c.is_bad || id || (version != 1 && version != 3))
        return -1;
    if (*letters == 'z')
        read_augmentation(t, &c, letters + 1);
    else if (*letters)
        return -1;
    t->start = c;
    return c.is_bad || t->is_signal ? -1 : 0;
}

// `reg + n`, or `*(reg + n)`: of the expressions, those of frames that were realigned.
static struct cfa take_expression(struct cursor *c)
{
    uint64_t length = take_uleb(c);
    struct cursor e = *c;
    skip(c, length);
    e.end = c->is_bad ? e.at : c->at;
    uint64_t operation = take(&e, 1);
    struct cfa cfa = {operation >= 0x70 ? register_of(operation - 0x70) : -1, 0, take_sleb(&e)};
    int is_more = !e.is_bad && e.at < e.end;
    if (is_more)
        cfa.is_deref = take(&e, 1) == 0x06;
    if (e.is_bad || e.at != e.end || is_more != cfa.is_deref)
        cfa.number = -1;
    return cfa;
}

// An instruction that is about other registers: its operands are passed over.
static void skip_operands(struct cursor *c, uint64_t operation)
{
    switch (operation) {
    case 0x00: // nop
        break;
    case 0x06: // restore_extended, undefined, same_value, GNU_args_size
    case 0x07:
    case 0x08:
    case 0x2e:
        take_uleb(c);
        break;
    case 0x05: // offset_extended, register, offset_extended_sf, val_offset, ..., _sf, GNU_negative
    case 0x09:
    case 0x11:
    case 0x14:
    case 0x15:
    case 0x2f:
        take_uleb(c);
        take_uleb(c); // signed ones are as long
        break;
    case 0x10: // expression, val_expression
    case 0x16:
        take_uleb(c);
        skip(c, take_uleb(c));
        break;
    default:
        c->is_bad = 1;
    }
}

static void define(struct cfa *cfa, struct cursor *c, const struct table *t, uint64_t operation)
{
    int is_signed = operation == 0x12 || operation == 0x13; // def_cfa_sf, def_cfa_offset_sf
    int is_whole = operation == 0x0c || operation == 0x12;  // def_cfa, def_cfa_sf
    int was_deref = cfa->is_deref;
    if (is_whole || operation == 0x0d) // def_cfa_register
        cfa->number = register_of(take_uleb(c));
    if (operation != 0x0d)
        cfa->offset = is_signed ? take_sleb(c) * t->data_align : (int64_t)take_uleb(c);
    if (is_whole)
        cfa->is_deref = 0;
    else if (was_deref)
        cfa->number = -1; // changes half of a rule that has no halves
}

struct run {
    struct cfa cfa, remembered[REMEMBERED];
    int depth;
    uint64_t pc, wanted;
};

// Runs the instructions up to the row that holds for r->wanted.
static void run_program(struct run *r, struct cursor *c, const struct table *t)
{
    while (c->at < c->end && !c->is_bad && r->pc <= r->wanted) {
        uint64_t operation = take(c, 1), high = operation & 0xc0, low = operation & 0x3f;
        if (high == CFA_ADVANCE)
            r->pc += low * t->code_align;
        else if (high == CFA_OFFSET)
            take_uleb(c);
        else if (high == CFA_RESTORE)
            continue;
        else if (operation == 0x01)
            r->pc = take_pointer(c, t->encoding);
        else if (operation >= 0x02 && operation <= 0x04)
            r->pc += take(c, (size_t)1 << (operation - 2)) * t->code_align;
        else if (operation == 0x0a && r->depth < REMEMBERED)
            r->remembered[r->depth++] = r->cfa;
        else if (operation == 0x0b && r->depth > 0)
            r->cfa = r->remembered[--r->depth];
        else if (operation == 0x0f)
            r->cfa = take_expression(c);
        else if (operation >= 0x0c && operation <= 0x13 && operation != 0x10 && operation != 0x11)
            define(&r->cfa, c, t, operation);
        else
            skip_operands(c, operation);
    }
    if (c->is_bad)
        r->cfa.number = -1;
}

// The entry (FDE) of the function around `pc` in the sorted table of PT_GNU_EH_FRAME; NULL: none.
static const uint8_t *find_entry(const uint8_t *header, uintptr_t pc)
{
    uint32_t count;
    if (!header || header[0] != 1 || pointer_bytes(header[1]) != 4 || header[2] != ENCODED_UDATA4 ||
        header[3] != ENCODED_TABLE)
        return NULL;
    memcpy(&count, header + 8, sizeof count);
    const int32_t(*rows)[2] = (const void *)(header + 12);
    int64_t wanted = (int64_t)(pc - (uintptr_t)header);
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows[middle][0] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? header + rows[low - 1][1] : NULL;
}

static struct cfa look_up(uintptr_t pc)
{
    const struct cfa unknown = {-1, 0, 0};
    struct table t;
    const uint8_t *entry = find_entry(elf_object_unwind_table(pc), pc);
    if (!entry)
        return unknown;
    struct cursor c = entry_at(entry);
    const uint8_t *here = c.at;
    uint64_t back = take(&c, 4);
    if (c.is_bad || !back || read_common(&t, here - back) < 0)
        return unknown;
    uint64_t start = take_pointer(&c, t.encoding);
    uint64_t length = take_pointer(&c, t.encoding & 0x0f);
    if (t.is_augmented)
        skip(&c, take_uleb(&c));
    if (c.is_bad || pc < start || pc - start >= length)
        return unknown;
    struct run r = {.cfa = unknown, .pc = start, .wanted = pc};
    run_program(&r, &t.start, &t);
    r.pc = start;
    run_program(&r, &c, &t);
    return r.cfa;
}

// A rule in 29 bits: the offset, the register, whether it is read from there; 0: unknown.
static uint64_t pack(const struct cfa *cfa)
{
    if (cfa->number < 0 || cfa->offset < -(1 << 22) || cfa->offset >= 1 << 22)
        return 0;
    return (uint64_t)(cfa->offset & 0xffffff) << 5 | (uint64_t)cfa->number << 2 |
           (uint64_t)cfa->is_deref << 1 | 1;
}

static uint64_t rule_of(uintptr_t pc)
{
    _Atomic uint64_t *site = &sites[pc % SITES];
    uint64_t known = atomic_load_explicit(site, memory_order_relaxed), tag = pc / SITES;
    if (known && known >> 29 == tag)
        return known & 0x1fffffff;
    struct cfa cfa = look_up(pc);
    uint64_t rule = pack(&cfa);
    if (tag >> 35 == 0)
        atomic_store_explicit(site, tag << 29 | rule, memory_order_relaxed);
    return rule;
}

size_t stage_map_frame_bytes(const uintptr_t *registers)
{
    uintptr_t stack = registers[FRAME_RSP];
    uint64_t rule = rule_of(((const uintptr_t *)stack)[-1] - 1);
    if (!rule)
        return SIZE_MAX;
    int64_t offset = (int64_t)(rule << 35) >> 40;
    uintptr_t end = registers[rule >> 2 & 7] + (uintptr_t)offset;
    if (rule & 2) {
        if (end < stack || end - stack > DEREF_LIMIT_BYTES || end % sizeof end)
            return SIZE_MAX;
        end = *(const uintptr_t *)end;
    }
    // The last word of the frame is the caller's own return address.
    return end < stack + sizeof end ? SIZE_MAX : end - stack - sizeof end;
}
