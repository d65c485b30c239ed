// SPDX-License-Identifier: Apache-2.0
// What the preloaded library keeps for each thread of the target, and for the process. Included by
// the span stack, the hooks and the marks. Nothing here is freed while the process lives; a
// thread's block lies in memory that reads zero after a fork (MADV_WIPEONFORK), so a child that
// never told us about the fork finds an empty span stack and takes the slow path. Threads: a block
// belongs to its thread; `agent` is written while the process starts, later only through atomics.
#ifndef LIGHTMETER_AGENT_THREAD_H
#define LIGHTMETER_AGENT_THREAD_H

#include "agent/runq.h"
#include "base/clock.h"
#include "trace/format.h"
#include "trace/writer.h"

#include <stdatomic.h>
#include <stdint.h>

#define AGENT_DEPTH                                                                                \
    64u // open spans of a thread that are recorded; deeper ones are counted as dropped
#define AGENT_FOLDS 4u       // names whose short calls are folded within one open span
#define AGENT_AGGREGATES 48u // names summed up per thread once the trace is at its limit

// How a call of a name is recorded.
enum agent_name_flag {
    AGENT_FOLD = 1,       // always folded: a leaf that is called very often
    AGENT_FOLD_SHORT = 2, // folded when it was short and the thread was not switched out
    AGENT_FOLDED = AGENT_FOLD | AGENT_FOLD_SHORT,
    AGENT_MARK = 4, // opened by the program's own marks
    // One library's number (0: none): its calls directly in another of them are not recorded apart.
    AGENT_GROUP = 0xf0,
    AGENT_GROUP_OPENCV = 0x10,
    AGENT_GROUP_LIBJPEG = 0x20,
    AGENT_GROUP_TURBOJPEG = 0x30,
    AGENT_GROUP_LIBPNG = 0x40,
    AGENT_GROUP_LIBWEBP = 0x50,
    AGENT_GROUP_LIBTIFF = 0x60,
    AGENT_GROUP_LIBSPNG = 0x70,
    AGENT_GROUP_LIBHEIF = 0x80, // and libavif
    AGENT_GROUP_OPENJPEG = 0x90,
    AGENT_GROUP_LIBAV = 0xa0,
    AGENT_GROUP_VIPS = 0xb0,      // and ImageMagick
    AGENT_GROUP_TESSERACT = 0xc0, // Leptonica
    AGENT_GROUP_INFER = 0xd0,     // libtorch, TensorFlow Lite, OpenVINO
    AGENT_GROUP_SWSCALE = 0xe0,
    AGENT_GROUP_OPENCL = 0xf0,
};

// What the fast path must leave alone.
enum agent_busy {
    AGENT_FREE = 0,
    AGENT_INSIDE = 1, // inside our own code: a signal handler's calls are let through unrecorded
    AGENT_JUMPED = 2, // the host called longjmp: some open spans may be gone
};

// Short calls of one name within one open span, summed up.
struct agent_fold {
    uint16_t name;
    uint32_t calls;
    uint64_t self_ticks, first_start_ticks, last_end_ticks, max_ticks;
    uint64_t off_ns, runq_ns, bytes;
};

// All calls of one name, summed up once the trace is at its limit, with their durations.
struct agent_aggregate {
    struct agent_fold fold;        // since it was last written
    uint32_t calls[TRACE_BUCKETS]; // by duration, since they were last written
};

// What the program counted under one name, summed up like them.
#define AGENT_COUNTERS 16u
struct agent_counter {
    uint16_t name;
    int64_t delta;
};

// What a span is, in one word, so that the fast path stores and tests it at once.
union agent_what {
    struct {
        uint16_t name;
        uint8_t cause;      // enum trace_cause of blocked time
        uint8_t flags;      // enum agent_name_flag
        uint16_t switches;  // times it was found to have been switched out in its own time
        uint8_t fold_count; // names of short calls in agent_thread.folds
        // 1 << enum trace_attr_key of those below TRACE_ATTR_FILE; AGENT_HAS_VALUES for the others
        uint8_t attr_bits;
    };
    uint64_t word;
};
#define AGENT_WHAT_MORE (~(uint64_t)0 << 32)        // anything to write besides the span itself
#define AGENT_WHAT(flags) ((uint64_t)(flags) << 24) // enum agent_name_flag as they lie in `word`

// One open span.
struct agent_frame {
    uint64_t start_ticks;
    uint64_t child_ticks; // of the spans below it that have ended
    union agent_what what;
    uintptr_t stack;          // the caller's stack pointer
    uint64_t off_ns, runq_ns; // valid when switches > 0
    uint64_t bytes;
    uint64_t extent; // width | height << 32
};
_Static_assert(sizeof(struct agent_frame) == 64, "one cache line");

// The wider attributes, beside the hot frames.
struct agent_shape {
    uint32_t channels_batch; // channels | batch << 16
    uint64_t source;         // width | height << 32 of the input
    uint64_t scale;          // numerator | denominator << 32
};

// The attributes from TRACE_ATTR_FILE on. Valid while the frame's attr_bits have AGENT_HAS_VALUES.
#define AGENT_HAS_VALUES (1u << TRACE_ATTR_NONE)
#define AGENT_VALUES ((unsigned)TRACE_ATTR_KEY_COUNT - TRACE_ATTR_FILE)
struct agent_values {
    uint32_t bits; // 1 << (key - TRACE_ATTR_FILE) that were given
    uint32_t aux[AGENT_VALUES];
    uint64_t value[AGENT_VALUES];
};

// An open range that the program named itself (agent/ranges.h).
#define AGENT_RANGES 64u
struct agent_range {
    const struct range_name *name;
    uint64_t start_ticks; // of its span, by which the span is known again
    uint64_t id;          // of its item, or of a range that may end elsewhere
    uint32_t token;       // of its span; 0: none
    uint16_t domain;
    uint16_t is_free; // begun and ended by its id, not pushed and popped
};

struct agent_thread {
    // The test of the fast path: *fast_word == switch_value and now <= sync_due_ticks let it run.
    const volatile uint64_t *fast_word; // switch_word, or a word that never matches
    uint64_t switch_value;
    uint64_t sync_due_ticks; // the clocks are compared, and the launcher is asked, after this
    uint32_t depth;       // open spans; frames[depth] is the innermost, frames[0] the thread itself
    uint32_t depth_limit; // 0: the thread must take the slow path
    union {
        struct {
            uint32_t busy;     // enum agent_busy
            uint32_t overflow; // open spans beyond AGENT_DEPTH
        };
        uint64_t hindered; // both, for one test
    };
    struct trace_writer writer;
    // The switch test: *switch_word == switch_value means not switched out since the last sync.
    const volatile uint64_t *switch_word; // NULL: cannot be told without a system call
    uint64_t sync_ticks, sync_cpu_ns;
    struct agent_runq runq; // asked: the kernel answers quickly from the first time on
    uint64_t start_ticks;
    uint32_t close_syncs; // comparisons of the clocks in a row, each soon after the one before
    uint64_t voluntary_switches, major_faults;
    uint64_t aggregate_ticks; // when the aggregates were last written
    uint64_t buckets_ticks;   // when their durations were
    uint32_t tid;
    uint32_t in_use;
    uint32_t retry; // records to drop before a segment is asked for again
    uint32_t closing;
    struct agent_thread *next_all, *next_free;
    struct agent_frame frames[AGENT_DEPTH + 1] __attribute__((aligned(64)));
    struct agent_shape shapes[AGENT_DEPTH + 1];
    struct agent_values values[AGENT_DEPTH + 1];
    struct agent_fold folds[AGENT_DEPTH + 1][AGENT_FOLDS];
    struct agent_aggregate aggregates[AGENT_AGGREGATES];
    uint32_t aggregate_count;
    uint32_t counter_count;
    struct agent_counter counters[AGENT_COUNTERS];
    uint64_t items;                       // that ended since the last such sum was written
    uint32_t range_count, range_overflow; // open ranges, and those beyond AGENT_RANGES
    _Atomic uint32_t range_ended;         // some of them were ended by other threads
    struct agent_range ranges[AGENT_RANGES];
};

enum agent_state { AGENT_IDLE, AGENT_STARTING, AGENT_ON, AGENT_OFF };

enum agent_control { AGENT_RECORD = 0, AGENT_AGGREGATE = 1, AGENT_STOP = 2 };

#define AGENT_NAMES 4096u // numbers of names, see names.h

struct agent {
    _Atomic uint32_t state; // enum agent_state
    int clock_is_tsc;
    uint32_t scale_shift;
    uint64_t scale_mult; // ns = ticks * mult >> shift, for intervals
    uint64_t resync_ticks;
    uint64_t short_ticks; // AGENT_FOLD_SHORT: shorter than this is folded
    uint64_t idle_ticks;  // folds are written out when idle for longer
    uint64_t second_ticks;
    enum trace_split_method split_method;
    // The launcher writes both: enum agent_control, and the time of its last round (NULL: unknown).
    const volatile uint32_t *control;
    const volatile uint64_t *beat_ns;
    // Not 0 for a name of which a call was long enough to be worth two looks at its page faults.
    uint8_t long_names[AGENT_NAMES];
    uint64_t long_ticks;
    struct trace_process *process; // mapped process file; NULL: none
    struct trace_place place;
    _Atomic(struct agent_thread *) all; // every thread block ever made
    _Atomic uint32_t thread_count;
    // One page that reads zero after a fork: tells a forked child from its parent (and from a
    // vfork, where both share everything). NULL until recording was on.
    _Atomic uint32_t *alive;
    // No system call of ours any more: the kernel may end the program for one (process_quiet).
    _Atomic uint32_t is_quiet;
};
extern struct agent agent;

// Whether this process is a fork that has not started over yet.
static inline int agent_is_forked(void)
{
    return agent.alive && !atomic_load_explicit(agent.alive, memory_order_acquire);
}

static inline int agent_is_quiet(void)
{
    return atomic_load_explicit(&agent.is_quiet, memory_order_relaxed) != 0;
}

// The calling thread's block; never NULL: one with depth_limit 0 until it has its own.
extern __thread struct agent_thread *agent_self __attribute__((tls_model("initial-exec")));

static inline uint64_t agent_ticks(void)
{
    return __builtin_expect(agent.clock_is_tsc, 1) ? clock_tsc() : clock_mono_ns();
}

__extension__ typedef unsigned __int128 agent_wide;

static inline uint64_t agent_ns(uint64_t ticks)
{
    return (uint64_t)(((agent_wide)ticks * agent.scale_mult) >> agent.scale_shift);
}

// Gives the calling thread its own block where it has none (first event, or first after a fork).
// NULL: nothing can be recorded now (not started, ended, out of memory, inside our own code).
// Keeps errno.
struct agent_thread *agent_thread_open(void);

// The same for a thread whose first instruction is about to run; `creator` is the library that
// asked for it, "" when not known, and `asked_ticks` when it did.
void agent_thread_begin(const char *creator, uint64_t asked_ticks);

// Writes what is left of the calling thread and gives its block back. Called from within our own
// code (a signal handler that ends the process), or when quiet, it only leaves, as by
// agent_thread_leave.
void agent_thread_end(void);

// From here on nothing is recorded of the calling thread. What it has written stays, nothing is
// added; no system call.
void agent_thread_leave(void);

// A record of the calling thread: room for it, or NULL (then a drop was counted).
void *agent_room(struct agent_thread *t, size_t length_bytes);

// Writes how many records were dropped since this was last written, where there is room. `now`: not
// earlier than any record of the thread, nor later than the next.
void agent_note_drops(struct agent_thread *t, uint64_t now);

// Starts a new segment where the current one has less room than this, so that records that belong
// together are not parted. Counts no drop when there is none to be had.
void agent_reserve(struct agent_thread *t, size_t length_bytes);

// CPU and run-queue time of a thread of this process from the kernel, so far; UINT64_MAX each when
// not known. `tid` 0: the calling thread.
void agent_schedstat(uint32_t tid, uint64_t *cpu_ns, uint64_t *runq_ns);

#endif
