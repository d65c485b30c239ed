// SPDX-License-Identifier: Apache-2.0
// See cupti.h. The declarations are our own, by what CUPTI's public headers say. Offsets were
// compared with cupti_activity.h and cupti_activity_deprecated.h of 13.0 (API version 130001),
// which have every version of a record: the start, end and correlation number of a kernel lie at
// one place in CUpti_ActivityKernel3 to 10, and so do bytes, times and number of a copy in
// CUpti_ActivityMemcpy, 3 to 6, and PtoP to PtoP4, and of a memset in CUpti_ActivityMemset to 4.
// Releases that may have other records are refused. Buffers are a fixed store; without one CUPTI
// drops records, and counts them. Threads: CUPTI calls back on any.
#include "agent/cupti.h"

#include "agent/cuda_work.h"
#include "agent/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of enum CUpti_ActivityKind. Numbers that are pushed become records only with those of calls.
enum {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_DRIVER = 4,
    CUPTI_RUNTIME = 5,
    CUPTI_CONCURRENT_KERNEL = 10,
    CUPTI_MEMCPY_PEER = 22,
    CUPTI_EXTERNAL_CORRELATION = 39,
};
static const int kinds[] = {CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY, CUPTI_MEMSET, CUPTI_MEMCPY_PEER,
    CUPTI_EXTERNAL_CORRELATION, CUPTI_RUNTIME, CUPTI_DRIVER};
#define KINDS (sizeof kinds / sizeof *kinds)

#define EXTERNAL_CUSTOM2 5u // of enum CUpti_ExternalCorrelationKind; PyTorch takes 0 and 1
#define FLUSH_FORCED 1u     // of enum CUpti_ActivityFlag

// Of enum CUptiResult: what a second subscriber is told, also by older releases.
enum { LIMIT_REACHED = 12, MULTIPLE_SUBSCRIBERS = 39 };

// Versions by cuptiGetVersion: those of CUDA 11.0 to 12.9, and of 13.0.
static int is_known(uint32_t version)
{
    return (version >= 13 && version <= 28) || (version >= 130000 && version < 130100);
}

// Of one record; the rest of it is not read.
struct kernel {
    uint32_t kind, config, partitioned[2];
    uint64_t start_ns, end_ns; // 0: not known
    uint32_t more[15];
    uint32_t correlation;
};
struct copy { // and memset
    uint32_t kind, how;
    uint64_t bytes, start_ns, end_ns;
    uint32_t where[3];
    uint32_t correlation;
};
struct peer_copy {
    uint32_t kind, how;
    uint64_t bytes, start_ns, end_ns;
    uint32_t where[7];
    uint32_t correlation;
};
struct external {
    uint32_t kind, whose;
    uint64_t id;
    uint32_t correlation, zero;
};
_Static_assert(offsetof(struct kernel, start_ns) == 16, "CUPTI's");
_Static_assert(offsetof(struct kernel, correlation) == 92, "CUPTI's");
_Static_assert(offsetof(struct copy, bytes) == 8, "CUPTI's");
_Static_assert(offsetof(struct copy, correlation) == 44, "CUPTI's");
_Static_assert(offsetof(struct peer_copy, correlation) == 60, "CUPTI's");
_Static_assert(offsetof(struct external, id) == 8, "CUPTI's");
_Static_assert(offsetof(struct external, correlation) == 16, "CUPTI's");

typedef void request_fn(uint8_t **buffer, size_t *room_bytes, size_t *most_records);
typedef void complete_fn(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes);
typedef void callback_fn(void *data, int domain, uint32_t id, const void *what);

static struct {
    int (*version)(uint32_t *version);
    int (*subscribe)(void **subscriber, callback_fn *callback, void *data);
    int (*unsubscribe)(void *subscriber);
    int (*register_callbacks)(request_fn *request, complete_fn *complete);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*next_record)(uint8_t *buffer, size_t used_bytes, void **record);
    int (*flush_all)(uint32_t flags);
    int (*dropped)(void *context, uint32_t stream, size_t *records);
    int (*push)(uint32_t kind, uint64_t id);
    int (*pop)(uint32_t kind, uint64_t *id);
} cupti;

static const struct {
    const char *name;
    void **function;
} functions[] = {
    {"cuptiGetVersion", (void **)&cupti.version},
    {"cuptiSubscribe", (void **)&cupti.subscribe},
    {"cuptiUnsubscribe", (void **)&cupti.unsubscribe},
    {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks},
    {"cuptiActivityEnable", (void **)&cupti.enable},
    {"cuptiActivityDisable", (void **)&cupti.disable},
    {"cuptiActivityGetNextRecord", (void **)&cupti.next_record},
    {"cuptiActivityFlushAll", (void **)&cupti.flush_all},
    {"cuptiActivityGetNumDroppedRecords", (void **)&cupti.dropped},
    {"cuptiActivityPushExternalCorrelationId", (void **)&cupti.push},
    {"cuptiActivityPopExternalCorrelationId", (void **)&cupti.pop},
};

_Atomic int cupti_state;
_Atomic uint32_t cupti_pid;
static _Atomic int is_cuda_seen;
static _Atomic uint32_t cuda_major; // of libcudart; 0: not known

// What was lost, and why.
static _Atomic uint64_t dropped_records, unknown_records, taken_records;

// ---- Buffers, from a fixed store. ----

#define BUFFERS 8
#define BUFFER_BYTES ((size_t)256 << 10)
static uint8_t buffers[BUFFERS][BUFFER_BYTES] __attribute__((aligned(64)));
static _Atomic int is_taken[BUFFERS];

static void request(uint8_t **buffer, size_t *room_bytes, size_t *most_records)
{
    *buffer = NULL;
    *room_bytes = *most_records = 0; // 0: as many as fit
    for (int i = 0; i < BUFFERS; i++) {
        int free = 0;
        if (!atomic_compare_exchange_strong(&is_taken[i], &free, 1))
            continue;
        *buffer = buffers[i];
        *room_bytes = BUFFER_BYTES;
        return;
    }
}

// ---- Records. ----

static void add_work(enum cuda_work_kind kind, uint32_t correlation, uint64_t start_ns,
    uint64_t end_ns, uint64_t bytes)
{
    atomic_fetch_add_explicit(&taken_records, 1, memory_order_relaxed);
    if (start_ns && end_ns > start_ns)
        cuda_work_add(kind, correlation, end_ns - start_ns, bytes);
}

// `room_bytes`: from the record to the end of what is used of its buffer.
static int take_record(const void *record, size_t room_bytes)
{
    const uint32_t kind = *(const uint32_t *)record;
    const struct kernel *kernel = record;
    const struct copy *copy = record;
    const struct peer_copy *peer = record;
    const struct external *external = record;
    if (kind == CUPTI_CONCURRENT_KERNEL && room_bytes >= sizeof *kernel)
        add_work(CUDA_WORK_KERNELS, kernel->correlation, kernel->start_ns, kernel->end_ns, 0);
    else if (kind == CUPTI_MEMCPY && room_bytes >= sizeof *copy)
        add_work(CUDA_WORK_COPIES, copy->correlation, copy->start_ns, copy->end_ns, copy->bytes);
    else if (kind == CUPTI_MEMCPY_PEER && room_bytes >= sizeof *peer)
        add_work(CUDA_WORK_COPIES, peer->correlation, peer->start_ns, peer->end_ns, peer->bytes);
    else if (kind == CUPTI_MEMSET && room_bytes >= sizeof *copy)
        add_work(CUDA_WORK_MEMSETS, copy->correlation, copy->start_ns, copy->end_ns, 0);
    else if (kind == CUPTI_EXTERNAL_CORRELATION && room_bytes >= sizeof *external) {
        if (external->whose == EXTERNAL_CUSTOM2)
            cuda_work_correlate(external->correlation, (uint16_t)external->id);
    } else
        return kind == CUPTI_RUNTIME || kind == CUPTI_DRIVER;
    return 1;
}

static void complete(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes)
{
    void *record = NULL;
    size_t dropped = 0;
    if (buffer && used_bytes <= room_bytes) {
        while (cupti.next_record(buffer, used_bytes, &record) == 0 && record) {
            const size_t at = (size_t)((uint8_t *)record - buffer);
            if (at + sizeof(uint32_t) > used_bytes || !take_record(record, used_bytes - at))
                atomic_fetch_add(&unknown_records, 1);
        }
    }
    if (cupti.dropped(context, stream, &dropped) == 0 && dropped)
        atomic_fetch_add(&dropped_records, dropped);
    for (int i = 0; i < BUFFERS; i++)
        if (buffer == buffers[i])
            atomic_store(&is_taken[i], 0);
}

// ---- Finding it. ----

void cupti_see(const char *file_name)
{
    static const char runtime[] = "libcudart.so.";
    if (strncmp(file_name, runtime, sizeof runtime - 1) == 0)
        atomic_store(&cuda_major, (uint32_t)strtoul(file_name + sizeof runtime - 1, NULL, 10));
    atomic_store(&is_cuda_seen, 1);
}

// The newest first; that of 11 has the minor number in its name.
static const struct {
    uint32_t major;
    const char *name;
} releases[] = {{13, "libcupti.so.13"}, {12, "libcupti.so.12"}, {11, "libcupti.so.11.8"},
    {11, "libcupti.so.11.7"}, {11, "libcupti.so.11.6"}, {11, "libcupti.so.11.5"},
    {11, "libcupti.so.11.4"}, {11, "libcupti.so.11.3"}, {11, "libcupti.so.11.2"},
    {11, "libcupti.so.11.1"}, {11, "libcupti.so.11.0"}};
#define RELEASES (sizeof releases / sizeof *releases)

// One that the host has loaded itself, or else the one of its CUDA.
static void *find_library(const char **name)
{
    const uint32_t major = atomic_load(&cuda_major);
    void *library = NULL;
    for (size_t i = 0; !library && i < 2 * RELEASES; i++) {
        const int is_loaded = i < RELEASES;
        if (!is_loaded && major && major != releases[i % RELEASES].major)
            continue;
        *name = releases[i % RELEASES].name;
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL | (is_loaded ? RTLD_NOLOAD : 0));
    }
    dlerror(); // what was not found is no concern of the host's
    return library;
}

static int find_functions(void *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].function = dlsym(library, functions[i].name);
        if (!*functions[i].function)
            return -1;
    }
    return 0;
}

// ---- Coming up. ----

static void ignore(void *data, int domain, uint32_t id, const void *what)
{
    (void)data;
    (void)domain;
    (void)id;
    (void)what;
}

// There is one subscriber for each process. We need none, but who has subscribed is a profiler
// whose callbacks ours would take the place of.
static int look_for_others(void)
{
    void *subscriber = NULL;
    const int refused = cupti.subscribe(&subscriber, ignore, NULL);
    return refused ? refused : cupti.unsubscribe(subscriber);
}

// All kinds, or none: what is on costs the program.
static int enable_all(void)
{
    size_t count = 0;
    int refused = cupti.register_callbacks(request, complete);
    while (!refused && count < KINDS)
        refused = cupti.enable(kinds[count++]);
    for (size_t i = 0; refused && i + 1 < count; i++)
        cupti.disable(kinds[i]);
    return refused;
}

static void say(const char *library, const char *status, const char *why)
{
    const char *parts[] = {library, "cuda-activity", status, why};
    process_text(TRACE_TEXT_COVERAGE, 0, 0, 0, parts, 4);
}

// At the host's exit, before CUDA's own handlers: those that were registered last run first.
static void stop(void)
{
    char text[200];
    if (!cupti_is_on() || agent_is_quiet())
        return;
    const int saved_errno = errno;
    atomic_store(&cupti_state, CUPTI_OFF);
    cupti.flush_all(FLUSH_FORCED);
    for (size_t i = 0; i < KINDS; i++)
        cupti.disable(kinds[i]);
    cuda_work_write();
    const uint64_t dropped = atomic_load(&dropped_records), unknown = atomic_load(&unknown_records);
    if (dropped || unknown) {
        snprintf(text, sizeof text,
            "CUPTI: %llu records were lost for lack of room, %llu were of a kind that is not "
            "known. The accelerator worked for longer than its counters say.",
            (unsigned long long)dropped, (unsigned long long)unknown);
        process_note(text);
    }
    if (!atomic_load(&taken_records))
        process_note("CUPTI was asked for the accelerator's time, and had no record of any.");
    errno = saved_errno;
}

// Its name in `library`, and why it cannot be used in `why`. 0: it is on.
static int start(const char **library, char *why, size_t room_bytes)
{
    uint32_t version = 0;
    *library = "libcupti.so";
    if (!agent.process || agent.process->flags & 1) {
        snprintf(why, room_bytes, "not used in a forked child");
        return -1;
    }
    void *found = find_library(library);
    if (!found) {
        *library = "libcupti.so";
        snprintf(why, room_bytes, "not found: of CUDA %u; LD_LIBRARY_PATH may lack its folder",
            (unsigned)atomic_load(&cuda_major));
        return -1;
    }
    if (find_functions(found) < 0 || cupti.version(&version) != 0 || !is_known(version)) {
        snprintf(why, room_bytes, "refused: its version %u has records that are not known",
            (unsigned)version);
        return -1;
    }
    int refused = look_for_others();
    const int is_held = refused == MULTIPLE_SUBSCRIBERS || refused == LIMIT_REACHED;
    if (!refused)
        refused = enable_all();
    if (refused)
        snprintf(why, room_bytes, "refused: %s (CUPTI's error %d)",
            is_held ? "another profiler has CUPTI" : "it could not be started", refused);
    else
        snprintf(why, room_bytes, "kernels, copies and memsets, by CUPTI's version %u",
            (unsigned)version);
    return refused;
}

void cupti_start(void)
{
    int expected = CUPTI_IDLE;
    if (!atomic_load(&is_cuda_seen) || agent_is_forked() || agent_is_quiet() ||
        !agent_thread_open() ||
        !atomic_compare_exchange_strong(&cupti_state, &expected, CUPTI_STARTING))
        return;
    const int saved_errno = errno;
    const char *library;
    char why[120];
    int failed = start(&library, why, sizeof why);
    atomic_store(&cupti_pid, agent.place.pid);
    if (!failed)
        atexit(stop);
    say(library, failed ? "uninstrumented" : "covered", why);
    atomic_store_explicit(&cupti_state, failed ? CUPTI_OFF : CUPTI_ON, memory_order_release);
    errno = saved_errno;
}

// ---- While it is on. ----

int cupti_push(uint16_t name)
{
    const int saved_errno = errno;
    const int is_pushed = cupti.push(EXTERNAL_CUSTOM2, name) == 0;
    errno = saved_errno;
    return is_pushed;
}

void cupti_pop(void)
{
    const int saved_errno = errno;
    uint64_t id;
    cupti.pop(EXTERNAL_CUSTOM2, &id);
    errno = saved_errno;
}

void cupti_flush(void)
{
    const int saved_errno = errno;
    cupti.flush_all(0);
    errno = saved_errno;
}
