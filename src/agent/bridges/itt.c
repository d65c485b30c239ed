// SPDX-License-Identifier: Apache-2.0
// Bridge itt: tasks, frames and counters of ITT (version 3 of the interface), which OpenCV,
// OpenVINO, PyTorch, oneTBB and others speak. The part that is linked into each module loads what
// INTEL_LIBITTNOTIFY64 names and hands over a struct with its list of functions by name; we put
// ours in, and the part's own "nothing" for the rest.
// Threads: any; modules come up under a lock of their own each.
#include "agent/bridge.h"
#include "agent/config.h"
#include "agent/itt_handles.h"
#include "agent/library.h"
#include "agent/mark.h"
#include "agent/names.h"
#include "agent/process.h"
#include "agent/ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static _Atomic uint32_t modules, refused;
static _Atomic int is_paused;

// ---- What a module hands over. ----

#define API_VERSION 3u
#define API_FUNCTIONS 1000 // more than any release has

struct api {
    const char *name;
    void **place;
    void *first; // makes the module load us
    void *nothing;
    int group;
};

// As far as it is the same in all releases.
struct global {
    uint8_t magic[8];
    unsigned long major, minor, build;
    volatile long is_started, has_mutex, count;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    struct api *functions; // ends with a name of NULL
};

static const uint8_t magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

struct id {
    unsigned long long d1, d2, d3;
};

// ---- Tasks. ----

static int is_recorded(void)
{
    return !atomic_load_explicit(&is_paused, memory_order_relaxed);
}

static void task_begin(
    const struct itt_domain *d, struct id id, struct id parent, struct itt_string *name)
{
    (void)id;
    (void)parent;
    const uint16_t domain = itt_number(d);
    range_push(domain, is_recorded() ? itt_name(domain, name) : range_name_none());
}

static void task_begin_function(
    const struct itt_domain *d, struct id id, struct id parent, void *at)
{
    (void)at;
    task_begin(d, id, parent, NULL);
}

static void task_end(const struct itt_domain *d)
{
    range_pop(itt_number(d), SPAN_STACK);
}

// Tasks and frames by their id. Both ends of one are found by a hash of domain and id; a place that
// another has taken meanwhile is left to it.
#define OPEN_TASKS 256u

static struct {
    _Atomic uint64_t key; // 0: free
    _Atomic uint64_t range;
} open_tasks[OPEN_TASKS];

static uint64_t key_of(uint16_t domain, const struct id *id, uint64_t kind)
{
    static const uint64_t prime = 0x9fb21c651e98df25u;
    uint64_t key = (domain + 1u) * prime + kind;
    if (id) {
        key = (key ^ id->d1) * prime;
        key = (key ^ key >> 32 ^ id->d2) * prime;
        key = (key ^ key >> 32 ^ id->d3) * prime;
    }
    key ^= key >> 32;
    return key ? key : 1;
}

static void begin_by_id(uint16_t domain, const struct range_name *name, uint64_t key)
{
    const uint64_t range = range_start(domain, name);
    for (uint64_t i = 0; i < OPEN_TASKS && range; i++) {
        const uint64_t at = (key + i) % OPEN_TASKS;
        uint64_t expected = 0;
        if (atomic_compare_exchange_strong(&open_tasks[at].key, &expected, key)) {
            atomic_store(&open_tasks[at].range, range);
            return;
        }
    }
    if (range)
        range_end(range, 0); // no place for it
}

static void end_by_id(uint64_t key, uintptr_t stack)
{
    for (uint64_t i = 0; i < OPEN_TASKS; i++) {
        const uint64_t at = (key + i) % OPEN_TASKS;
        if (atomic_load_explicit(&open_tasks[at].key, memory_order_relaxed) != key)
            continue;
        const uint64_t range = atomic_exchange(&open_tasks[at].range, 0);
        if (!range)
            continue; // another thread ends it
        atomic_store(&open_tasks[at].key, 0);
        range_end(range, stack);
        return;
    }
}

enum { BY_TASK = 1, BY_FRAME = 2 };

static void overlapped_begin(
    const struct itt_domain *d, struct id id, struct id parent, struct itt_string *name)
{
    (void)parent;
    const uint16_t domain = itt_number(d);
    if (is_recorded())
        begin_by_id(domain, itt_name(domain, name), key_of(domain, &id, BY_TASK));
}

static void overlapped_end(const struct itt_domain *d, struct id id)
{
    end_by_id(key_of(itt_number(d), &id, BY_TASK), SPAN_STACK);
}

// A frame has no name: it is "DOMAIN:frame".
static void frame_begin(const struct itt_domain *d, struct id *id)
{
    const uint16_t domain = itt_number(d);
    if (is_recorded())
        begin_by_id(domain, range_name_frame(domain), key_of(domain, id, BY_FRAME));
}

static void frame_end(const struct itt_domain *d, struct id *id)
{
    end_by_id(key_of(itt_number(d), id, BY_FRAME), SPAN_STACK);
}

// One that the program timed itself, and tells of when it is over.
static void frame_submit(
    const struct itt_domain *d, struct id *id, unsigned long long begin, unsigned long long end)
{
    (void)id;
    (void)begin;
    (void)end;
    if (is_recorded())
        range_mark(range_name_frame(itt_number(d)));
}

static void marker(const struct itt_domain *d, struct id id, struct itt_string *name, int scope)
{
    (void)id;
    (void)scope;
    const uint16_t domain = itt_number(d);
    if (is_recorded())
        range_mark(itt_name(domain, name));
}

// ---- Counters. A counter's handle is our name for it. ----

enum metadata { META_U64 = 1, META_S64, META_U32, META_S32, META_U16, META_S16, META_COUNT };

static int64_t read_value(int type, const void *data)
{
    static const uint8_t lengths_bytes[META_COUNT] = {0, 8, 8, 4, 4, 2, 2};
    uint64_t value = 0;
    if (!data || type <= 0 || type >= META_COUNT)
        return 0;
    memcpy(&value, data, lengths_bytes[type]); // little-endian, as all that we run on
    switch (type) {
    case META_S32:
        return (int32_t)value;
    case META_S16:
        return (int16_t)value;
    default:
        return (int64_t)value;
    }
}

#define COUNTERS 64u
static struct counter {
    _Atomic uint32_t is_ready;
    uint16_t name;
    int type;
    _Atomic int64_t value;
} counters[COUNTERS];
static _Atomic uint32_t counter_count;

static void *counter_create_typed(const char *name, const char *domain, int type)
{
    char full[2 * RANGE_TEXT_BYTES + 2];
    const uint32_t at =
        atomic_load(&counter_count) < COUNTERS ? atomic_fetch_add(&counter_count, 1) : COUNTERS;
    if (!name || at >= COUNTERS || !agent_thread_open())
        return NULL;
    size_t length = domain ? strnlen(domain, RANGE_TEXT_BYTES) : 0;
    memcpy(full, domain ? domain : "", length);
    if (length)
        full[length++] = ':';
    const size_t rest = strnlen(name, RANGE_TEXT_BYTES);
    memcpy(full + length, name, rest);
    full[length + rest] = 0;
    counters[at].name = names_intern(full, "counter", TRACE_CAUSE_OTHER);
    counters[at].type = type;
    atomic_store_explicit(&counters[at].is_ready, 1, memory_order_release);
    return &counters[at];
}

static void *counter_create(const char *name, const char *domain)
{
    return counter_create_typed(name, domain, META_U64);
}

static void *counter_create_in(const struct itt_domain *d, const char *name, int type)
{
    return counter_create_typed(name, d ? d->name : NULL, type);
}

static void change(void *handle, int64_t delta)
{
    struct counter *c = handle;
    if (!c || c < counters || c >= counters + COUNTERS ||
        !atomic_load_explicit(&c->is_ready, memory_order_acquire) || !is_recorded())
        return;
    atomic_fetch_add_explicit(&c->value, delta, memory_order_relaxed);
    mark_delta(c->name, delta);
}

static void counter_inc(void *handle)
{
    change(handle, 1);
}

static void counter_dec(void *handle)
{
    change(handle, -1);
}

static void counter_inc_delta(void *handle, unsigned long long delta)
{
    change(handle, (int64_t)delta);
}

static void counter_dec_delta(void *handle, unsigned long long delta)
{
    change(handle, -(int64_t)delta);
}

static void counter_set(void *handle, void *value)
{
    struct counter *c = handle;
    if (c && c >= counters && c < counters + COUNTERS)
        change(handle, read_value(c->type, value) - atomic_load(&c->value));
}

// ---- The rest. ----

// The bytes that the innermost task works on, when that is what the program tells of it.
static void metadata_add(const struct itt_domain *d, struct id id, struct itt_string *key, int type,
    size_t count, void *data)
{
    (void)id;
    if (key && key->text && strcmp(key->text, "bytes") == 0 && count == 1 && is_recorded())
        range_bytes(itt_number(d), (uint64_t)read_value(type, data));
}

static void pause_tasks(void)
{
    atomic_store(&is_paused, 1);
}

static void resume_tasks(void)
{
    atomic_store(&is_paused, 0);
}

static void thread_set_name(const char *name)
{
    struct agent_thread *t = agent_thread_open();
    const char *parts[] = {name, ""};
    if (t && name)
        process_text(TRACE_TEXT_THREAD, 0, t->tid, 0, parts, 2);
}

static const struct handler {
    const char *name;
    void *function;
} handlers[] = {
    {"__itt_domain_create", (void *)itt_domain_create},
    {"__itt_string_handle_create", (void *)itt_string_create},
    {"__itt_task_begin", (void *)task_begin},
    {"__itt_task_begin_fn", (void *)task_begin_function},
    {"__itt_task_end", (void *)task_end},
    {"__itt_task_begin_overlapped", (void *)overlapped_begin},
    {"__itt_task_end_overlapped", (void *)overlapped_end},
    {"__itt_region_begin", (void *)overlapped_begin},
    {"__itt_region_end", (void *)overlapped_end},
    {"__itt_frame_begin_v3", (void *)frame_begin},
    {"__itt_frame_end_v3", (void *)frame_end},
    {"__itt_frame_submit_v3", (void *)frame_submit},
    {"__itt_marker", (void *)marker},
    {"__itt_counter_create", (void *)counter_create},
    {"__itt_counter_create_typed", (void *)counter_create_typed},
    {"__itt_counter_create_v3", (void *)counter_create_in},
    {"__itt_counter_inc", (void *)counter_inc},
    {"__itt_counter_dec", (void *)counter_dec},
    {"__itt_counter_inc_delta", (void *)counter_inc_delta},
    {"__itt_counter_dec_delta", (void *)counter_dec_delta},
    {"__itt_counter_set_value", (void *)counter_set},
    {"__itt_counter_set_value_v3", (void *)counter_set},
    {"__itt_metadata_add", (void *)metadata_add},
    {"__itt_pause", (void *)pause_tasks},
    {"__itt_resume", (void *)resume_tasks},
    {"__itt_thread_set_name", (void *)thread_set_name},
};

// Whether OpenCV is asked to tell of its functions: it takes an answer here as the wish for it, and
// then says on the program's stderr how many it left out.
static const char *api_version(void)
{
    return "3";
}

static void *handler_of(const struct api *f)
{
    if (strcmp(f->name, "__itt_api_version") == 0)
        return config.is_opencv_traced ? (void *)api_version : f->nothing;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (strcmp(handlers[i].name, f->name) == 0)
            return handlers[i].function;
    return f->nothing;
}

// LLVM's and Intel's OpenMP. With a tool they keep a table of all regions that threads share and
// that breaks at times when these end (seen with LLVM 14: a crash in one of some hundred runs), and
// all that they tell is known from the hook set openmp_llvm.
static int is_openmp(const struct global *g)
{
    static struct library_table openmp = {.names = {"__kmpc_fork_call"}};
    return library_functions(&openmp, (uintptr_t)g) != NULL;
}

void __itt_api_init(struct global *g, int groups);
__attribute__((visibility("default"))) void __itt_api_init(struct global *g, int groups)
{
    const int saved_errno = errno;
    (void)groups;
    if (!g || memcmp(g->magic, magic, sizeof magic) != 0)
        return;
    const int is_known = g->major == API_VERSION && g->functions;
    const int is_on = bridge_is_on("itt") && !is_openmp(g);
    for (int i = 0; is_known && i < API_FUNCTIONS && g->functions[i].name; i++) {
        const struct api *f = &g->functions[i];
        if (f->place)
            __atomic_store_n(f->place, is_on ? handler_of(f) : f->nothing, __ATOMIC_RELEASE);
    }
    if (is_on)
        atomic_fetch_add(is_known ? &modules : &refused, 1);
    errno = saved_errno;
}

const struct bridge bridge_itt = {
    .name = "itt",
    .help = "tasks, frames and counters that libraries name through ITT",
    .shown = "ITT",
    .variable = "INTEL_LIBITTNOTIFY64",
    .modules = &modules,
    .refused = &refused,
};
