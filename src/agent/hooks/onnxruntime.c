// SPDX-License-Identifier: Apache-2.0
// Hook set onnxruntime: sessions and runs through ONNX Runtime's C API, which its C++, Node and
// other bindings use too. Every caller gets one table of functions from OrtGetApiBase()->GetApi();
// the hook of OrtGetApiBase exchanges a few of its slots in place, once for each library. No header
// of ONNX Runtime is needed: the slots are its ABI and only ever grow (tests compare them with the
// header). Threads: any; completion callbacks run on ONNX Runtime's own threads.
#include "agent/elf_object.h"
#include "agent/hook.h"
#include "agent/hooks/onnxruntime_abi.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct ort_base {
    void **(*get_api)(uint32_t version);
    const char *(*version_text)(void);
};

#define TABLES HOOK_VARIANTS
static _Atomic(void **) tables[TABLES];

#define DIMENSIONS_LIMIT 8

typedef void *is_tensor_fn(const void *value, int *is_tensor);
typedef void *get_shape_fn(const void *value, void **shape);
typedef void *get_count_fn(const void *shape, size_t *count);
typedef void *get_dimensions_fn(const void *shape, int64_t *dimensions, size_t count);
typedef void release_fn(void *object);

// ---- The input's shape. ----

// Dimensions of a tensor; 0: not known. `api` is the table that the caller used.
static size_t read_dimensions(void *const *api, const void *value, int64_t *dimensions)
{
    int is_tensor = 0;
    void *shape = NULL;
    size_t count = 0;
    release_fn *release_status = (release_fn *)api[ORT_RELEASE_STATUS];
    void *failed = ((is_tensor_fn *)api[ORT_IS_TENSOR])(value, &is_tensor);
    if (!failed && is_tensor)
        failed = ((get_shape_fn *)api[ORT_GET_TENSOR_TYPE_AND_SHAPE])(value, &shape);
    if (!failed && shape)
        failed = ((get_count_fn *)api[ORT_GET_DIMENSIONS_COUNT])(shape, &count);
    if (count > DIMENSIONS_LIMIT)
        count = 0;
    if (!failed && shape && count)
        failed = ((get_dimensions_fn *)api[ORT_GET_DIMENSIONS])(shape, dimensions, count);
    if (shape)
        ((release_fn *)api[ORT_RELEASE_TENSOR_TYPE_AND_SHAPE])(shape);
    if (!failed)
        return count;
    release_status(failed);
    return 0;
}

static uint32_t limited(int64_t n, uint32_t limit)
{
    return n <= 0 ? 0 : n > (int64_t)limit ? limit : (uint32_t)n;
}

static int is_channels(int64_t n)
{
    return n == 1 || n == 3 || n == 4;
}

struct input {
    uint32_t width, height, channels, batch; // 0: not known
};

// Rank 4 is images: batch, channels, height, width; the channels come last when only the last
// number can be that of colours. In rank 3 and more the first is the batch.
static struct input read_input(void *const *api, const void *const *inputs, size_t n)
{
    int64_t d[DIMENSIONS_LIMIT];
    if (!n || !inputs || !inputs[0])
        return (struct input){0, 0, 0, 0};
    int saved_errno = errno;
    size_t rank = read_dimensions(api, inputs[0], d);
    errno = saved_errno;
    uint32_t batch = rank >= 3 ? limited(d[0], 65535) : 0;
    if (rank != 4)
        return (struct input){0, 0, 0, batch};
    int is_last = is_channels(d[3]) && !is_channels(d[1]);
    return (struct input){limited(d[is_last ? 2 : 3], INT32_MAX),
        limited(d[is_last ? 1 : 2], INT32_MAX), limited(d[is_last ? 3 : 1], 65535), batch};
}

static inline void note_input(const struct hook_span *s, const struct input *in)
{
    if (s->token && in->batch)
        span_shape(s->token, in->width, in->height, in->channels, in->batch);
}

// ---- The hooks. A thunk for each table, with the original that the table had. ----

#define ORT_TYPE(id, params)                                                                       \
    typedef void *id##_fn(params);                                                                 \
    static id##_fn *id##_real[TABLES];
#define ORT_THUNK(id, params, args, table)                                                         \
    static void *id##_thunk_##table(params)                                                        \
    {                                                                                              \
        return id##_body(table, args);                                                             \
    }
#define ORT_THUNKS(id, params, args)                                                               \
    ORT_THUNK(id, PARAMS(params), ARGS(args), 0)                                                   \
    ORT_THUNK(id, PARAMS(params), ARGS(args), 1)                                                   \
    ORT_THUNK(id, PARAMS(params), ARGS(args), 2)                                                   \
    ORT_THUNK(id, PARAMS(params), ARGS(args), 3)                                                   \
    static void *const id##_thunks[TABLES] = {                                                     \
        (void *)id##_thunk_0, (void *)id##_thunk_1, (void *)id##_thunk_2, (void *)id##_thunk_3};

// Names of what is called through the table, for the line of the function that gives it.
enum ort_name {
    NAME_CREATE,
    NAME_CREATE_ARRAY,
    NAME_RUN,
    NAME_RUN_BINDING,
    NAME_RUN_ASYNC,
    NAME_CALLBACK,
    NAME_COUNT
};
static struct hook_name names[NAME_COUNT] = {
    [NAME_CREATE] = {"OrtCreateSession", "load", TRACE_CAUSE_OTHER, 0, 0},
    [NAME_CREATE_ARRAY] = {"OrtCreateSessionFromArray", "load", TRACE_CAUSE_OTHER, 0, 0},
    [NAME_RUN] = {"OrtRun", "infer", TRACE_CAUSE_OTHER, 0, 0},
    [NAME_RUN_BINDING] = {"OrtRunWithBinding", "infer", TRACE_CAUSE_OTHER, 0, 0},
    [NAME_RUN_ASYNC] = {"OrtRunAsync", "infer", TRACE_CAUSE_OTHER, 0, 0},
    [NAME_CALLBACK] = {"OrtRunAsync callback", "postprocess", TRACE_CAUSE_OTHER, 0, 0},
};

static inline void note_session(const struct hook_span *s, const void *session)
{
    if (s->token && session)
        span_value(s->token, TRACE_ATTR_SESSION, (uintptr_t)session);
}

ORT_TYPE(create, PARAMS(void *env, const char *path, void *options, void **session))
static inline void *create_body(
    int table, void *env, const char *path, void *options, void **session)
{
    HOOK_SPAN(span, &names[NAME_CREATE]);
    return create_real[table](env, path, options, session);
}
ORT_THUNKS(create, PARAMS(void *env, const char *path, void *options, void **session),
    ARGS(env, path, options, session))

ORT_TYPE(create_array,
    PARAMS(void *env, const void *model, size_t length_bytes, void *options, void **session))
static inline void *create_array_body(
    int table, void *env, const void *model, size_t length_bytes, void *options, void **session)
{
    HOOK_SPAN(span, &names[NAME_CREATE_ARRAY]);
    if (span.token)
        span_bytes(span.token, length_bytes);
    return create_array_real[table](env, model, length_bytes, options, session);
}
ORT_THUNKS(create_array,
    PARAMS(void *env, const void *model, size_t length_bytes, void *options, void **session),
    ARGS(env, model, length_bytes, options, session))

#define RUN_PARAMS                                                                                 \
    void *session, const void *options, const char *const *input_names, const void *const *inputs, \
        size_t input_count, const char *const *output_names, size_t output_count, void **outputs
#define RUN_ARGS                                                                                   \
    session, options, input_names, inputs, input_count, output_names, output_count, outputs

ORT_TYPE(run, PARAMS(RUN_PARAMS))
static inline void *run_body(int table, RUN_PARAMS)
{
    struct input in = read_input(tables[table], inputs, input_count);
    HOOK_SPAN(span, &names[NAME_RUN]);
    note_session(&span, session);
    note_input(&span, &in);
    return run_real[table](RUN_ARGS);
}
ORT_THUNKS(run, PARAMS(RUN_PARAMS), ARGS(RUN_ARGS))

ORT_TYPE(run_binding, PARAMS(void *session, const void *options, const void *binding))
static inline void *run_binding_body(
    int table, void *session, const void *options, const void *binding)
{
    HOOK_SPAN(span, &names[NAME_RUN_BINDING]);
    note_session(&span, session);
    return run_binding_real[table](session, options, binding);
}
ORT_THUNKS(run_binding, PARAMS(void *session, const void *options, const void *binding),
    ARGS(session, options, binding))

// ---- Runs that end later. ----

typedef void done_fn(void *data, void **outputs, size_t count, void *status);

// What to call when a run ends. Without a free place it is called directly, unseen.
#define PENDING_LIMIT 256
static struct pending {
    _Atomic int is_taken;
    done_fn *done;
    void *data;
} pending[PENDING_LIMIT];
static _Atomic uint32_t in_flight;

static struct pending *take_pending(done_fn *done, void *data)
{
    for (size_t i = 0; done && i < PENDING_LIMIT; i++) {
        int expected = 0;
        if (atomic_load_explicit(&pending[i].is_taken, memory_order_relaxed) ||
            !atomic_compare_exchange_strong(&pending[i].is_taken, &expected, 1))
            continue;
        pending[i].done = done;
        pending[i].data = data;
        return &pending[i];
    }
    return NULL;
}

// The number of runs in flight, as a queue of the program.
static void write_in_flight(enum trace_queue_op op, uint32_t depth)
{
    static struct hook_name name = {
        "OrtRunAsync in flight", "OrtRunAsync in flight", TRACE_CAUSE_OTHER, 0, 0};
    struct agent_thread *t = agent_thread_open();
    uint16_t id = t ? hook_id(&name) : 0;
    if (!id || t->busy || *agent.control == AGENT_STOP)
        return;
    span_guard(t, 1);
    struct trace_queue *r = agent_room(t, sizeof *r);
    if (r) {
        *r = (struct trace_queue){TRACE_QUEUE, (uint8_t)op, id, depth, agent_ticks()};
        trace_writer_commit(&t->writer, sizeof *r);
    }
    span_guard(t, 0);
}

static void call_done(void *data, void **outputs, size_t count, void *status)
{
    struct pending *p = data;
    struct pending own = {.done = p->done, .data = p->data};
    atomic_store(&p->is_taken, 0);
    write_in_flight(TRACE_QUEUE_GET, atomic_fetch_sub(&in_flight, 1) - 1);
    HOOK_SPAN(span, &names[NAME_CALLBACK]);
    own.done(own.data, outputs, count, status);
}

ORT_TYPE(run_async, PARAMS(RUN_PARAMS, done_fn *done, void *data))
static inline void *run_async_body(int table, RUN_PARAMS, done_fn *done, void *data)
{
    struct input in = read_input(tables[table], inputs, input_count);
    HOOK_SPAN(span, &names[NAME_RUN_ASYNC]);
    note_session(&span, session);
    note_input(&span, &in);
    struct pending *p = take_pending(done, data);
    if (!p)
        return run_async_real[table](RUN_ARGS, done, data);
    write_in_flight(TRACE_QUEUE_PUT, atomic_fetch_add(&in_flight, 1) + 1);
    void *failed = run_async_real[table](RUN_ARGS, call_done, p);
    if (failed) { // it did not start, so nobody will call back
        atomic_store(&p->is_taken, 0);
        write_in_flight(TRACE_QUEUE_GET, atomic_fetch_sub(&in_flight, 1) - 1);
    }
    return failed;
}
ORT_THUNKS(run_async, PARAMS(RUN_PARAMS, done_fn *done, void *data), ARGS(RUN_ARGS, done, data))

// ---- Exchanging the slots. ----

static const struct row {
    enum ort_slot slot;
    uint32_t version; // that has it
    void *const *thunks;
    void **originals;
} rows[] = {
    {ORT_CREATE_SESSION, ORT_VERSION_BINDING, create_thunks, (void **)create_real},
    {ORT_CREATE_SESSION_FROM_ARRAY, ORT_VERSION_BINDING, create_array_thunks,
        (void **)create_array_real},
    {ORT_RUN, ORT_VERSION_BINDING, run_thunks, (void **)run_real},
    {ORT_RUN_WITH_BINDING, ORT_VERSION_BINDING, run_binding_thunks, (void **)run_binding_real},
    {ORT_RUN_ASYNC, ORT_VERSION_ASYNC, run_async_thunks, (void **)run_async_real},
};

struct table {
    void **api;
    uint32_t version; // of the API
    int index;        // into `tables`
};

// Stores into a slot of the table, which the loader made read-only after relocating it.
static void store_slot(const struct elf_object *o, void **slot, void *value)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), mask = ~(page_bytes - 1);
    uintptr_t page = (uintptr_t)slot & mask;
    int is_read_only = page >= (o->relro_low & mask) && page + page_bytes <= (o->relro_high & mask);
    if (is_read_only && mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_read_only)
        mprotect((void *)page, page_bytes, PROT_READ);
}

static int is_inside(const struct elf_object *o, const void *pointer)
{
    return (uintptr_t)pointer >= o->low && (uintptr_t)pointer < o->high;
}

static void patch_table(const struct table *t, const struct elf_object *o)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        // Somebody else's function in the table: not to be touched, its life is not known.
        if (t->version < r->version || !is_inside(o, t->api[r->slot]))
            continue;
        __atomic_store_n(&r->originals[t->index], t->api[r->slot], __ATOMIC_RELEASE);
        store_slot(o, &t->api[r->slot], r->thunks[t->index]);
    }
}

// For each loaded object: is the table in its data? The loader's list lock is held meanwhile, as it
// is while the GOT patcher works, so that nobody else changes the protection of these pages.
static int try_object(struct dl_phdr_info *info, size_t length, void *argument)
{
    (void)length;
    const struct table *t = argument;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t offset = (uintptr_t)t->api - (info->dlpi_addr + h->p_vaddr);
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_W) || offset >= h->p_memsz)
            continue;
        struct elf_object o;
        elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
        patch_table(t, &o);
        return 1;
    }
    return 0;
}

// "1.30.0" -> 30, which is the newest version of the API that the library has. Asking GetApi for a
// newer one would make it print.
static uint32_t api_version(const struct ort_base *base)
{
    const char *text = base->version_text ? base->version_text() : NULL;
    if (!text || text[0] != '1' || text[1] != '.')
        return 0;
    unsigned long minor = strtoul(text + 2, NULL, 10);
    return minor < 1000 ? (uint32_t)minor : 0;
}

static void patch_base(const struct ort_base *base)
{
    int saved_errno = errno;
    uint32_t version = api_version(base);
    void **api = version >= ORT_VERSION_BINDING && base->get_api ? base->get_api(version) : NULL;
    for (int i = 0; api && i < TABLES; i++) {
        void **expected = NULL;
        if (!atomic_compare_exchange_strong(&tables[i], &expected, api) && expected != api)
            continue;
        // Also when the library was unloaded and came back to the same address.
        struct table t = {api, version, i};
        if (api[ORT_RUN] != run_thunks[i])
            dl_iterate_phdr(try_object, &t);
        break;
    }
    errno = saved_errno;
}

HOOK_TYPE(const struct ort_base *, get_base, void)
static inline const struct ort_base *get_base_body(get_base_fn *real)
{
    const struct ort_base *base = real();
    if (base)
        patch_base(base);
    return base;
}
#define BASE_THUNK(variant)                                                                        \
    static const struct ort_base *get_base_thunk_##variant(void)                                   \
    {                                                                                              \
        return get_base_body(get_base_real[variant]);                                              \
    }
BASE_THUNK(0)
BASE_THUNK(1)
BASE_THUNK(2)
BASE_THUNK(3)
static void *const get_base_thunks[HOOK_VARIANTS] = {(void *)get_base_thunk_0,
    (void *)get_base_thunk_1, (void *)get_base_thunk_2, (void *)get_base_thunk_3};

static const struct hook_function functions[] = {
    // Not timed itself: what it leads to is.
    {"OrtGetApiBase", get_base_thunks, (void **)get_base_real, names, NAME_COUNT,
        HOOK_BYTES | HOOK_SHAPE | HOOK_ATTR(SESSION)},
    HOOK_END,
};

static const char *const libraries[] = {"libonnxruntime.so", NULL};

const struct hook_set hook_onnxruntime = {
    .name = "onnxruntime",
    .help = "ONNX Runtime sessions and runs",
    .libraries = libraries,
    .functions = functions,
};
