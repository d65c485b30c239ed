// SPDX-License-Identifier: Apache-2.0
// The sampled stacks of Python code for speedscope.app: a profile for each thread, its samples in
// order of time, each as long as it is until the thread's next. The stage that was open is the
// innermost frame. Threads: one owner.
#include "base/json.h"
#include "export/export.h"
#include "export/stacks.h"

#include <inttypes.h>

struct speedscope {
    const struct model *m;
    struct file_out *out;
    struct err *e;
    struct stacks stacks;
    struct buf text;
    int has_failed;
};

static void flush(struct speedscope *s)
{
    if (!s->has_failed &&
        file_out_write(s->out, buf_text(&s->text), s->text.length_bytes, s->e) < 0)
        s->has_failed = 1;
    s->text.length_bytes = 0;
}

static void add_json(struct speedscope *s, struct json *value)
{
    json_print(value, 0, &s->text);
    json_free(&value);
}

// The places by their index, then the stages.
static void write_frames(struct speedscope *s)
{
    const struct model *m = s->m;
    for (size_t i = 0; i < m->places.count; i++) {
        struct json *frame = json_object();
        json_put_string(frame, "name", m->places.at[i].function);
        json_put_string(frame, "file", m->places.at[i].file);
        json_put_int(frame, "line", m->places.at[i].line);
        buf_puts(&s->text, i ? ",\n" : "\n");
        add_json(s, frame);
        flush(s);
    }
    for (size_t i = 0; i < m->stages.count; i++) {
        struct buf name = {0};
        struct json *frame = json_object();
        buf_printf(&name, "[%s]", m->stages.at[i].text);
        json_put_string(frame, "name", buf_text(&name));
        buf_fini(&name);
        buf_puts(&s->text, ",\n");
        add_json(s, frame);
        flush(s);
    }
}

static void write_samples(struct speedscope *s, const struct stacks_sample *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_puts(&s->text, i ? ",\n[" : "\n[");
        for (uint32_t k = 0; k < at[i].stack->count; k++)
            buf_printf(&s->text, "%s%" PRIu32, k ? "," : "", at[i].stack->first + k);
        if (at[i].stage != MODEL_NONE)
            buf_printf(&s->text, ",%zu", s->m->places.count + at[i].stage);
        buf_putc(&s->text, ']');
        flush(s);
    }
}

// The last one of a thread is as long as the one before it.
static void write_weights(struct speedscope *s, const struct stacks_sample *at, size_t count)
{
    int64_t length_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count)
            length_ns = at[i + 1].at_ns - at[i].at_ns;
        buf_printf(&s->text, "%s%" PRId64, i ? "," : "", length_ns);
        flush(s);
    }
}

static void write_thread(struct speedscope *s, const struct stacks_sample *at, size_t count)
{
    const struct model_thread *t = &s->m->threads.at[at->thread];
    const int64_t last_ns = count > 1 ? at[count - 1].at_ns - at[count - 2].at_ns : 0;
    struct buf name = {0};
    buf_printf(&name, "thread %u%s%s", t->tid, *t->label ? " " : "", t->label);
    buf_puts(&s->text, "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":");
    add_json(s, json_string(buf_text(&name)));
    buf_printf(&s->text, ",\"startValue\":%" PRId64 ",\"endValue\":%" PRId64 ",\"samples\":[",
        at->at_ns, at[count - 1].at_ns + last_ns);
    write_samples(s, at, count);
    buf_puts(&s->text, "],\"weights\":[");
    write_weights(s, at, count);
    buf_puts(&s->text, "]}");
    flush(s);
    buf_fini(&name);
}

static int write_profiles(const struct model *m, struct file_out *out, struct err *e)
{
    struct speedscope s = {.m = m, .out = out, .e = e};
    if (stacks_collect(&s.stacks, m, e) < 0)
        return -1;
    const struct stacks_sample *at = s.stacks.samples.at;
    const size_t count = s.stacks.samples.count;
    buf_puts(&s.text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                      "\"exporter\":\"lightmeter " LIGHTMETER_VERSION "\","
                      "\"shared\":{\"frames\":[");
    write_frames(&s);
    buf_puts(&s.text, "]},\"profiles\":[");
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && at[i + same].thread == at[i].thread; same++)
            ;
        buf_puts(&s.text, i ? ",\n" : "\n");
        write_thread(&s, &at[i], same);
    }
    buf_puts(&s.text, "\n]}\n");
    flush(&s);
    stacks_fini(&s.stacks);
    buf_fini(&s.text);
    return s.has_failed ? -1 : 0;
}

const struct exporter exporter_speedscope = {
    .name = "speedscope",
    .help = "stacks of Python code, in order of time, for speedscope.app",
    .file_extension = ".speedscope.json",
    .write_fn = write_profiles,
};
