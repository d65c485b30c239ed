// SPDX-License-Identifier: Apache-2.0
// See cuda_work.h. A call and its work have one correlation number; the numbers grow by one with
// each call of CUDA, so a table by the last bits holds the latest. Work whose call is not in it
// waits in another table until all that came with it was seen, and is then work of a call that
// nobody follows. Allocates nothing.
#include "agent/cuda_work.h"

#include "agent/mark.h"
#include "agent/names.h"
#include "trace/format.h"

#include <stdatomic.h>
#include <stdio.h>

#define CALLS (1u << 16)
#define WAITING 1024u
#define WAITING_PROBES 16u

static _Atomic uint64_t calls[CALLS]; // correlation << 32 | name

// `key` is 0: free, WAITING_TAKEN: one thread is at it, else correlation << 32 | 2 + kind.
#define WAITING_TAKEN 1u
static struct {
    _Atomic uint64_t key;
    uint64_t work_ns, bytes;
} waiting[WAITING];
static _Atomic uint32_t waiting_next;
static _Atomic int has_waiting;

// By the number of the name whose stage the work belongs to; 0: not known.
static _Atomic uint64_t sums[NAMES_LIMIT][CUDA_WORK_COUNT];
static _Atomic uint64_t is_touched[NAMES_LIMIT / 64];

void cuda_work_correlate(uint32_t correlation, uint16_t name)
{
    atomic_store(&calls[correlation % CALLS], (uint64_t)correlation << 32 | name);
}

static uint16_t name_of(uint32_t correlation)
{
    const uint64_t call = atomic_load(&calls[correlation % CALLS]);
    return call >> 32 == correlation && (uint16_t)call < NAMES_LIMIT ? (uint16_t)call : 0;
}

static void add(uint16_t name, enum cuda_work_kind kind, uint64_t work_ns, uint64_t bytes)
{
    atomic_fetch_add(&sums[name][kind], work_ns);
    if (kind == CUDA_WORK_COPIES)
        atomic_fetch_add(&sums[name][CUDA_WORK_COPY_BYTES], bytes);
    atomic_fetch_or(&is_touched[name / 64], (uint64_t)1 << name % 64);
}

// 0: no room was found.
static int wait_for_call(
    enum cuda_work_kind kind, uint32_t correlation, uint64_t work_ns, uint64_t bytes)
{
    for (uint32_t probe = 0; probe < WAITING_PROBES; probe++) {
        const uint32_t i = atomic_fetch_add(&waiting_next, 1) % WAITING;
        uint64_t key = 0;
        if (!atomic_compare_exchange_strong(&waiting[i].key, &key, WAITING_TAKEN))
            continue;
        waiting[i].work_ns = work_ns;
        waiting[i].bytes = bytes;
        atomic_store(&waiting[i].key, (uint64_t)correlation << 32 | (2u + kind));
        atomic_store(&has_waiting, 1);
        return 1;
    }
    return 0;
}

void cuda_work_add(enum cuda_work_kind kind, uint32_t correlation, uint64_t work_ns, uint64_t bytes)
{
    const uint16_t name = name_of(correlation);
    if (name || !wait_for_call(kind, correlation, work_ns, bytes))
        add(name, kind, work_ns, bytes);
}

static void settle_waiting(void)
{
    if (!atomic_exchange(&has_waiting, 0))
        return;
    for (uint32_t i = 0; i < WAITING; i++) {
        uint64_t key = atomic_load(&waiting[i].key);
        if (key <= WAITING_TAKEN ||
            !atomic_compare_exchange_strong(&waiting[i].key, &key, WAITING_TAKEN))
            continue;
        add(name_of((uint32_t)(key >> 32)), (enum cuda_work_kind)((uint32_t)key - 2),
            waiting[i].work_ns, waiting[i].bytes);
        atomic_store(&waiting[i].key, 0);
    }
}

// The counter of a kind of work in a stage.
static uint16_t counter_of(uint16_t name, enum cuda_work_kind kind)
{
    static const char *const what[CUDA_WORK_COUNT] = {
        "kernels, ns", "copies, ns", "memsets, ns", "copies, bytes"};
    const char *stage = name                        ? names_stage(name)
                        : kind == CUDA_WORK_KERNELS ? "enqueue"
                                                    : "transfer";
    char text[160];
    snprintf(text, sizeof text, "%s on the accelerator: %s%s", stage, what[kind],
        name ? "" : ", of calls that are not followed");
    return names_intern(text, stage, TRACE_CAUSE_OTHER);
}

static uint64_t write_sums(uint16_t name)
{
    uint64_t all_ns = 0;
    for (int kind = 0; kind < CUDA_WORK_COUNT; kind++) {
        const uint64_t sum = atomic_exchange(&sums[name][kind], 0);
        if (sum)
            mark_delta(counter_of(name, (enum cuda_work_kind)kind), (int64_t)sum);
        all_ns += kind == CUDA_WORK_COPY_BYTES ? 0 : sum;
    }
    return all_ns;
}

uint64_t cuda_work_write(void)
{
    uint64_t all_ns = 0;
    settle_waiting();
    for (uint32_t word = 0; word < NAMES_LIMIT / 64; word++) {
        if (!atomic_load_explicit(&is_touched[word], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange(&is_touched[word], 0);
        for (; bits; bits &= bits - 1)
            all_ns += write_sums((uint16_t)(word * 64 + (uint32_t)__builtin_ctzll(bits)));
    }
    return all_ns;
}
