// SPDX-License-Identifier: Apache-2.0
// The clock inside META and SUMMARY, and the merging of repeated META blocks. Called by the
// launcher, `recover`, the model and the dump. Knows no other keys. Threads: no shared state.
#include "trace/meta.h"

// Long enough for a rate within 1e-4 when no later pair ever arrives.
#define FIRST_LATER_NS 2000000u

void trace_clock_start(struct trace_clock *c, int clock_is_tsc)
{
    c->is_tsc = clock_is_tsc;
    c->start = ticks_calibrate(clock_is_tsc);
    c->start_unix_ns = clock_read_ns(CLOCK_REALTIME);
    while (clock_mono_ns() - c->start.mono_ns < FIRST_LATER_NS)
        ;
    trace_clock_update(c);
}

void trace_clock_update(struct trace_clock *c)
{
    c->later = ticks_calibrate(c->is_tsc);
}

static void put_later(const struct trace_clock *c, struct json *clock)
{
    json_put_int(clock, "later_ticks", (int64_t)c->later.ticks);
    json_put_int(clock, "later_mono_ns", (int64_t)c->later.mono_ns);
}

void trace_clock_put_meta(const struct trace_clock *c, struct json *meta)
{
    struct json *clock = json_object();
    json_put_bool(clock, "is_tsc", c->is_tsc);
    json_put_int(clock, "start_ticks", (int64_t)c->start.ticks);
    json_put_int(clock, "start_mono_ns", (int64_t)c->start.mono_ns);
    json_put_int(clock, "start_unix_ns", (int64_t)c->start_unix_ns);
    put_later(c, clock);
    json_put(meta, "clock", clock);
}

void trace_clock_put_summary(const struct trace_clock *c, struct json *summary)
{
    struct json *clock = json_object();
    put_later(c, clock);
    json_put(summary, "clock", clock);
}

// A count under `key`; 0 when it is missing or negative.
static uint64_t get_count(const struct json *object, const char *key)
{
    const int64_t value = json_get_int(object, key, 0);
    return value > 0 ? (uint64_t)value : 0;
}

static void get_later(struct trace_clock *c, const struct json *clock)
{
    const struct ticks_pair pair = {
        .ticks = get_count(clock, "later_ticks"), .mono_ns = get_count(clock, "later_mono_ns")};
    if (pair.ticks > c->later.ticks && pair.mono_ns > c->later.mono_ns)
        c->later = pair;
}

int trace_clock_get(
    struct trace_clock *c, const struct json *meta, const struct json *summary, struct err *e)
{
    const struct json *clock = json_get(meta, "clock");
    *c = (struct trace_clock){0};
    if (!json_is_object(clock))
        return err_set(e, "the trace does not say which clock it uses (META has no \"clock\"); "
                          "its times cannot be read: record the run again");
    c->is_tsc = json_get_bool(clock, "is_tsc", 0);
    c->start.ticks = get_count(clock, "start_ticks");
    c->start.mono_ns = get_count(clock, "start_mono_ns");
    c->start_unix_ns = get_count(clock, "start_unix_ns");
    get_later(c, clock);
    get_later(c, json_get(summary, "clock"));
    return 0;
}

int trace_clock_scale(const struct trace_clock *c, struct ticks_scale *s, struct err *e)
{
    if (!c->is_tsc) {
        *s = ticks_scale_identity(c->start.ticks);
        return 0;
    }
    return ticks_scale_init(s, c->start, c->later, e);
}

// A copy of a value, so that it can live in another tree.
static struct json *copy_value(const struct json *value)
{
    struct buf text = {0};
    json_print(value, 0, &text);
    struct json *copy = json_parse(text.at, text.length_bytes, "META", NULL);
    buf_fini(&text);
    return copy ? copy : json_null();
}

int trace_meta_merge(struct json **meta, const void *text, size_t length_bytes, struct err *e)
{
    struct json *more = json_parse(text, length_bytes, "META", e);
    if (!more)
        return -1;
    if (!json_is_object(more)) {
        json_free(&more);
        return err_set(e, "a META block of the trace holds no JSON object; the trace was not "
                          "written by Lightmeter or is damaged: record the run again");
    }
    if (!*meta) {
        *meta = more;
        return 0;
    }
    for (void *it = json_first(more); it; it = json_next(more, it))
        json_put(*meta, json_key(it), copy_value(json_value(it)));
    json_free(&more);
    return 0;
}
