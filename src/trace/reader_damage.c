// SPDX-License-Identifier: Apache-2.0
// What the reader says about a damaged trace. Called by the reader when it finds damage, and by the
// report to tell people. Bounded: a file made of damage cannot fill the memory. Threads: one owner.
#include "trace/reader_state.h"

#include <inttypes.h>
#include <stdlib.h>

#define DAMAGE_MOST 1000u
#define DAMAGE_TOLD 3u // in the paragraph for people

void trace_reader_damage_add(struct trace_reader *r, uint64_t offset_bytes, uint64_t skipped_bytes,
    uint64_t block, const char *what)
{
    if (r->damage.count >= DAMAGE_MOST) {
        r->damage_more++;
        return;
    }
    struct buf text = {0};
    buf_printf(&text, "%s is damaged at byte %" PRIu64 " (block %" PRIu64 ": %s)",
        buf_text(&r->name), offset_bytes, block, what);
    if (skipped_bytes == 0)
        buf_puts(&text, ": the rest of this block was left out.");
    else if (offset_bytes + skipped_bytes >= r->length_bytes)
        buf_puts(&text, ": read up to there.");
    else
        buf_printf(
            &text, ": %" PRIu64 " bytes were left out, and the rest was read.", skipped_bytes);
    *vec_push(&r->damage) = (struct trace_damage){.offset_bytes = offset_bytes,
        .skipped_bytes = skipped_bytes,
        .block = block,
        .text = text.at};
}

void trace_reader_damage_clear(struct trace_reader *r)
{
    for (size_t i = 0; i < r->damage.count; i++)
        free((void *)(uintptr_t)r->damage.at[i].text);
    vec_fini(&r->damage);
    r->damage_more = 0;
    buf_fini(&r->damage_text);
}

size_t trace_reader_damage_count(const struct trace_reader *r)
{
    return r->damage.count;
}

struct trace_damage trace_reader_damage(const struct trace_reader *r, size_t index)
{
    return r->damage.at[index];
}

void trace_reader_report(struct trace_reader *r, size_t offset_in_block_bytes, const char *what)
{
    struct buf phrase = {0};
    buf_printf(&phrase, "%s, %zu bytes into its content", what, offset_in_block_bytes);
    trace_reader_damage_add(r, r->last_offset_bytes, 0, r->last_index, buf_text(&phrase));
    buf_fini(&phrase);
}

const char *trace_reader_damage_text(struct trace_reader *r)
{
    struct buf *out = &r->damage_text;
    buf_fini(out);
    for (size_t i = 0; i < r->damage.count && i < DAMAGE_TOLD; i++)
        buf_printf(out, "%s%s", i ? " " : "", r->damage.at[i].text);
    if (r->damage.count > DAMAGE_TOLD)
        buf_printf(out, " %" PRIu64 " more places are damaged (`lightmeter dump` lists them).",
            (uint64_t)(r->damage.count - DAMAGE_TOLD) + r->damage_more);
    if (!r->has_summary)
        buf_printf(out,
            "%s%s has no summary at its end: Lightmeter was killed while it recorded, or the file "
            "was cut. What is there was read; if the run's directory is still there, "
            "`lightmeter recover DIR` makes the trace complete.",
            out->length_bytes ? " " : "", buf_text(&r->name));
    return buf_text(out);
}
