// SPDX-License-Identifier: Apache-2.0
// The device time of CUDA's kernels and copies, by the activity records of CUPTI, for hooks/cuda.c;
// only with --cuda-activity. CUPTI is loaded at the first hooked call of CUDA, never in a forked
// child. It hands over buffers of records, on whichever thread; the durations in them are summed
// up, and the next call that waits for the device, or copies and returns when that is done, takes
// the sum. Which work was whose is not asked: where threads use the device at once, one's may be
// found in the other's wait. Declarations by the public documentation of CUPTI 11 and 12; the
// fields that are read lie at the front, where all versions of a record agree. Not run on hardware
// yet. Threads: any; no lock.
#ifndef LIGHTMETER_AGENT_HOOKS_CUDA_ACTIVITY_H
#define LIGHTMETER_AGENT_HOOKS_CUDA_ACTIVITY_H

#include "agent/config.h"
#include "agent/hooks/accel_work.h"
#include "agent/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

// Of enum CUpti_ActivityKind.
enum { CUPTI_MEMCPY = 1, CUPTI_MEMSET = 2, CUPTI_CONCURRENT_KERNEL = 10 };

struct cupti_kernel {
    uint32_t kind;
    uint8_t caches[2];
    uint16_t registers;
    uint32_t cache_asked, cache_had;
    uint64_t start_ns, end_ns; // 0: not known
};

struct cupti_copy {
    uint32_t kind;
    uint8_t how[4]; // of a memset: its value
    uint64_t bytes, start_ns, end_ns;
};
_Static_assert(offsetof(struct cupti_kernel, start_ns) == 16, "as CUPTI has it");
_Static_assert(offsetof(struct cupti_copy, start_ns) == 16, "as CUPTI has it");

typedef void cupti_request_fn(uint8_t **buffer, size_t *room_bytes, size_t *most_records);
typedef void cupti_complete_fn(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes);

static struct {
    int (*register_callbacks)(cupti_request_fn *, cupti_complete_fn *);
    int (*enable)(int kind), (*disable)(int kind);
    int (*next_record)(uint8_t *buffer, size_t used_bytes, void **record);
    int (*flush_all)(uint32_t flags);
} cupti;

enum cuda_activity {
    CUDA_ACTIVITY_IDLE,
    CUDA_ACTIVITY_STARTING,
    CUDA_ACTIVITY_ON,
    CUDA_ACTIVITY_OFF
};
static _Atomic int cuda_activity_state;    // enum cuda_activity
static _Atomic uint32_t cuda_activity_pid; // CUPTI is up in this process, and not in its children
static _Atomic uint64_t cuda_activity_ns;  // worked, and not in any call's attribute yet

// ---- Buffers, from a fixed store. ----

#define CUPTI_BUFFERS 8
#define CUPTI_BUFFER_BYTES ((size_t)256 << 10)
static uint8_t cupti_buffers[CUPTI_BUFFERS][CUPTI_BUFFER_BYTES] __attribute__((aligned(64)));
static _Atomic int cupti_buffer_is_taken[CUPTI_BUFFERS];

// Without a buffer CUPTI drops records.
static void cupti_request(uint8_t **buffer, size_t *room_bytes, size_t *most_records)
{
    static _Atomic int is_said;
    *buffer = NULL;
    *room_bytes = *most_records = 0;
    for (int i = 0; i < CUPTI_BUFFERS; i++) {
        int free = 0;
        if (!atomic_compare_exchange_strong(&cupti_buffer_is_taken[i], &free, 1))
            continue;
        *buffer = cupti_buffers[i];
        *room_bytes = CUPTI_BUFFER_BYTES;
        return;
    }
    if (!atomic_exchange(&is_said, 1))
        process_note("CUPTI had more records at once than there is room for: work of the "
                     "accelerator is missing.");
}

static uint64_t cupti_duration_ns(const void *record)
{
    const uint32_t kind = *(const uint32_t *)record;
    const struct cupti_kernel *kernel = record;
    const struct cupti_copy *copy = record;
    uint64_t start_ns = 0, end_ns = 0;
    if (kind == CUPTI_CONCURRENT_KERNEL) {
        start_ns = kernel->start_ns;
        end_ns = kernel->end_ns;
    } else if (kind == CUPTI_MEMCPY || kind == CUPTI_MEMSET) {
        start_ns = copy->start_ns;
        end_ns = copy->end_ns;
    }
    return start_ns && end_ns > start_ns ? end_ns - start_ns : 0;
}

static void cupti_complete(
    void *context, uint32_t stream, uint8_t *buffer, size_t room_bytes, size_t used_bytes)
{
    (void)context;
    (void)stream;
    (void)room_bytes;
    uint64_t work_ns = 0;
    void *record = NULL;
    while (buffer && cupti.next_record(buffer, used_bytes, &record) == 0 && record)
        work_ns += cupti_duration_ns(record);
    atomic_fetch_add(&cuda_activity_ns, work_ns);
    for (int i = 0; i < CUPTI_BUFFERS; i++)
        if (buffer == cupti_buffers[i])
            atomic_store(&cupti_buffer_is_taken[i], 0);
}

// ---- Coming up. ----

static int cupti_load(void)
{
    static const char *const names[] = {"libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11.7",
        "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
        "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return -1;
    *(void **)&cupti.register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&cupti.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&cupti.disable = dlsym(library, "cuptiActivityDisable");
    *(void **)&cupti.next_record = dlsym(library, "cuptiActivityGetNextRecord");
    *(void **)&cupti.flush_all = dlsym(library, "cuptiActivityFlushAll");
    return cupti.register_callbacks && cupti.enable && cupti.disable && cupti.next_record &&
                   cupti.flush_all
               ? 0
               : -1;
}

// All kinds, or none: what is on costs the program.
static int cupti_enable_all(void)
{
    static const int kinds[] = {CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY, CUPTI_MEMSET};
    int failed = cupti.register_callbacks(cupti_request, cupti_complete), count = 0;
    while (!failed && count < 3)
        failed = cupti.enable(kinds[count++]);
    for (int i = 0; failed && i + 1 < count; i++)
        cupti.disable(kinds[i]);
    return failed;
}

__attribute__((noinline)) static void cuda_activity_start(void)
{
    int expected = CUDA_ACTIVITY_IDLE;
    if (agent_is_forked() ||
        !atomic_compare_exchange_strong(&cuda_activity_state, &expected, CUDA_ACTIVITY_STARTING))
        return;
    const int saved_errno = errno;
    char text[120];
    int failed = cupti_load();
    if (failed) {
        process_note(
            "CUPTI was not found (libcupti.so.12 or .11): the time that kernels and copies "
            "took on the accelerator is not known.");
    } else {
        failed = cupti_enable_all();
        snprintf(text, sizeof text,
            failed ? "CUPTI refused (its error %d): another profiler may have it."
                   : "The accelerator's time of kernels and copies is CUPTI's (status %d).",
            failed);
        process_note(text);
    }
    atomic_store(&cuda_activity_pid, agent.place.pid);
    atomic_store(&cuda_activity_state, failed ? CUDA_ACTIVITY_OFF : CUDA_ACTIVITY_ON);
    errno = saved_errno;
}

// Before a call of CUDA.
static inline void cuda_activity_open(void)
{
    if (__builtin_expect(config.is_cuda_activity != 0, 0) &&
        atomic_load_explicit(&cuda_activity_state, memory_order_relaxed) == CUDA_ACTIVITY_IDLE)
        cuda_activity_start();
}

// After a call that has waited for the device: what it worked.
static inline void cuda_activity_claim(const struct hook_span *s)
{
    const int state = atomic_load_explicit(&cuda_activity_state, memory_order_relaxed);
    if (__builtin_expect(state != CUDA_ACTIVITY_ON, 1) || !s->token || agent_is_forked() ||
        atomic_load(&cuda_activity_pid) != agent.place.pid)
        return;
    const int saved_errno = errno;
    cupti.flush_all(0);
    accel_note_work(s, atomic_exchange(&cuda_activity_ns, 0));
    errno = saved_errno;
}

#endif
