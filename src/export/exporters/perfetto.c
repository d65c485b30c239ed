// SPDX-License-Identifier: Apache-2.0
// A run as a Perfetto trace (protocol buffers; ui.perfetto.dev, trace_processor). Spans are slices
// on their threads, folds that would not nest lie on child tracks, items are flows, values over
// time are counters. Times are nanoseconds since the launch. One packet at a time. Threads: one
// owner.
#include "export/counter.h"
#include "export/export.h"
#include "export/flow.h"
#include "export/note.h"
#include "export/order.h"
#include "export/proto.h"

#include <inttypes.h>
#include <stdio.h>

// Field numbers of the schema (protos/perfetto/trace in Perfetto's sources).
enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
};
enum sequence_flag { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum interned_field { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_ANNOTATIONS = 3 };
enum interned_entry_field { ENTRY_IID = 1, ENTRY_NAME = 2 };
enum descriptor_field {
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
};
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum counter_field { COUNTER_FIELD_UNIT = 3, COUNTER_FIELD_UNIT_NAME = 6 };
enum counter_unit_value { UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3 };
enum event_field {
    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_REAL = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
};
enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_VALUE = 4 };
enum annotation_field { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_TEXT = 6 };

// Unique numbers of tracks by what they are; never 0.
enum track_kind { TRACK_PROCESS = 1, TRACK_THREAD, TRACK_LANE, TRACK_COUNTER };
#define LANES_MAX (1u << 16)

struct perfetto {
    const struct model *m;
    struct file_out *out;
    struct err *e;
    int64_t base_ns;
    int has_failed;
    uint64_t counters; // tracks so far
    struct flow flow;
    struct buf packet, event, inner, framed;
};

static uint64_t track_uuid(enum track_kind kind, uint64_t index)
{
    return (uint64_t)kind << 56 | index;
}

static uint64_t lane_uuid(uint32_t thread, uint32_t lane)
{
    if (lane == 0)
        return track_uuid(TRACK_THREAD, thread);
    return track_uuid(TRACK_LANE, (uint64_t)thread * LANES_MAX + lane % LANES_MAX);
}

// Writes what is in p->packet as one packet of the only sequence.
static void send(struct perfetto *p, enum sequence_flag flag)
{
    proto_varint(&p->packet, PACKET_SEQUENCE_ID, 1);
    proto_varint(&p->packet, PACKET_SEQUENCE_FLAGS, flag);
    p->framed.length_bytes = 0;
    proto_message(&p->framed, TRACE_PACKET, &p->packet);
    if (!p->has_failed && file_out_write(p->out, p->framed.at, p->framed.length_bytes, p->e) < 0)
        p->has_failed = 1;
}

static void add_entry(struct perfetto *p, enum interned_field field, uint64_t iid, const char *name)
{
    proto_varint(&p->inner, ENTRY_IID, iid);
    proto_text(&p->inner, ENTRY_NAME, name);
    proto_message(&p->event, field, &p->inner);
}

// All names once; slices refer to them by index + 1.
static void send_names(struct perfetto *p)
{
    for (size_t i = 0; i < p->m->stages.count; i++)
        add_entry(p, INTERNED_CATEGORIES, i + 1, p->m->stages.at[i].text);
    for (size_t i = 0; i < p->m->names.count; i++)
        add_entry(p, INTERNED_NAMES, i + 1, p->m->names.at[i].text);
    for (int i = 0; i < NOTE_KEY_COUNT; i++)
        add_entry(p, INTERNED_ANNOTATIONS, (uint64_t)i + 1, note_name((enum note_key)i));
    proto_message(&p->packet, PACKET_INTERNED_DATA, &p->event);
    send(p, SEQUENCE_STATE_CLEARED);
}

static void send_descriptor(struct perfetto *p)
{
    proto_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->event);
    send(p, SEQUENCE_NEEDS_STATE);
}

static void send_process(struct perfetto *p, uint32_t index)
{
    const struct model_process *process = &p->m->processes.at[index];
    proto_varint(&p->event, DESCRIPTOR_UUID, track_uuid(TRACK_PROCESS, index));
    proto_varint(&p->inner, PROCESS_PID, process->pid);
    if (*process->command)
        proto_text(&p->inner, PROCESS_NAME, process->command);
    proto_message(&p->event, DESCRIPTOR_PROCESS, &p->inner);
    send_descriptor(p);
}

static void send_thread(struct perfetto *p, uint32_t index)
{
    const struct model_thread *t = &p->m->threads.at[index];
    proto_varint(&p->event, DESCRIPTOR_UUID, track_uuid(TRACK_THREAD, index));
    proto_varint(&p->event, DESCRIPTOR_PARENT, track_uuid(TRACK_PROCESS, t->process));
    proto_varint(&p->inner, THREAD_PID, p->m->processes.at[t->process].pid);
    proto_varint(&p->inner, THREAD_TID, t->tid);
    if (*t->label)
        proto_text(&p->inner, THREAD_NAME, t->label);
    proto_message(&p->event, DESCRIPTOR_THREAD, &p->inner);
    send_descriptor(p);
}

// Viewers merge tracks of one name, so that each has its own.
static void send_lane(struct perfetto *p, uint32_t thread, uint32_t lane)
{
    char name[40] = "folded calls";
    if (lane > 1)
        snprintf(name, sizeof name, "folded calls %" PRIu32, lane);
    proto_varint(&p->event, DESCRIPTOR_UUID, lane_uuid(thread, lane));
    proto_text(&p->event, DESCRIPTOR_NAME, name);
    proto_varint(&p->event, DESCRIPTOR_PARENT, track_uuid(TRACK_THREAD, thread));
    send_descriptor(p);
}

static void add_notes(struct perfetto *p, const struct model_thread *t, const struct model_span *s)
{
    struct note notes[NOTE_KEY_COUNT];
    const size_t count = note_collect(t, s, notes);
    for (size_t i = 0; i < count; i++) {
        proto_varint(&p->inner, ANNOTATION_NAME_IID, (uint64_t)notes[i].key + 1);
        if (notes[i].text[0])
            proto_text(&p->inner, ANNOTATION_TEXT, notes[i].text);
        else
            proto_varint(&p->inner, ANNOTATION_UINT, notes[i].value);
        proto_message(&p->event, EVENT_ANNOTATION, &p->inner);
    }
}

static void send_event(struct perfetto *p, int64_t at_ns)
{
    proto_varint(&p->packet, PACKET_TIMESTAMP, (uint64_t)(at_ns - p->base_ns));
    proto_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
    send(p, SEQUENCE_NEEDS_STATE);
}

static void send_begin(struct perfetto *p, uint32_t thread, const struct order_entry *e)
{
    const struct model_thread *t = &p->m->threads.at[thread];
    const struct model_span *s = &t->spans.at[e->span];
    size_t steps;
    const struct flow_step *step = flow_steps_of(&p->flow, thread, e->span, &steps);
    proto_varint(&p->event, EVENT_TYPE, EVENT_BEGIN);
    proto_varint(&p->event, EVENT_TRACK, lane_uuid(thread, e->lane));
    proto_varint(&p->event, EVENT_CATEGORY_IID, (uint64_t)p->m->names.at[s->name].stage + 1);
    proto_varint(&p->event, EVENT_NAME_IID, (uint64_t)s->name + 1);
    for (size_t i = 0; i < steps; i++)
        proto_fixed64(&p->event, step[i].is_last ? EVENT_FLOW_END : EVENT_FLOW, step[i].flow);
    add_notes(p, t, s);
    send_event(p, e->start_ns);
}

static void send_end(struct perfetto *p, uint32_t thread, const struct order_entry *e)
{
    proto_varint(&p->event, EVENT_TYPE, EVENT_END);
    proto_varint(&p->event, EVENT_TRACK, lane_uuid(thread, e->lane));
    send_event(p, order_end_ns(e));
}

// Begins and ends in the order in which they nest.
static void send_spans(struct perfetto *p, uint32_t thread)
{
    const struct model_thread *t = &p->m->threads.at[thread];
    VEC(const struct order_entry *) open = {0};
    struct order order;
    order_init(&order, t);
    for (uint32_t lane = 1; lane < order.lanes; lane++)
        send_lane(p, thread, lane);
    for (size_t i = 0; i < order.count && !p->has_failed; i++) {
        const struct order_entry *e = &order.at[i];
        if (e->lane) {
            send_begin(p, thread, e);
            send_end(p, thread, e);
            continue;
        }
        while (open.count && !order_encloses(*vec_last(&open), e, t)) {
            send_end(p, thread, *vec_last(&open));
            open.count--;
        }
        send_begin(p, thread, e);
        *vec_push(&open) = e;
    }
    for (; open.count; open.count--)
        send_end(p, thread, *vec_last(&open));
    vec_fini(&open);
    order_fini(&order);
}

static void begin_counter(void *context, const struct counter *c)
{
    struct perfetto *p = context;
    proto_varint(&p->event, DESCRIPTOR_UUID, track_uuid(TRACK_COUNTER, ++p->counters));
    proto_text(&p->event, DESCRIPTOR_NAME, c->name);
    if (c->thread != MODEL_NONE)
        proto_varint(&p->event, DESCRIPTOR_PARENT, track_uuid(TRACK_THREAD, c->thread));
    else if (c->process != MODEL_NONE)
        proto_varint(&p->event, DESCRIPTOR_PARENT, track_uuid(TRACK_PROCESS, c->process));
    if (c->unit == COUNTER_PLAIN || c->unit == COUNTER_BYTES)
        proto_varint(
            &p->inner, COUNTER_FIELD_UNIT, c->unit == COUNTER_PLAIN ? UNIT_COUNT : UNIT_SIZE_BYTES);
    else
        proto_text(&p->inner, COUNTER_FIELD_UNIT_NAME, counter_unit_text(c->unit));
    proto_message(&p->event, DESCRIPTOR_COUNTER, &p->inner);
    send_descriptor(p);
}

static void send_value(
    void *context, const struct counter *c, int64_t at_ns, struct counter_value value)
{
    struct perfetto *p = context;
    proto_varint(&p->event, EVENT_TYPE, EVENT_VALUE);
    proto_varint(&p->event, EVENT_TRACK, track_uuid(TRACK_COUNTER, p->counters));
    if (c->is_real)
        proto_double(&p->event, EVENT_COUNTER_REAL, value.real);
    else
        proto_varint(&p->event, EVENT_COUNTER, (uint64_t)value.integer);
    send_event(p, at_ns);
}

static int write_trace(const struct model *m, struct file_out *out, struct err *e)
{
    struct perfetto p = {.m = m, .out = out, .e = e, .base_ns = order_base_ns(m)};
    const struct counter_visitor visitor = {&p, begin_counter, send_value};
    flow_init(&p.flow, m);
    send_names(&p);
    for (uint32_t i = 0; i < m->processes.count; i++)
        send_process(&p, i);
    for (uint32_t i = 0; i < m->threads.count; i++)
        send_thread(&p, i);
    for (uint32_t i = 0; i < m->threads.count; i++)
        send_spans(&p, i);
    counter_visit(m, &visitor);
    flow_fini(&p.flow);
    buf_fini(&p.packet);
    buf_fini(&p.event);
    buf_fini(&p.inner);
    buf_fini(&p.framed);
    return p.has_failed ? -1 : 0;
}

const struct exporter exporter_perfetto = {
    .name = "perfetto",
    .help = "Perfetto protocol buffers: open at ui.perfetto.dev or in trace_processor",
    .file_extension = ".perfetto-trace",
    .write_fn = write_trace,
};
