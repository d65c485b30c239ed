// SPDX-License-Identifier: Apache-2.0
// See fixtures.h. Each run is a few hundred items of a pipeline that a reader would recognise.
#include "fixtures.h"

#include "sketch.h"

#include <stddef.h>

#define MS SKETCH_MS
#define ITEMS 200

// ---- Building blocks. --------------------------------------------------------------------------

static void decode_item(struct sketch *s, uint64_t ms)
{
    sketch_call(s, "read", "load", MS / 10);
    sketch_call(s, "cv::imread", "decode", ms * MS);
    sketch_call(s, "cv::resize", "preprocess", 2 * MS);
}

static void serial_loop(struct sketch *s, int items)
{
    sketch_thread(s, 100, "", 0);
    for (int i = 0; i < items; i++)
        decode_item(s, 8);
}

static void storage_bytes(struct sketch *s, uint64_t end_ms, uint64_t from_storage, uint64_t read)
{
    sketch_counter(s, TRACE_METRIC_PROCESS_READ_BYTES, 100, end_ms * MS, from_storage);
    sketch_counter(s, TRACE_METRIC_PROCESS_RCHAR_BYTES, 100, end_ms * MS, read);
}

// ---- startup. ----------------------------------------------------------------------------------

// Imports for two seconds, then 50 photographs.
static struct model *startup_fires(void)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 2000 * MS);
    for (int i = 0; i < 50; i++)
        decode_item(&s, 8);
    return sketch_finish(&s);
}

// Two very long items: the first is half of the run, and no start-up.
static struct model *startup_quiet(void)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 20 * MS);
    for (int i = 0; i < 2; i++)
        sketch_call(&s, "cv::imread", "decode", 3000 * MS);
    return sketch_finish(&s);
}

// ---- cpu_quota. --------------------------------------------------------------------------------

static struct model *quota_run(uint64_t throttled)
{
    struct sketch s = sketch_new(8, 1.0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 4; i++) {
            sketch_begin(&s, "cv::imread", "decode");
            sketch_cpu(&s, 10 * MS);
            sketch_runq(&s, 30 * MS);
            sketch_end(&s);
        }
    }
    sketch_counter(&s, TRACE_METRIC_CGROUP_PERIODS, 0, 2000 * MS, 20);
    sketch_counter(&s, TRACE_METRIC_CGROUP_THROTTLED, 0, 2000 * MS, throttled);
    sketch_counter(&s, TRACE_METRIC_CGROUP_THROTTLED_NS, 0, 2000 * MS, throttled * 60 * MS);
    return sketch_finish(&s);
}

static struct model *cpu_quota_fires(void)
{
    return quota_run(18);
}

static struct model *cpu_quota_quiet(void)
{
    return quota_run(1);
}

// ---- source_paced. -----------------------------------------------------------------------------

// A camera at 30 frames a second (a poll on its device), and 8 ms of work on each.
static struct model *source_paced_fires(void)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < ITEMS; i++) {
        const uint64_t work = 8 * MS;
        sketch_wait(&s, "poll", TRACE_CAUSE_OTHER, 33 * MS - work - MS);
        sketch_call(&s, "read(pipe)", "receive", MS);
        sketch_call(&s, "cv::imdecode", "decode", work);
    }
    return sketch_finish(&s);
}

// The same camera, but the work fills the time between two frames, and a thread that prints
// statistics sleeps all the time.
static struct model *source_paced_quiet(void)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < ITEMS; i++) {
        sketch_wait(&s, "poll", TRACE_CAUSE_OTHER, 5 * MS);
        sketch_call(&s, "cv::imdecode", "decode", 28 * MS);
    }
    sketch_thread(&s, 101, "", 0);
    sketch_wait(&s, "nanosleep", TRACE_CAUSE_SLEEP, 33 * ITEMS * MS);
    return sketch_finish(&s);
}

// ---- oversubscribed. ---------------------------------------------------------------------------

// Inference with `pool` spinning pool threads beside the caller, on two cores.
static struct model *inference_run(uint32_t pool)
{
    struct sketch s = sketch_new(2, 0);
    const double share = 2.0 / (pool + 1);
    const uint64_t each = (uint64_t)(20 * MS * (share < 1 ? share : 1));
    for (uint32_t t = 0; t <= pool; t++) {
        sketch_thread(&s, 100 + t, t ? "libonnxruntime.so.1" : "", 0);
        for (int i = 0; i < ITEMS; i++) {
            if (!t)
                sketch_begin(&s, "OrtApi::Run", "infer");
            sketch_cpu(&s, each);
            if (each < 20 * MS)
                sketch_runq(&s, 20 * MS - each);
            if (!t)
                sketch_end(&s);
        }
    }
    return sketch_finish(&s);
}

static struct model *oversubscribed_fires(void)
{
    return inference_run(7);
}

static struct model *oversubscribed_quiet(void)
{
    return inference_run(1);
}

// ---- lock. -------------------------------------------------------------------------------------

// Four workers; each item needs 2 ms alone and 6 ms under one lock.
static struct model *lock_fires(void)
{
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 4; i++) {
            sketch_call(&s, "cv::imdecode", "decode", 2 * MS);
            sketch_wait(&s, "pthread_mutex_lock", TRACE_CAUSE_LOCK, 16 * MS);
            sketch_call(&s, "cv::resize", "preprocess", 6 * MS);
        }
    }
    return sketch_finish(&s);
}

// The same waiting, but for a queue to fill; the queue's own lock is waited for now and then.
static struct model *lock_quiet(void)
{
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 4; i++) {
            sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, 13 * MS);
            sketch_wait(&s, "pthread_mutex_lock", TRACE_CAUSE_LOCK, 3 * MS);
            sketch_call(&s, "cv::imdecode", "decode", 8 * MS);
        }
    }
    return sketch_finish(&s);
}

// ---- gil. --------------------------------------------------------------------------------------

// Four threads of Python, one of which runs at a time: in turns of 5 ms, the others wait.
static struct model *gil_fires(void)
{
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 4; i++) {
            sketch_begin(&s, "postprocess", "postprocess");
            sketch_wait(&s, "take the GIL", TRACE_CAUSE_GIL, 15 * MS);
            sketch_cpu(&s, 5 * MS);
            sketch_end(&s);
        }
    }
    return sketch_finish(&s);
}

// The same threads, decoding most of the time without it.
static struct model *gil_quiet(void)
{
    struct sketch s = sketch_new(4, 0);
    for (uint32_t t = 0; t < 4; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 4; i++) {
            sketch_begin(&s, "PIL.ImageFile.ImageFile.load", "decode");
            sketch_wait(&s, "take the GIL", TRACE_CAUSE_GIL, 2 * MS);
            sketch_cpu(&s, 18 * MS);
            sketch_end(&s);
        }
    }
    return sketch_finish(&s);
}

// ---- io_latency, io_bandwidth. -----------------------------------------------------------------

// `loaders` threads read files of 200 KB; one decodes.
static struct model *reading_run(uint32_t loaders, uint64_t blocked, int is_cold)
{
    struct sketch s = sketch_new(4, 0);
    const uint64_t wall_ms = ITEMS * (blocked + 4);
    for (uint32_t t = 0; t < loaders; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS; i++) {
            sketch_begin(&s, "read", "load");
            sketch_bytes(&s, 200000);
            if (blocked)
                sketch_blocked(&s, TRACE_CAUSE_IO, blocked * MS);
            sketch_cpu(&s, MS);
            sketch_end(&s);
            sketch_call(&s, "cv::imdecode", "decode", 3 * MS);
        }
    }
    storage_bytes(&s, wall_ms, is_cold ? 200000u * ITEMS : 0, 200000u * ITEMS);
    return sketch_finish(&s);
}

static struct model *io_latency_fires(void)
{
    return reading_run(1, 8, 1);
}

static struct model *io_latency_quiet(void)
{
    return reading_run(1, 0, 0);
}

static struct model *io_bandwidth_fires(void)
{
    return reading_run(4, 12, 1);
}

static struct model *io_bandwidth_quiet(void)
{
    return reading_run(1, 12, 1);
}

// ---- cpu_single_thread, cpu_saturated, balanced. -----------------------------------------------

static struct model *cpu_single_thread_fires(void)
{
    struct sketch s = sketch_new(2, 0);
    serial_loop(&s, ITEMS);
    sketch_cores(&s, 2020 * MS, 1.0, 0);
    return sketch_finish(&s);
}

// The same loop where one core is all there is.
static struct model *cpu_single_thread_quiet(void)
{
    struct sketch s = sketch_new(1, 0);
    serial_loop(&s, ITEMS);
    sketch_cores(&s, 2020 * MS, 1.0, 0);
    return sketch_finish(&s);
}

static struct model *workers_run(double cores)
{
    struct sketch s = sketch_new(cores, 0);
    for (uint32_t t = 0; t < 3; t++) {
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS / 2; i++) {
            sketch_begin(&s, "cv::imread", "decode");
            sketch_cpu(&s, 12 * MS);
            sketch_runq(&s, 6 * MS);
            sketch_end(&s);
        }
    }
    return sketch_finish(&s);
}

static struct model *cpu_saturated_fires(void)
{
    return workers_run(2);
}

static struct model *cpu_saturated_quiet(void)
{
    return workers_run(4);
}

// A pipeline of three threads with queues between them; the middle stage takes `middle` ms.
static struct model *pipeline_run(uint64_t middle)
{
    static const char *const names[] = {"cv::imdecode", "cv::resize", "cv::imencode"};
    static const char *const stages[] = {"decode", "preprocess", "encode"};
    struct sketch s = sketch_new(8, 0);
    for (uint32_t t = 0; t < 3; t++) {
        const uint64_t work = t == 1 ? middle : 9, period = middle > 9 ? middle + 1 : 10;
        sketch_thread(&s, 100 + t, "", 0);
        for (int i = 0; i < ITEMS; i++) {
            sketch_call(&s, names[t], stages[t], work * MS);
            sketch_wait(&s, "pthread_cond_wait", TRACE_CAUSE_LOCK, (period - work) * MS);
        }
    }
    return sketch_finish(&s);
}

static struct model *balanced_fires(void)
{
    return pipeline_run(9);
}

static struct model *balanced_quiet(void)
{
    return pipeline_run(30);
}

const struct fixture_pair fixture_pairs[] = {
    {"startup", startup_fires, startup_quiet},
    {"cpu_quota", cpu_quota_fires, cpu_quota_quiet},
    {"source_paced", source_paced_fires, source_paced_quiet},
    {"oversubscribed", oversubscribed_fires, oversubscribed_quiet},
    {"lock", lock_fires, lock_quiet},
    {"gil", gil_fires, gil_quiet},
    {"io_latency", io_latency_fires, io_latency_quiet},
    {"io_bandwidth", io_bandwidth_fires, io_bandwidth_quiet},
    {"cpu_single_thread", cpu_single_thread_fires, cpu_single_thread_quiet},
    {"cpu_saturated", cpu_saturated_fires, cpu_saturated_quiet},
    {"balanced", balanced_fires, balanced_quiet},
    {NULL, NULL, NULL},
};
