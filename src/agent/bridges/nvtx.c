// SPDX-License-Identifier: Apache-2.0
// Bridge nvtx: ranges of NVTX version 3, which PyTorch, CUDA libraries and many programs of users
// speak. Each module that has NVTX's header inside looks for NVTX_INJECTION64_PATH at its first
// call, loads what it names, and gives it a function that gives its tables of function pointers; we
// put ours there, and NVTX makes the rest do nothing. Tables are arrays of addresses with a length,
// so older and newer ones are known by what they have. All releases since 3.0 (2019) have this; the
// NVTX 2 library does not. Results are those of NVTX without a tool, but for handles, which are
// ours. Threads: any; modules come up under a lock of their own each.
#include "agent/bridge.h"
#include "agent/process.h"
#include "agent/ranges.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static _Atomic uint32_t modules, refused;

// ---- What NVTX hands over. ----

typedef void any_fn(void);

enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };

struct callbacks {
    size_t length_bytes;
    int (*get)(int module, any_fn ***(*table), unsigned *count);
};

typedef const void *get_table_fn(uint32_t id);

// Attributes of an event. Version 1, 2 and 3 of the struct have the same members.
struct event {
    uint16_t version, length_bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type; // enum message_type
    const void *message;
};
_Static_assert(sizeof(struct event) == 48, "nvtxEventAttributes_t");
_Static_assert(offsetof(struct event, message) == 40, "nvtxEventAttributes_t");

enum message_type { MESSAGE_TEXT = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

// What push and pop say when nobody counts levels, as without a tool.
#define NO_LEVEL (-2)

// A domain's handle is its number in disguise; NULL is the default one.
#define DOMAIN_BASE 0x4c4d0000u

static void *domain_handle(uint16_t domain)
{
    return (void *)(uintptr_t)(DOMAIN_BASE + domain); // never dereferenced by NVTX
}

static uint16_t domain_of(const void *handle)
{
    const uintptr_t value = (uintptr_t)handle;
    return value >= DOMAIN_BASE && value < DOMAIN_BASE + RANGE_DOMAINS
               ? (uint16_t)(value - DOMAIN_BASE)
               : 0;
}

static const struct range_name *name_of(uint16_t domain, const struct event *e)
{
    if (!e || e->length_bytes < sizeof *e || !e->message)
        return range_name(domain, "");
    const struct range_name *known;
    switch (e->message_type) {
    case MESSAGE_TEXT:
        return range_name(domain, e->message);
    case MESSAGE_WIDE:
        return range_name_wide(domain, e->message);
    case MESSAGE_REGISTERED:
        known = range_name_check(e->message);
        return known ? known : range_name(domain, "");
    default:
        return range_name(domain, "");
    }
}

// ---- The default domain. ----

static void mark_ex(const struct event *e)
{
    range_mark(name_of(0, e));
}

static void mark_text(const char *text)
{
    range_mark(range_name(0, text));
}

static void mark_wide(const wchar_t *text)
{
    range_mark(range_name_wide(0, text));
}

static uint64_t start_ex(const struct event *e)
{
    return range_start(0, name_of(0, e));
}

static uint64_t start_text(const char *text)
{
    return range_start(0, range_name(0, text));
}

static uint64_t start_wide(const wchar_t *text)
{
    return range_start(0, range_name_wide(0, text));
}

static void end(uint64_t id)
{
    range_end(id, SPAN_STACK);
}

static int push_ex(const struct event *e)
{
    range_push(0, name_of(0, e));
    return NO_LEVEL;
}

static int push_text(const char *text)
{
    range_push(0, range_name(0, text));
    return NO_LEVEL;
}

static int push_wide(const wchar_t *text)
{
    range_push(0, range_name_wide(0, text));
    return NO_LEVEL;
}

static int pop(void)
{
    range_pop(0, SPAN_STACK);
    return NO_LEVEL;
}

static void name_thread(uint32_t tid, const char *name)
{
    const char *parts[] = {name, ""};
    if (name && agent_thread_open())
        process_text(TRACE_TEXT_THREAD, 0, tid, 0, parts, 2);
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
    char text[RANGE_TEXT_BYTES + 1];
    range_text_narrow(name, text);
    name_thread(tid, text);
}

// ---- Domains. ----

static void domain_mark(const void *domain, const struct event *e)
{
    range_mark(name_of(domain_of(domain), e));
}

static uint64_t domain_start(const void *domain, const struct event *e)
{
    return range_start(domain_of(domain), name_of(domain_of(domain), e));
}

static void domain_end(const void *domain, uint64_t id)
{
    (void)domain;
    range_end(id, SPAN_STACK);
}

static int domain_push(const void *domain, const struct event *e)
{
    range_push(domain_of(domain), name_of(domain_of(domain), e));
    return NO_LEVEL;
}

static int domain_pop(const void *domain)
{
    range_pop(domain_of(domain), SPAN_STACK);
    return NO_LEVEL;
}

static const void *register_text(const void *domain, const char *text)
{
    return range_name(domain_of(domain), text);
}

static const void *register_wide(const void *domain, const wchar_t *text)
{
    return range_name_wide(domain_of(domain), text);
}

static void *create_domain(const char *name)
{
    return domain_handle(range_domain(name));
}

static void *create_domain_wide(const wchar_t *name)
{
    return domain_handle(range_domain_wide(name));
}

// ---- Coming up. ----

#define HANDLER(function) ((any_fn *)(void *)(function))

// By the numbers of NVTX's callbacks; what is NULL does nothing.
static any_fn *const core[] = {
    NULL,
    HANDLER(mark_ex),
    HANDLER(mark_text),
    HANDLER(mark_wide),
    HANDLER(start_ex),
    HANDLER(start_text),
    HANDLER(start_wide),
    HANDLER(end),
    HANDLER(push_ex),
    HANDLER(push_text),
    HANDLER(push_wide),
    HANDLER(pop),
    NULL, // categories
    NULL,
    HANDLER(name_thread),
    HANDLER(name_thread_wide),
};

static any_fn *const core2[] = {
    NULL,
    HANDLER(domain_mark),
    HANDLER(domain_start),
    HANDLER(domain_end),
    HANDLER(domain_push),
    HANDLER(domain_pop),
    NULL, // resources
    NULL,
    NULL, // categories
    NULL,
    HANDLER(register_text),
    HANDLER(register_wide),
    HANDLER(create_domain),
    HANDLER(create_domain_wide),
};

// 0, or -1 when the module has no such table.
static int put(const struct callbacks *c, int module, any_fn *const *handlers, unsigned count)
{
    any_fn ***table = NULL;
    unsigned has = 0;
    if (!c->get(module, &table, &has) || !table)
        return -1;
    for (unsigned i = 1; i < count && i < has; i++)
        if (handlers[i] && table[i])
            *table[i] = handlers[i];
    return 0;
}

int InitializeInjectionNvtx2(get_table_fn *get_table);
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(get_table_fn *get_table)
{
    const int saved_errno = errno;
    int is_taken = 0;
    if (bridge_is_on("nvtx") && get_table) {
        const struct callbacks *c = get_table(TABLE_CALLBACKS);
        is_taken = c && c->length_bytes >= sizeof *c && c->get &&
                   put(c, MODULE_CORE, core, sizeof core / sizeof *core) == 0;
        if (is_taken)
            put(c, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
        atomic_fetch_add(is_taken ? &modules : &refused, 1);
    }
    errno = saved_errno;
    return is_taken;
}

const struct bridge bridge_nvtx = {
    .name = "nvtx",
    .help = "ranges that programs and frameworks name through NVTX",
    .shown = "NVTX 3",
    .variable = "NVTX_INJECTION64_PATH",
    .modules = &modules,
    .refused = &refused,
};
