// SPDX-License-Identifier: Apache-2.0
// Makes records and small traces. Used by the tests of the trace and by make_trace. What it makes
// must stay the same, or the fixture and the seeds change. Threads: one owner.
#include "stream.h"

#include "trace/ticks.h"

#include <string.h>

#define PID 4711u
#define IMAGE UINT64_C(999999000000)

uint64_t stream_random(struct stream *s)
{
    if (!s->random)
        s->random = UINT64_C(0x9e3779b97f4a7c15);
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random;
}

void stream_add(struct stream *s, const void *record, size_t length_bytes)
{
    buf_add(&s->bytes, record, length_bytes);
}

// Lets some time pass.
static uint64_t pass(struct stream *s, uint64_t most_ticks)
{
    return s->now_ticks += 1 + stream_random(s) % most_ticks;
}

void stream_span(struct stream *s, unsigned depth, unsigned name, uint64_t start_ticks)
{
    const uint64_t dur_ticks = s->now_ticks - start_ticks;
    if (dur_ticks <= UINT32_MAX) {
        const struct trace_span span = {.kind = TRACE_SPAN,
            .depth = (uint8_t)depth,
            .name = (uint16_t)name,
            .dur_ticks = (uint32_t)dur_ticks,
            .end_ticks = s->now_ticks};
        stream_add(s, &span, sizeof span);
    } else {
        const struct trace_span_long span = {.kind = TRACE_SPAN_LONG,
            .depth = (uint8_t)depth,
            .name = (uint16_t)name,
            .dur_ticks = dur_ticks,
            .end_ticks = s->now_ticks};
        stream_add(s, &span, sizeof span);
    }
}

void stream_text(struct stream *s, enum trace_text_use use, unsigned id, uint32_t subject,
    const char *bytes, size_t length_bytes)
{
    static const char padding[16];
    const struct trace_text text = {.kind = TRACE_TEXT,
        .use = (uint8_t)use,
        .id = (uint16_t)id,
        .length_bytes = (uint32_t)length_bytes,
        .subject = subject};
    stream_add(s, &text, sizeof text);
    stream_add(s, bytes, length_bytes);
    stream_add(s, padding, (16 - length_bytes % 16) % 16);
}

static void attr(struct stream *s, unsigned depth, unsigned key, uint32_t aux, uint64_t value)
{
    const struct trace_attr record = {.kind = TRACE_ATTR,
        .depth = (uint8_t)depth,
        .key = (uint8_t)key,
        .aux = aux,
        .value = value};
    stream_add(s, &record, sizeof record);
}

static void split(struct stream *s, unsigned depth)
{
    const uint64_t off_ns = stream_random(s) % 100000;
    const struct trace_split record = {.kind = TRACE_SPLIT,
        .depth = (uint8_t)depth,
        .cause = (uint8_t)(stream_random(s) % TRACE_CAUSE_COUNT),
        .switches = 1 + (uint32_t)stream_random(s) % 3,
        .off_ns = off_ns,
        .runq_ns = off_ns / 3};
    stream_add(s, &record, sizeof record);
}

void stream_work(struct stream *s, unsigned names)
{
    const uint64_t outer_ticks = pass(s, 300);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t start_ticks = pass(s, 200);
        pass(s, 20000);
        attr(s, 1, TRACE_ATTR_BYTES, 0, stream_random(s) % 65536);
        if (stream_random(s) % 4 == 0)
            split(s, 1);
        stream_span(s, 1, 1 + (i + 1) % names, start_ticks);
    }
    pass(s, 100);
    attr(s, 0, TRACE_ATTR_SHAPE, 3 | 1u << 16, 640 | UINT64_C(480) << 32);
    attr(s, 0, TRACE_ATTR_ITEM, 0, s->bytes.length_bytes);
    stream_span(s, 0, 1, outer_ticks);
}

// One of each kind that stream_work does not make.
static void rare(struct stream *s, unsigned names)
{
    const uint64_t start_ticks = pass(s, 100);
    const uint64_t end_ticks = pass(s, 100000);
    const struct trace_fold fold = {.kind = TRACE_FOLD,
        .depth = 1,
        .name = (uint16_t)names,
        .calls = 1000,
        .self_ticks = (end_ticks - start_ticks) / 2,
        .first_start_ticks = start_ticks,
        .last_end_ticks = end_ticks,
        .off_ns = 500,
        .runq_ns = 20,
        .bytes = 123456,
        .max_ticks = 77};
    stream_add(s, &fold, sizeof fold);
    s->now_ticks += UINT64_C(5) << 32;
    split(s, 0);
    stream_span(s, 0, 1, start_ticks - 1);
    split(s, TRACE_DEPTH_ROOT);
    for (unsigned op = 0; op <= TRACE_ITEM_JOIN; op++) {
        const struct trace_item item = {.kind = TRACE_ITEM,
            .op = (uint8_t)op,
            .ticks = pass(s, 50),
            .id = 17 + op,
            .other = op == TRACE_ITEM_JOIN ? 99 : 0};
        stream_add(s, &item, sizeof item);
    }
    const struct trace_queue queue = {
        .kind = TRACE_QUEUE, .op = TRACE_QUEUE_GET, .name = 1, .depth = 5, .ticks = pass(s, 50)};
    stream_add(s, &queue, sizeof queue);
    const struct trace_counter counter = {
        .kind = TRACE_COUNTER, .name = 1, .ticks = pass(s, 50), .delta = -3};
    stream_add(s, &counter, sizeof counter);
    const struct trace_drop drop = {.kind = TRACE_DROP, .records = 4, .ticks = pass(s, 50)};
    stream_add(s, &drop, sizeof drop);
    stream_text(s, TRACE_TEXT_NOTE, 0, 0, "a note from a thread", 20);
}

void stream_thread(struct stream *s, uint32_t tid, unsigned rounds, unsigned names)
{
    struct trace_thread thread = {
        .kind = TRACE_THREAD, .op = TRACE_THREAD_START, .tid = tid, .ticks = pass(s, 10)};
    stream_add(s, &thread, sizeof thread);
    for (unsigned i = 0; i < rounds; i++) {
        stream_work(s, names);
        if (i % 16 == 8)
            rare(s, names);
    }
    thread.op = TRACE_THREAD_END;
    thread.ticks = pass(s, 10);
    thread.cpu_ns = 1000000;
    thread.runq_ns = UINT64_MAX;
    stream_add(s, &thread, sizeof thread);
}

void stream_samples(struct stream *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct trace_sample sample = {.kind = TRACE_SAMPLE,
            .metric = (uint16_t)(1 + i % (TRACE_METRIC_COUNT - 1)),
            .subject = i % 3 ? PID : 0,
            .ticks = pass(s, 100000),
            .value = i * UINT64_C(1000003)};
        stream_add(s, &sample, sizeof sample);
    }
    stream_text(s, TRACE_TEXT_NOTE, 0, 0, "a note from the launcher", 24);
}

void stream_process(struct buf *out, uint32_t pid, uint64_t image_ticks, unsigned names)
{
    struct stream texts = {0};
    for (unsigned id = 1; id <= names; id++) {
        struct buf text = {0};
        buf_printf(&text, "call_%u%c%s", id, 0, id % 2 ? "decode" : "load");
        stream_text(&texts, TRACE_TEXT_NAME, id, 0, text.at, text.length_bytes);
        buf_fini(&text);
    }
    stream_text(&texts, TRACE_TEXT_COVERAGE, 0, 0, "libjpeg.so.62\0libjpeg\0covered\0", 31);
    const struct trace_process process = {.magic = TRACE_PROCESS_MAGIC,
        .pid = pid,
        .parent_pid = 1,
        .image_ticks = image_ticks,
        .split_method = TRACE_SPLIT_RSEQ,
        .clock_is_tsc = 1,
        .threads = 2,
        .text_reserved_bytes = texts.bytes.length_bytes,
        .text_length_bytes = texts.bytes.length_bytes};
    buf_add(out, &process, sizeof process);
    buf_add(out, texts.bytes.at, texts.bytes.length_bytes);
    buf_fini(&texts.bytes);
}

static const char meta_text[] =
    "{\"command\":[\"./photo\"],\"clock\":{\"is_tsc\":true,\"start_ticks\":1000000000000,"
    "\"start_mono_ns\":5000000000,\"start_unix_ns\":1700000000000000000,"
    "\"later_ticks\":1002000000000,\"later_mono_ns\":6000000000}}";
static const char summary_text[] =
    "{\"ended\":\"exit\",\"status\":0,\"clock\":{\"later_ticks\":1020000000000,"
    "\"later_mono_ns\":15000000000}}";

struct trace_pack *stream_trace_begin(const char *path, struct err *e)
{
    const struct trace_block_id meta_id = {.type = TRACE_BLOCK_META};
    const struct trace_block_id process_id = {
        .type = TRACE_BLOCK_PROCESS, .pid = PID, .image_ticks = IMAGE};
    struct buf process = {0};
    struct trace_pack *pack = trace_pack_create(path, UINT64_C(1700000000000000000), e);
    stream_process(&process, PID, IMAGE, 4);
    if (pack && (trace_pack_block(pack, &meta_id, meta_text, sizeof meta_text - 1, e) < 0 ||
                    trace_pack_block(pack, &process_id, process.at, process.length_bytes, e) < 0))
        trace_pack_abort(&pack);
    buf_fini(&process);
    return pack;
}

static int thread_write(
    struct trace_pack *pack, uint32_t thread_seq, unsigned rounds, unsigned parts, struct err *e)
{
    struct stream s = {.now_ticks = STREAM_START_TICKS, .random = thread_seq + 1};
    int result = 0;
    stream_thread(&s, PID + thread_seq, rounds, 4);
    // The first record of a thread has 32 bytes, so a part may end behind it.
    size_t begin_bytes = 0;
    for (unsigned part = 0; result == 0 && part < parts; part++) {
        const size_t end_bytes = part + 1 < parts ? begin_bytes + 32 : s.bytes.length_bytes;
        const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
            .pid = PID,
            .tid = PID + thread_seq,
            .image_ticks = IMAGE,
            .thread_seq = thread_seq,
            .part = part};
        result = trace_pack_block(pack, &id, s.bytes.at + begin_bytes, end_bytes - begin_bytes, e);
        begin_bytes = end_bytes;
    }
    buf_fini(&s.bytes);
    return result;
}

int stream_trace_write(const char *path, struct err *e)
{
    struct trace_block_id id = {.type = TRACE_BLOCK_SAMPLES};
    struct stream samples = {.now_ticks = STREAM_START_TICKS};
    struct trace_pack *pack = stream_trace_begin(path, e);
    int result = -1;
    stream_samples(&samples, 30);
    if (!pack || thread_write(pack, 0, 10, 1, e) < 0 || thread_write(pack, 1, 2, 2, e) < 0)
        goto done;
    if (trace_pack_block(pack, &id, samples.bytes.at, samples.bytes.length_bytes, e) < 0)
        goto done;
    id.type = TRACE_BLOCK_SUMMARY;
    if (trace_pack_block(pack, &id, summary_text, sizeof summary_text - 1, e) == 0)
        result = trace_pack_commit(&pack, e);
done:
    trace_pack_abort(&pack);
    buf_fini(&samples.bytes);
    return result;
}
