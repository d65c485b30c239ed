// SPDX-License-Identifier: Apache-2.0
// A stand-in for CUPTI's activity interface, over the stand-in for CUDA: a kernel took 3 ms, a copy
// 1 ms, a memset 0.5 ms; records have the sizes of CUDA 12.9. test_hooks_cuda.py gives it the name
// of a release. CUPTI_STAND_IN: "refuse" (another profiler is there), "partly" (refuses memsets),
// "newer" (a version of the future), "kinds" (a record of a kind nobody knows, and one cut short),
// "late" (whose call it was is told after the work), "thread" (records come on a thread of its
// own), "full" (takes more buffers than there can be), "loaded" (says so). Ends the process where
// it is called in a forked child, or where anything is on in the end.
#include "cuda_stand_in.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 40
#define QUEUE_BYTES (1u << 20)
#define STACK 8

typedef void request_fn(uint8_t **buffer, size_t *room_bytes, size_t *most_records);
typedef void complete_fn(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes);

#pragma GCC visibility push(default)
int cuptiGetVersion(uint32_t *version);
int cuptiSubscribe(void **subscriber, void *callback, void *data);
int cuptiUnsubscribe(void *subscriber);
int cuptiActivityRegisterCallbacks(request_fn *on_request, complete_fn *on_complete);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used_bytes, void **record);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *records);
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *id);
#pragma GCC visibility pop

// ---- Records, of CUDA 12.9. ----
enum { COPY = 1, MEMSET = 2, DRIVER = 4, RUNTIME = 5, KERNEL = 10, EXTERNAL = 39, UNKNOWN = 77 };
struct kernel { // CUpti_ActivityKernel9
    uint32_t kind, config, partitioned[2];
    uint64_t start_ns, end_ns, completed_ns;
    uint32_t more[13], correlation;
    uint64_t rest[14];
};
struct copy { // CUpti_ActivityMemcpy6
    uint32_t kind, how;
    uint64_t bytes, start_ns, end_ns;
    uint32_t where[3], correlation;
    uint64_t rest[6];
};
struct set { // CUpti_ActivityMemset4
    uint32_t kind, value;
    uint64_t bytes, start_ns, end_ns;
    uint32_t where[3], correlation;
    uint64_t rest[5];
};
struct api { // CUpti_ActivityAPI
    uint32_t kind, callback;
    uint64_t start_ns, end_ns;
    uint32_t process, thread, correlation, returned;
};
struct external { // CUpti_ActivityExternalCorrelation
    uint32_t kind, whose;
    uint64_t id;
    uint32_t correlation, zero;
};
_Static_assert(sizeof(struct kernel) == 208, "as CUPTI has it");
_Static_assert(sizeof(struct copy) == 96, "as CUPTI has it");
_Static_assert(sizeof(struct set) == 88, "as CUPTI has it");
_Static_assert(sizeof(struct api) == 40, "as CUPTI has it");
_Static_assert(sizeof(struct external) == 24, "as CUPTI has it");

static request_fn *request;
static complete_fn *complete;
static uint64_t enabled;
static pid_t owner;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t queue[QUEUE_BYTES];
static size_t queued_bytes, dropped;
static uint32_t calls;
static uint64_t now_ns = 1000;
static __thread uint64_t stack[STACK];
static __thread unsigned depth;

static int is_mode(const char *mode)
{
    const char *set = getenv("CUPTI_STAND_IN");
    return set && strcmp(set, mode) == 0;
}

static void check_process(void)
{
    if (owner && owner != getpid())
        _exit(98);
}

static void put(const void *record, size_t n)
{
    if (queued_bytes + n > sizeof queue)
        abort();
    memcpy(queue + queued_bytes, record, n);
    queued_bytes += n;
}

static void put_call(uint32_t correlation)
{
    const struct api call = {.kind = RUNTIME, .correlation = correlation};
    if (depth && (enabled >> EXTERNAL & 1) && (enabled >> RUNTIME & 1)) {
        // Another tool's number, and ours.
        const struct external other = {EXTERNAL, 3, 12345, correlation, 0};
        const struct external ours = {EXTERNAL, 5, stack[depth - 1], correlation, 0};
        put(&ours, sizeof ours);
        put(&other, sizeof other);
    }
    if (enabled >> RUNTIME & 1)
        put(&call, sizeof call);
}

static void put_work(uint32_t kind, uint64_t bytes, uint32_t correlation)
{
    const uint64_t ns = kind == KERNEL ? 3000000 : kind == COPY ? 1000000 : 500000;
    const struct kernel kernel = {
        .kind = KERNEL, .start_ns = now_ns, .end_ns = now_ns + ns, .correlation = correlation};
    const struct copy copy = {.kind = COPY,
        .bytes = bytes,
        .start_ns = now_ns,
        .end_ns = now_ns + ns,
        .correlation = correlation};
    const struct set set = {.kind = MEMSET,
        .bytes = bytes,
        .start_ns = now_ns,
        .end_ns = now_ns + ns,
        .correlation = correlation};
    if (!(enabled >> kind & 1))
        return;
    if (kind == KERNEL)
        put(&kernel, sizeof kernel);
    else if (kind == COPY)
        put(&copy, sizeof copy);
    else
        put(&set, sizeof set);
    now_ns += ns;
}

static void observe(uint32_t kind, uint64_t bytes)
{
    if (owner != getpid())
        return;
    pthread_mutex_lock(&lock);
    const uint32_t correlation = ++calls;
    if (is_mode("late"))
        put_work(kind, bytes, correlation);
    put_call(correlation);
    if (!is_mode("late"))
        put_work(kind, bytes, correlation);
    pthread_mutex_unlock(&lock);
}

// ---- Coming up and going down. ----

__attribute__((constructor)) static void come_up(void)
{
    if (is_mode("loaded"))
        puts("CUPTI is loaded");
}

__attribute__((destructor)) static void look(void)
{
    if (owner == getpid() && enabled)
        _exit(99);
}

int cuptiGetVersion(uint32_t *version)
{
    check_process();
    *version = is_mode("newer") ? 990000 : 28;
    return 0;
}

int cuptiSubscribe(void **subscriber, void *callback, void *data)
{
    check_process();
    *subscriber = data ? data : callback;
    return is_mode("refuse") ? 39 : 0;
}

int cuptiUnsubscribe(void *subscriber)
{
    return subscriber ? 0 : 1;
}

int cuptiActivityRegisterCallbacks(request_fn *on_request, complete_fn *on_complete)
{
    request = on_request;
    complete = on_complete;
    owner = getpid();
    stand_in_observer = observe;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    check_process();
    if (is_mode("partly") && kind == MEMSET)
        return 26;
    enabled |= (uint64_t)1 << kind;
    return 0;
}

int cuptiActivityDisable(int kind)
{
    check_process();
    enabled &= ~((uint64_t)1 << kind);
    return 0;
}

int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    check_process();
    if (kind > 5 || depth == STACK)
        return 1;
    stack[depth++] = id;
    return 0;
}

int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *id)
{
    check_process();
    if (kind > 5 || !depth)
        return 18;
    *id = stack[--depth];
    return 0;
}

// ---- Handing over. ----

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case KERNEL:
        return sizeof(struct kernel);
    case COPY:
        return sizeof(struct copy);
    case MEMSET:
        return sizeof(struct set);
    case EXTERNAL:
        return sizeof(struct external);
    default:
        return sizeof(struct api);
    }
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used_bytes, void **record)
{
    uint32_t kind;
    uint8_t *next = buffer;
    check_process();
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        next = (uint8_t *)*record + size_of(kind);
    }
    if (next + sizeof kind > buffer + used_bytes)
        return 12;
    *record = next;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *records)
{
    check_process();
    (void)context;
    (void)stream;
    *records = dropped;
    dropped = 0;
    return 0;
}

static void hand_over(uint8_t *buffer, size_t room_bytes)
{
    if (!buffer || queued_bytes > room_bytes)
        abort();
    memcpy(buffer, queue, queued_bytes);
    const size_t used_bytes = queued_bytes;
    queued_bytes = 0;
    complete(NULL, 0, buffer, room_bytes, used_bytes);
}

// Asks for all of MANY buffers before it gives one back. Those that it does not get are three
// records that were lost, each.
static void *flush(void *nothing)
{
    static const struct api unknown = {.kind = UNKNOWN, .start_ns = 1, .end_ns = 1000000000};
    uint8_t *buffers[MANY];
    size_t room_bytes[MANY], most_records;
    const int count = is_mode("full") ? MANY : 1;
    pthread_mutex_lock(&lock);
    if (is_mode("kinds") && queued_bytes) {
        put(&unknown, sizeof unknown);
        put(&(uint32_t[2]){KERNEL, 0}, 8);
    }
    for (int i = 0; i < count; i++) {
        request(&buffers[i], &room_bytes[i], &most_records);
        dropped += buffers[i] ? 0 : 3;
    }
    for (int i = 0; i < count; i++)
        if (buffers[i])
            hand_over(buffers[i], room_bytes[i]);
    pthread_mutex_unlock(&lock);
    return nothing;
}

int cuptiActivityFlushAll(uint32_t flags)
{
    pthread_t worker;
    check_process();
    if (is_mode("thread") && pthread_create(&worker, NULL, flush, NULL) == 0)
        return pthread_join(worker, NULL) ? 1 : (int)flags;
    flush(NULL);
    return (int)flags;
}
