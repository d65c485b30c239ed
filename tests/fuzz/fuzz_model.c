// SPDX-License-Identifier: Apache-2.0
// Fuzzes what a report begins with: loading a trace of any bytes into the model, as they are and
// repaired (repair.h), and what the exporters are told of each span. What must hold whatever the
// records say: spans lie within their thread, own times within their spans, and notes fit. Built
// with libFuzzer (option `fuzz`) or with corpus_main.c. Threads: one.
#include "repair.h"

#include "export/note.h"
#include "model/load.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length_bytes);

static void thread_check(const struct model_thread *t)
{
    struct note notes[NOTE_KEY_COUNT];
    for (size_t i = 0; i < t->spans.count; i++) {
        const struct model_span *s = &t->spans.at[i];
        if (s->start_ns < t->start_ns || s->start_ns + (int64_t)s->dur_ns > t->end_ns ||
            s->self_ns > s->dur_ns || (s->parent != MODEL_NONE && s->parent >= t->spans.count) ||
            note_collect(t, s, notes) > NOTE_KEY_COUNT)
            abort();
    }
}

static void load(const uint8_t *bytes, size_t length_bytes)
{
    struct err e = {0};
    struct model *m = model_load_bytes(bytes, length_bytes, "input", &e);
    if (!m && !e.text[0])
        abort(); // a refusal without a message
    for (size_t i = 0; m && i < m->threads.count; i++)
        thread_check(&m->threads.at[i]);
    model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length_bytes)
{
    uint8_t *copy = malloc(length_bytes + 1);
    load(bytes, length_bytes);
    memcpy(copy, bytes, length_bytes);
    repair_trace(copy, length_bytes);
    load(copy, length_bytes);
    free(copy);
    return 0;
}
