// SPDX-License-Identifier: Apache-2.0
// Writes the small trace of the tests to a file, or all fuzz seeds into a folder. Run by hand when
// the format changes: the fixture of an old version is never written again. Threads: one.
#include "stream.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

// Writes a damaged variant of the trace: `cut_bytes` of it, the byte at `change` flipped.
static int variant_write(const struct buf *trace, const char *folder, const char *name,
    size_t cut_bytes, size_t change, struct err *e)
{
    struct buf path = {0}, copy = {0};
    buf_printf(&path, "%s/%s.lmt", folder, name);
    buf_add(&copy, trace->at, cut_bytes);
    if (change < copy.length_bytes)
        copy.at[change] = (char)(copy.at[change] ^ 0x55);
    const int result = file_write(buf_text(&path), copy.at, copy.length_bytes, e);
    buf_fini(&path);
    buf_fini(&copy);
    return result;
}

// Every attribute, calls and items summed up with their durations.
static void sums_add(struct stream *s)
{
    const uint64_t start_ticks = s->now_ticks;
    s->now_ticks += 1000000;
    for (unsigned key = 1; key < TRACE_ATTR_KEY_COUNT; key++) {
        const struct trace_attr attr = {
            TRACE_ATTR, 0, (uint8_t)key, 0, key, key * UINT64_C(0x100000001)};
        stream_add(s, &attr, sizeof attr);
    }
    stream_span(s, 0, 1, start_ticks);
    for (unsigned bucket = 3; bucket < TRACE_BUCKETS; bucket += 46) {
        const struct trace_attr attr = {TRACE_ATTR, 0, TRACE_ATTR_CALLS_OF, 0, bucket, bucket};
        stream_add(s, &attr, sizeof attr);
    }
    const struct trace_fold fold = {.kind = TRACE_FOLD,
        .name = 2,
        .calls = 1000,
        .self_ticks = 500000,
        .first_start_ticks = s->now_ticks,
        .last_end_ticks = s->now_ticks + 2000000,
        .max_ticks = 4000};
    s->now_ticks += 2000000;
    stream_add(s, &fold, sizeof fold);
    const struct trace_item many = {
        .kind = TRACE_ITEM, .op = TRACE_ITEM_MANY, .ticks = s->now_ticks, .id = 123};
    stream_add(s, &many, sizeof many);
}

// A trace of which only the last part was kept, from the midst of its work on.
static int kept_write(const char *folder, struct err *e)
{
    static const char kept[] = "{\"kept_from_ns\":400000}";
    const struct trace_block_id meta = {.type = TRACE_BLOCK_META},
                                segment = {.type = TRACE_BLOCK_SEGMENT,
                                    .pid = 4711,
                                    .tid = 4711,
                                    .image_ticks = UINT64_C(999999000000)};
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    struct buf path = {0};
    buf_printf(&path, "%s/kept.lmt", folder);
    struct trace_pack *pack = stream_trace_begin(buf_text(&path), e);
    stream_thread(&s, 4711, 10, 4);
    sums_add(&s);
    int result = -1;
    if (pack && trace_pack_block(pack, &segment, s.bytes.at, s.bytes.length_bytes, e) == 0 &&
        trace_pack_block(pack, &meta, kept, sizeof kept - 1, e) == 0)
        result = trace_pack_commit(&pack, e);
    trace_pack_abort(&pack);
    buf_fini(&path);
    buf_fini(&s.bytes);
    return result;
}

static int seeds_write(const char *folder, struct err *e)
{
    struct buf path = {0}, trace = {0};
    buf_printf(&path, "%s/whole.lmt", folder);
    int result = stream_trace_write(buf_text(&path), e);
    if (result == 0)
        result = file_read(buf_text(&path), 1u << 20, &trace, e);
    const size_t all_bytes = trace.length_bytes;
    if (result == 0)
        result = kept_write(folder, e) |
                 variant_write(&trace, folder, "header-only", 32, all_bytes, e) |
                 variant_write(&trace, folder, "cut", all_bytes / 2, all_bytes, e) |
                 variant_write(&trace, folder, "version", all_bytes, 8, e) |
                 variant_write(&trace, folder, "block-header", all_bytes, 40, e) |
                 variant_write(&trace, folder, "payload", all_bytes, all_bytes / 2, e);
    buf_fini(&path);
    buf_fini(&trace);
    return result;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc == 3 && strcmp(argv[1], "seeds") == 0 && seeds_write(argv[2], &e) == 0)
        return 0;
    if (argc == 3 && strcmp(argv[1], "trace") == 0 && stream_trace_write(argv[2], &e) == 0)
        return 0;
    fprintf(stderr, "%s\nusage: make_trace trace FILE | make_trace seeds FOLDER\n", err_text(&e));
    return 2;
}
