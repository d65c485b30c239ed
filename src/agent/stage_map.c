// SPDX-License-Identifier: Apache-2.0
// Matches symbols against the stage map and hands out trampolines. A trampoline is entered with its
// number in a scratch register, opens the span, calls the original with the caller's registers and
// a copy of its stack arguments, and closes the span; results are passed on. No return address is
// exchanged, so exceptions unwind through it; a span they skip is closed at the next boundary.
#include "agent/stage_map.h"

#include "agent/config.h"
#include "agent/elf_object.h"
#include "agent/hook.h"
#include "agent/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THUNKS 1024
#define PATTERN_BYTES 256

struct thunk {
    void *original;
    uint16_t name;
};

static struct {
    char patterns[CONFIG_MAPS][2][PATTERN_BYTES]; // of the symbol; second: as a C++ free function
    _Atomic uint32_t matches[CONFIG_MAPS];
    int has_libraries;
    _Atomic uint32_t thunk_count;
} map;

// Read by the trampolines.
__attribute__((visibility("hidden"))) struct thunk stage_map_thunks[THUNKS];

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

static int match_library(void *original)
{
    char name[PATTERN_BYTES];
    if (!map.has_libraries)
        return -1;
    elf_object_owner((uintptr_t)original, name, sizeof name);
    for (int i = 0; i < config.map_count && *name; i++) {
        if (config.maps[i].is_library && config_matches(config.maps[i].pattern, name))
            return i;
    }
    return -1;
}

int stage_map_is_wanted(const char *symbol)
{
    return config.map_count && (map.has_libraries || match_function(symbol) >= 0);
}

#if defined(__x86_64__)
__attribute__((visibility("hidden"))) extern const char stage_map_stubs[];
#define STUB_BYTES 16

struct opened {
    void *original;
    uint64_t token;
};
__attribute__((visibility("hidden"))) struct opened stage_map_open(uint32_t index, uintptr_t stack);
__attribute__((visibility("hidden"))) void stage_map_close(uint64_t token, uintptr_t stack);

struct opened stage_map_open(uint32_t index, uintptr_t stack)
{
    const struct thunk *t = &stage_map_thunks[index];
    return (struct opened){t->original, span_begin(t->name, TRACE_CAUSE_OTHER, 0, stack)};
}

void stage_map_close(uint64_t token, uintptr_t stack)
{
    span_end((uint32_t)token, stack);
}

__asm__(".pushsection .text\n"
        ".hidden stage_map_stubs\n.globl stage_map_stubs\n"
        ".balign 16\n"
        "stage_map_stubs:\n"
        ".set stage_map_index, 0\n"
        ".rept 1024\n"
        ".balign 16\n"
        "movl $stage_map_index, %r11d\n"
        "jmp stage_map_call\n"
        ".set stage_map_index, stage_map_index + 1\n"
        ".endr\n"
        ".balign 16\n"
        ".type stage_map_call, @function\n"
        "stage_map_call:\n"
        ".cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "sub $224, %rsp\n"
        "mov %rdi, -16(%rbp)\nmov %rsi, -24(%rbp)\nmov %rdx, -32(%rbp)\n"
        "mov %rcx, -40(%rbp)\nmov %r8, -48(%rbp)\nmov %r9, -56(%rbp)\n"
        "mov %rax, -64(%rbp)\nmov %r10, -72(%rbp)\n"
        "movups %xmm0, -96(%rbp)\nmovups %xmm1, -112(%rbp)\n"
        "movups %xmm2, -128(%rbp)\nmovups %xmm3, -144(%rbp)\n"
        "movups %xmm4, -160(%rbp)\nmovups %xmm5, -176(%rbp)\n"
        "movups %xmm6, -192(%rbp)\nmovups %xmm7, -208(%rbp)\n"
        "mov %r11d, %edi\n"
        "mov %rbp, %rsi\n"
        "call stage_map_open\n"
        "mov %rax, %r11\n"
        "mov %rdx, -8(%rbp)\n"
        // The caller's arguments on the stack, again below us.
        "sub $128, %rsp\n"
        "lea 16(%rbp), %rsi\nmov %rsp, %rdi\nmov $16, %ecx\ncld\nrep movsq\n"
        "mov -16(%rbp), %rdi\nmov -24(%rbp), %rsi\nmov -32(%rbp), %rdx\n"
        "mov -40(%rbp), %rcx\nmov -48(%rbp), %r8\nmov -56(%rbp), %r9\n"
        "mov -64(%rbp), %rax\nmov -72(%rbp), %r10\n"
        "movups -96(%rbp), %xmm0\nmovups -112(%rbp), %xmm1\n"
        "movups -128(%rbp), %xmm2\nmovups -144(%rbp), %xmm3\n"
        "movups -160(%rbp), %xmm4\nmovups -176(%rbp), %xmm5\n"
        "movups -192(%rbp), %xmm6\nmovups -208(%rbp), %xmm7\n"
        "call *%r11\n"
        "mov %rax, -16(%rbp)\nmov %rdx, -24(%rbp)\n"
        "movups %xmm0, -96(%rbp)\nmovups %xmm1, -112(%rbp)\n"
        "mov -8(%rbp), %rdi\n"
        "mov %rbp, %rsi\n"
        "call stage_map_close\n"
        "mov -16(%rbp), %rax\nmov -24(%rbp), %rdx\n"
        "movups -96(%rbp), %xmm0\nmovups -112(%rbp), %xmm1\n"
        "leave\n.cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stage_map_call, . - stage_map_call\n"
        ".popsection\n");

static void *stub_at(uint32_t index)
{
    return (void *)(uintptr_t)(stage_map_stubs + (size_t)index * STUB_BYTES);
}
#else
static void *stub_at(uint32_t index)
{
    (void)index;
    return NULL;
}
#endif

static int is_stub(const void *address)
{
    const char *first = stub_at(0);
    return first && (const char *)address >= first &&
           (const char *)address < (const char *)stub_at(THUNKS - 1) + 16;
}

static void *add_thunk(const char *symbol, void *original, int entry)
{
    char shown[PATTERN_BYTES];
    uint16_t name =
        names_intern(readable(symbol, shown), config.maps[entry].stage, TRACE_CAUSE_OTHER);
    uint32_t count = atomic_load(&map.thunk_count);
    for (uint32_t i = 0; i < count && i < THUNKS; i++) {
        if (stage_map_thunks[i].original == original && stage_map_thunks[i].name == name)
            return stub_at(i);
    }
    uint32_t index = atomic_fetch_add(&map.thunk_count, 1);
    if (index >= THUNKS)
        return NULL;
    stage_map_thunks[index] = (struct thunk){original, name};
    return stub_at(index);
}

void *stage_map_thunk(const char *symbol, void *original)
{
    if (!stub_at(0) || is_stub(original))
        return NULL;
    int entry = match_function(symbol);
    if (entry < 0)
        entry = match_library(original);
    if (entry < 0)
        return NULL;
    void *thunk = add_thunk(symbol, original, entry);
    if (thunk)
        atomic_fetch_add(&map.matches[entry], 1);
    return thunk;
}

void stage_map_report(void)
{
    for (int i = 0; i < config.map_count; i++) {
        char why[200];
        uint32_t matches = atomic_load(&map.matches[i]);
        const char *status = matches ? "covered" : "uninstrumented";
        if (matches)
            snprintf(why, sizeof why, "%u call sites, as stage %s", (unsigned)matches,
                config.maps[i].stage);
        else if (!stub_at(0))
            snprintf(why, sizeof why, "stage maps need x86-64; use marks (lightmeter/mark.h)");
        else
            snprintf(why, sizeof why,
                "no call of it passes a PLT slot: a call within one object cannot be caught; "
                "use a mark (LM_STAGE) there");
        const char *parts[] = {config.maps[i].pattern, "stage-map", status, why};
        process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
    }
}
