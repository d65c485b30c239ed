// SPDX-License-Identifier: Apache-2.0
// The bytes of a trace: structs and size asserts only, no code. Everything is little-endian and
// fixed-width. Three containers hold them: a thread's *segment* and a process's *process file* in
// the run directory (memory-mapped by the target, read by the launcher), and the packed `*.lmt`.
// docs/trace-format.md explains it in prose. Changes are additive: new kinds, new feature bits.
#ifndef LIGHTMETER_TRACE_FORMAT_H
#define LIGHTMETER_TRACE_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

// ---- Records. Each is a multiple of 16 bytes and begins with its kind. -------------------------
// Times are raw ticks of the run's clock; trace/ticks.h converts. A thread's records are in the
// order in which things ended, so children come before their parent. SPLIT, ATTR and records with
// the same meaning come just before the SPAN (or FOLD) of the same depth that they describe.

#define TRACE_UNIT_BYTES 16u

enum trace_kind {
    TRACE_NONE = 0,      // never written
    TRACE_SPAN = 1,      // struct trace_span
    TRACE_SPAN_LONG = 2, // struct trace_span_long
    TRACE_SPLIT = 3,     // struct trace_split
    TRACE_FOLD = 4,      // struct trace_fold
    TRACE_ATTR = 5,      // struct trace_attr
    TRACE_ITEM = 6,      // struct trace_item
    TRACE_QUEUE = 7,     // struct trace_queue
    TRACE_COUNTER = 8,   // struct trace_counter
    TRACE_TEXT = 9,      // struct trace_text, then its bytes, padded to a unit
    TRACE_THREAD = 10,   // struct trace_thread
    TRACE_DROP = 11,     // struct trace_drop
    TRACE_SAMPLE = 12,   // struct trace_sample
    TRACE_KIND_COUNT
};

// What a thread waited for. `runq` is told apart by measurement; the rest follows from the call.
enum trace_cause {
    TRACE_CAUSE_OTHER = 0, // unknown, page faults, hypervisor steal
    TRACE_CAUSE_IO = 1,
    TRACE_CAUSE_NET = 2,
    TRACE_CAUSE_LOCK = 3,
    TRACE_CAUSE_GIL = 4,
    TRACE_CAUSE_ACCEL = 5,
    TRACE_CAUSE_SLEEP = 6,
    TRACE_CAUSE_COUNT
};

// One interval of a stage on the thread that wrote it: [end - dur, end].
struct trace_span {
    uint8_t kind;
    uint8_t depth; // of the span stack; 0 is outermost
    uint16_t name; // TRACE_TEXT_NAME of this process
    uint32_t dur_ticks;
    uint64_t end_ticks;
};
static_assert(sizeof(struct trace_span) == 16, "on disk");

// The same for a duration of 2^32 ticks or more.
struct trace_span_long {
    uint8_t kind, depth;
    uint16_t name;
    uint32_t zero;
    uint64_t end_ticks;
    uint64_t dur_ticks;
    uint64_t zero2;
};
static_assert(sizeof(struct trace_span_long) == 32, "on disk");

// Time off the CPU within the *own* time (children excluded) of the next span closed at `depth` on
// this thread. No split: the own time was all on the CPU. With `depth` TRACE_DEPTH_ROOT it belongs
// to the thread outside all spans, up to now, since the last such record.
struct trace_split {
    uint8_t kind, depth;
    uint8_t cause; // enum trace_cause of off - runq
    uint8_t zero;
    uint32_t switches; // times the thread was found to have been switched out
    uint64_t off_ns;   // wall minus CPU
    uint64_t runq_ns;  // part of off_ns: runnable, waiting for a CPU
    uint64_t zero2;
};
static_assert(sizeof(struct trace_split) == 32, "on disk");
#define TRACE_DEPTH_ROOT 255u

// Many short calls of one name, folded: they ran between first_start and last_end at `depth`, below
// the next span closed at depth - 1 (or below none), and took `self_ticks` together, what they
// called excluded. SPLITs do not precede it: off-CPU time is in it, with the name's cause.
struct trace_fold {
    uint8_t kind, depth;
    uint16_t name;
    uint32_t calls;
    uint64_t self_ticks;
    uint64_t first_start_ticks;
    uint64_t last_end_ticks;
    uint64_t off_ns;
    uint64_t runq_ns;
    uint64_t bytes;     // sum of TRACE_ATTR_BYTES of the calls
    uint64_t max_ticks; // longest single call, what it called included
};
static_assert(sizeof(struct trace_fold) == 64, "on disk");

enum trace_attr_key {
    TRACE_ATTR_NONE = 0,
    TRACE_ATTR_BYTES = 1,  // value: bytes read, written, decoded from
    TRACE_ATTR_SHAPE = 2,  // value: width | height << 32, pixels; aux: channels | batch << 16
    TRACE_ATTR_SCALE = 3,  // value: numerator | denominator << 32 of a scaled decode
    TRACE_ATTR_ITEM = 4,   // value: the item that the span worked on (of the process)
    TRACE_ATTR_CALLER = 5, // reserved for the object that called
    TRACE_ATTR_SOURCE = 6, // value: width | height << 32 of the input, where SHAPE is the output
    TRACE_ATTR_OPEN = 7,   // value 1: had not returned when its process was killed, where it ends
    TRACE_ATTR_FILE = 8,   // value: inode of the file; aux: its device, folded to 32 bits
    TRACE_ATTR_OFFSET = 9, // value: byte of the file where the call began
    // Of a file just opened: value: pages of its beginning in memory | pages looked at << 32; aux:
    // bytes of a page.
    TRACE_ATTR_RESIDENT = 10,
    TRACE_ATTR_COLOUR = 11, // value: colour conversion, the library's own code
    TRACE_ATTR_FILTER = 12, // value: enum trace_filter
    TRACE_ATTR_DTYPE =
        13, // value: enum trace_dtype of what was made; aux: of what it was made from
    TRACE_ATTR_ELEMENTS = 14, // value: numbers (of DTYPE) worked on
    TRACE_ATTR_SESSION = 15,  // value: address of the session, model or interpreter that worked
    TRACE_ATTR_INPUT = 16,    // value: address of the first byte of the input
    TRACE_ATTR_OUTPUT = 17,   // value: address of the first byte of the output
    TRACE_ATTR_THREADS = 18,  // value: threads of the pool that the call works with
    // value: minor page faults while it was open, what it called included; aux: major ones. Of
    // calls of names that took a millisecond before.
    TRACE_ATTR_FAULTS = 19,
    TRACE_ATTR_FRESH = 20, // value: bytes that the span's own calls mapped anew
    TRACE_ATTR_ACCEL = 21, // value: nanoseconds that an accelerator worked for the call
    TRACE_ATTR_PTS = 22,   // value: microseconds of the frame's or packet's presentation time
    // Of a FOLD, one for each bucket: value: calls whose durations (what they called included) are
    // in the bucket; aux: the bucket (trace_bucket_of).
    TRACE_ATTR_CALLS_OF = 23,
    // value: ns since the first call on the same picture, of the call that ends it.
    TRACE_ATTR_ELAPSED = 24,
    TRACE_ATTR_KEY_COUNT
};

// Buckets of durations in ns: one for each up to 15, then eight for each power of two. The last
// one has no upper end (73 s and more).
#define TRACE_BUCKETS 280u
static inline unsigned trace_bucket_of(uint64_t ns)
{
    if (ns < 16)
        return (unsigned)ns;
    const unsigned power = 63u - (unsigned)__builtin_clzll(ns);
    const unsigned bucket = (power - 2) * 8 + (unsigned)(ns >> (power - 3) & 7);
    return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

// The middle of a bucket.
static inline uint64_t trace_bucket_ns(unsigned bucket)
{
    if (bucket < 16)
        return bucket;
    const unsigned power = bucket / 8 + 2;
    return ((uint64_t)(8 + bucket % 8) << (power - 3)) + ((uint64_t)1 << (power - 3)) / 2;
}

// How pixels between pixels are made.
enum trace_filter {
    TRACE_FILTER_OTHER = 0,
    TRACE_FILTER_NEAREST = 1,
    TRACE_FILTER_BILINEAR = 2,
    TRACE_FILTER_BICUBIC = 3,
    TRACE_FILTER_AREA = 4,
    TRACE_FILTER_LANCZOS = 5,
    TRACE_FILTER_COUNT
};

enum trace_dtype {
    TRACE_DTYPE_UNKNOWN = 0,
    TRACE_DTYPE_U8 = 1,
    TRACE_DTYPE_I8 = 2,
    TRACE_DTYPE_U16 = 3,
    TRACE_DTYPE_I16 = 4,
    TRACE_DTYPE_I32 = 5,
    TRACE_DTYPE_F32 = 6,
    TRACE_DTYPE_F64 = 7,
    TRACE_DTYPE_F16 = 8,
    TRACE_DTYPE_BF16 = 9,
    TRACE_DTYPE_I64 = 10,
    TRACE_DTYPE_BOOL = 11,
    TRACE_DTYPE_COUNT
};

// An attribute of the next span closed at `depth`.
struct trace_attr {
    uint8_t kind, depth, key, zero;
    uint32_t aux;
    uint64_t value;
};
static_assert(sizeof(struct trace_attr) == 16, "on disk");

enum trace_item_op {
    TRACE_ITEM_BEGIN = 0,
    TRACE_ITEM_USE = 1,
    TRACE_ITEM_END = 2,
    TRACE_ITEM_JOIN = 3, // `other` is the batch that `id` becomes part of; one record per item
    TRACE_ITEM_MANY = 4, // `id` items ended since the last such record of the thread, or since the
                         // trace came to its limit
};
struct trace_item {
    uint8_t kind, op;
    uint16_t zero;
    uint32_t zero2;
    uint64_t ticks;
    uint64_t id;
    uint64_t other;
};
static_assert(sizeof(struct trace_item) == 32, "on disk");

enum trace_queue_op { TRACE_QUEUE_PUT = 0, TRACE_QUEUE_GET = 1 };
struct trace_queue {
    uint8_t kind, op;
    uint16_t name;
    uint32_t depth; // elements after the operation
    uint64_t ticks;
};
static_assert(sizeof(struct trace_queue) == 16, "on disk");

struct trace_counter {
    uint8_t kind, zero;
    uint16_t name;
    uint32_t zero2;
    uint64_t ticks;
    int64_t delta;
    uint64_t zero3;
};
static_assert(sizeof(struct trace_counter) == 32, "on disk");

enum trace_text_use {
    // id: the name; bytes: name '\0' stage; aux: enum trace_cause, and TRACE_NAME_TEAM
    TRACE_TEXT_NAME = 0,
    TRACE_TEXT_COVERAGE =
        1,               // bytes: library '\0' hook set '\0' covered|uninstrumented|absent '\0' why
    TRACE_TEXT_NOTE = 2, // bytes: something the report should say ("hook x could not start: ...")
    TRACE_TEXT_THREAD =
        3, // subject: tid; bytes: thread name '\0' library that created it ("" unknown)
    // subject: its number; bytes: of each frame, outermost first, function '\0' file '\0' line '\0'
    TRACE_TEXT_STACK = 4,
};
// The name is that of a piece of a call that another thread has open: time of the stage, no call.
#define TRACE_NAME_TEAM 0x100u
struct trace_text {
    uint8_t kind, use;
    uint16_t id;
    uint32_t length_bytes; // that follow, without the padding
    uint32_t subject;
    uint32_t aux;
};
static_assert(sizeof(struct trace_text) == 16, "on disk");

enum trace_thread_op {
    TRACE_THREAD_START = 0, // first record of a thread whose beginning was seen
    TRACE_THREAD_SEEN = 1,  // first record of a thread that was there before us
    TRACE_THREAD_END = 2,   // it ended, or its process did
};
struct trace_thread {
    uint8_t kind, op;
    uint16_t zero;
    uint32_t tid;
    uint64_t ticks;
    uint64_t cpu_ns;  // used by the thread so far
    uint64_t runq_ns; // waited so far; UINT64_MAX when not known
};
static_assert(sizeof(struct trace_thread) == 32, "on disk");

struct trace_drop {
    uint8_t kind, zero;
    uint16_t zero2;
    uint32_t records; // lost on this thread at this place
    uint64_t ticks;
};
static_assert(sizeof(struct trace_drop) == 16, "on disk");

// What the launcher saw from outside. `subject` is a pid, a tid, or 0 for the machine.
enum trace_metric {
    TRACE_METRIC_NONE = 0,
    TRACE_METRIC_PROCESS_CPU_NS = 1, // user + system, so far (10 ms steps from /proc)
    TRACE_METRIC_PROCESS_RSS_BYTES = 2,
    TRACE_METRIC_PROCESS_THREADS = 3,
    TRACE_METRIC_PROCESS_MINFLT = 4,
    TRACE_METRIC_PROCESS_MAJFLT = 5,
    TRACE_METRIC_PROCESS_READ_BYTES = 6,  // from storage
    TRACE_METRIC_PROCESS_RCHAR_BYTES = 7, // by read calls
    TRACE_METRIC_PROCESS_WRITE_BYTES = 8,
    TRACE_METRIC_PROCESS_WCHAR_BYTES = 9,
    TRACE_METRIC_THREAD_CPU_NS = 10,  // subject: tid
    TRACE_METRIC_THREAD_RUNQ_NS = 11, // subject: tid
    TRACE_METRIC_CGROUP_PERIODS = 12,
    TRACE_METRIC_CGROUP_THROTTLED = 13,
    TRACE_METRIC_CGROUP_THROTTLED_NS = 14,
    TRACE_METRIC_PSI_CPU_SOME_US = 15,
    TRACE_METRIC_PSI_IO_SOME_US = 16,
    TRACE_METRIC_PSI_IO_FULL_US = 17,
    TRACE_METRIC_PSI_MEMORY_SOME_US = 18,
    TRACE_METRIC_STEAL_NS = 19,
    TRACE_METRIC_MACHINE_BUSY_NS = 20, // all CPUs, user + nice + system + irq + softirq
    TRACE_METRIC_RUNNABLE = 21,        // runnable threads on the machine at this moment
    // From the scheduler's events; subject: tid. Time off the CPU so far, by why it left it. One of
    // subject 0: the events were given up under way, and the account of no thread is whole.
    TRACE_METRIC_THREAD_SLEEP_NS = 22,    // asleep
    TRACE_METRIC_THREAD_DISK_NS = 23,     // in uninterruptible sleep: storage, mostly
    TRACE_METRIC_THREAD_RUNNABLE_NS = 24, // pushed off, or woken and not yet back
    TRACE_METRIC_THREAD_WOKEN_BY = 25,    // value: tid that woke it | how often << 32
    // Of an accelerator; subject: its number, from 0. Busy: of the time since the driver last
    // looked.
    TRACE_METRIC_ACCEL_BUSY_PERCENT = 26,
    TRACE_METRIC_ACCEL_MEMORY_BUSY_PERCENT = 27,
    TRACE_METRIC_ACCEL_USED_BYTES = 28,
    TRACE_METRIC_ACCEL_TOTAL_BYTES = 29,
    TRACE_METRIC_PYTHON_STACK = 30, // subject: tid; value: TRACE_TEXT_STACK that it was in
    TRACE_METRIC_COUNT
};
struct trace_sample {
    uint8_t kind, zero;
    uint16_t metric;
    uint32_t subject;
    uint64_t ticks;
    uint64_t value;
    uint64_t zero2;
};
static_assert(sizeof(struct trace_sample) == 32, "on disk");

// ---- The page `control`: the launcher writes, the target reads. ---------------------------------

struct trace_control {
    uint32_t state; // what the target does; 0: it records
    uint32_t zero;
    uint64_t beat_ns; // of the monotonic clock: the launcher's last round
    // Which free segments there were at its end, small and large: bit N for the one of number N,
    // and in the upper half the number of the round.
    uint64_t stock[2];
};
static_assert(sizeof(struct trace_control) == 32, "shared");

// ---- A segment: one thread writes, the launcher reads. ------------------------------------------
// File name in the run directory: `s-PID-IMAGE-THREAD-SEQ` (all hexadecimal); free ones are
// `free-BYTES-N`, claimed by renaming.

#define TRACE_SEGMENT_MAGIC 0x31304745534d4c00ull    // "\0LMSEG01"
#define TRACE_SEGMENT_RETURNED 0x31304b4341424c00ull // "\0LBACK01": the launcher has taken it all
#define TRACE_SEGMENT_SMALL_BYTES (16u << 10)        // a thread's first
#define TRACE_SEGMENT_LARGE_BYTES (1024u << 10)

enum trace_segment_state {
    TRACE_SEGMENT_OPEN = 1,   // being written
    TRACE_SEGMENT_FULL = 2,   // its thread has gone on to the next
    TRACE_SEGMENT_CLOSED = 3, // its thread has ended
    // As full, and its thread still has it mapped: once the launcher has taken the records and put
    // TRACE_SEGMENT_RETURNED in place of the magic, the thread may write it anew under a new name.
    TRACE_SEGMENT_KEPT = 4,
};
struct trace_segment {
    uint64_t magic;
    uint32_t pid, tid;
    uint64_t image_ticks;  // tells apart processes with one pid (exec, reuse)
    uint32_t thread_seq;   // number of the thread in its process
    uint32_t segment_seq;  // number of the segment in its thread, from 0
    uint32_t length_bytes; // of the file
    uint32_t state;        // enum trace_segment_state; written with release order
    uint64_t used_bytes; // records behind this header; grows with release order, whole records only
    // The waiting call that the thread is in, for when its process dies there. The start is written
    // last, and 0 first when the rest changes.
    uint64_t wait_start_ticks; // 0: none
    uint16_t wait_name;
    uint8_t wait_depth;
    uint8_t zero;
    uint32_t zero2;
};
static_assert(sizeof(struct trace_segment) == 64, "on disk");
static_assert(offsetof(struct trace_segment, used_bytes) == 40, "on disk");

// ---- A process file: names, coverage and notes of one process image. ----------------------------
// File name: `p-PID-IMAGE`. Behind the header lie TRACE_TEXT records; a writer reserves its place
// by adding to text_reserved_bytes and writes the kind last (release), so a reader stops at kind 0.

#define TRACE_PROCESS_MAGIC 0x3130434f52504d4cull // "LMPROC01"

enum trace_split_method {
    TRACE_SPLIT_NONE = 0,      // wall time only
    TRACE_SPLIT_RSEQ = 1,      // restartable-sequence area as a switch test
    TRACE_SPLIT_CPU_CLOCK = 2, // CLOCK_THREAD_CPUTIME_ID at both ends
    TRACE_SPLIT_PERF_PAGE = 3, // lock word of a perf event page as a switch test
};
struct trace_process {
    uint64_t magic;
    uint32_t pid, parent_pid;
    uint64_t image_ticks;  // when the agent came up in this image
    uint64_t end_ticks;    // 0 until the agent saw the process end
    uint32_t split_method; // enum trace_split_method
    uint32_t clock_is_tsc;
    uint32_t exit_seen; // 1 exit, 2 _exit, 3 exec
    uint32_t threads;   // that wrote anything
    uint64_t dropped_records;
    uint64_t dropped_threads; // threads for which no segment could be had
    uint64_t text_reserved_bytes;
    uint64_t text_length_bytes; // room for text so far
    uint64_t start_ticks;       // of the process (from the kernel), 0 when not known
    uint64_t flags;             // bit 0: a fork without exec of the parent
    // Of a CPython whose shim is up: the address of its _PyRuntime, and PY_VERSION_HEX, which is
    // stored last; 0: there is none.
    uint64_t python_runtime, python_version;
    uint64_t zero[2];
};
static_assert(sizeof(struct trace_process) == 128, "on disk");

// ---- The packed file `*.lmt`: a file header, then blocks. ---------------------------------------

#define TRACE_FILE_MAGIC 0x0a3145434152544cull // "LTRACE1\n"
#define TRACE_FILE_VERSION 1u

struct trace_file {
    uint64_t magic;
    uint32_t version;
    uint32_t features; // bits a reader must know; an unknown one is an error
    uint64_t created_unix_ns;
    uint64_t zero;
};
static_assert(sizeof(struct trace_file) == 32, "on disk");

enum trace_block_type {
    TRACE_BLOCK_META = 1, // JSON: the run (command, host, clock, options); first, may be repeated
    TRACE_BLOCK_PROCESS = 2, // a process file's used bytes; the last one of an image counts
    TRACE_BLOCK_SEGMENT = 3, // a thread's records, in order of segment_seq and part
    TRACE_BLOCK_SAMPLES = 4, // TRACE_SAMPLE and TRACE_TEXT records from the launcher
    TRACE_BLOCK_SUMMARY = 5, // JSON: how the run ended; last. Missing: the trace was cut
};
enum trace_block_coding {
    TRACE_CODING_ZSTD = 1,        // plain
    TRACE_CODING_PLANES_ZSTD = 2, // records turned into byte planes first (trace/planes.h)
};

#define TRACE_BLOCK_MAGIC 0x4b424d4cu // "LMBK"
#define TRACE_BLOCK_RAW_LIMIT_BYTES (64u << 20)

struct trace_block {
    uint32_t magic;
    uint16_t type;   // enum trace_block_type; unknown ones are skipped
    uint16_t coding; // enum trace_block_coding
    uint32_t raw_bytes;
    uint32_t stored_bytes; // that follow this header
    uint64_t payload_hash; // XXH3-64 of the stored bytes
    uint32_t pid, tid;
    uint64_t image_ticks;
    uint32_t thread_seq, segment_seq;
    uint32_t part; // blocks of one segment that was packed more than once, from 0
    uint32_t zero;
    uint64_t header_hash; // XXH3-64 of the bytes of this struct before it
};
static_assert(sizeof(struct trace_block) == 64, "on disk");

#endif
