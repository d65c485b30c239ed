// SPDX-License-Identifier: Apache-2.0
// Tells the GOT slots that code only calls through from those that it reads as pointers. Called by
// the GOT patcher for the stage map: a pointer that differs from that of another object would be
// told apart by whoever compares the two (Qt's connect does). Looks at each byte of the code as if
// a displacement to a slot began there: what is found by chance counts as a read, never as a call.
// Threads: one at a time, the scan's.
#include "agent/elf_object.h"

#include <string.h>

#define SLOTS 16384u // of one object; beyond, none counts as called only
#define CODE_LIMIT_BYTES (64u << 20)

static struct {
    uintptr_t base, text_low; // of the object that was read last
    uintptr_t low, high;      // its slots
    uint64_t called[SLOTS / 64], read[SLOTS / 64];
} code;

static void find_slots(const struct elf_object *o)
{
    code.low = UINTPTR_MAX;
    code.high = 0;
    for (size_t i = 0; i < o->relocation_count[1]; i++) {
        const ElfW(Rela) *r = &o->relocations[1][i];
        uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
        if (!elf_object_is_slot(type) || elf_object_is_call_slot(type))
            continue;
        uintptr_t slot = o->base + r->r_offset;
        code.low = slot < code.low ? slot : code.low;
        code.high = slot >= code.high ? slot + sizeof slot : code.high;
    }
}

#if defined(__x86_64__)
// A call or jump through memory: FF 15 or FF 25, then the displacement.
static int is_call(const uint8_t *displacement)
{
    return displacement[-2] == 0xff && (displacement[-1] == 0x15 || displacement[-1] == 0x25);
}

static void read_code(const struct elf_object *o)
{
    const uintptr_t length = code.high - code.low;
    for (uintptr_t at = o->text_low + 2; at + 4 <= o->text_high; at++) {
        int32_t displacement;
        memcpy(&displacement, (const void *)at, sizeof displacement);
        uintptr_t offset = at + 4 + (uintptr_t)displacement - code.low;
        if (__builtin_expect(offset < length, 0)) {
            uint64_t *set = offset % 8 == 0 && is_call((const void *)at) ? code.called : code.read;
            set[offset / 8 / 64] |= (uint64_t)1 << offset / 8 % 64;
        }
    }
}
#else
static void read_code(const struct elf_object *o)
{
    (void)o;
}
#endif

static void read_object(const struct elf_object *o)
{
    memset(&code, 0, sizeof code);
    find_slots(o);
    code.base = o->base;
    code.text_low = o->text_low;
    if (code.low < code.high && code.high - code.low <= SLOTS * 8 && o->text_low &&
        o->text_high - o->text_low <= CODE_LIMIT_BYTES)
        read_code(o);
}

void elf_object_calls_forget(void)
{
    code.text_low = 0;
}

int elf_object_only_calls(const struct elf_object *o, uintptr_t slot)
{
    if (!code.text_low || code.base != o->base || code.text_low != o->text_low)
        read_object(o);
    uintptr_t index = (slot - code.low) / 8;
    if (slot < code.low || index >= SLOTS)
        return 0;
    return (code.called[index / 64] & ~code.read[index / 64]) >> index % 64 & 1;
}
