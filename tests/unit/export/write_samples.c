// SPDX-License-Identifier: Apache-2.0
// Writes a sample model through the exporters of spans, and what it holds as JSON lines, for
// decode.py to compare. usage: write_samples FOLDER sample|SEED. Threads: none.
#include "base/json.h"
#include "export/export.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json *span_new(const struct model *m, const struct model_thread *t, uint32_t index)
{
    const struct model_span *s = &t->spans.at[index];
    struct json *row = json_object();
    json_put_int(row, "pid", m->processes.at[t->process].pid);
    json_put_int(row, "tid", t->tid);
    json_put_int(row, "index", index);
    json_put_string(row, "name", m->names.at[s->name].text);
    json_put_string(row, "stage", m->stages.at[m->names.at[s->name].stage].text);
    json_put_int(row, "start_ns", s->start_ns);
    json_put_int(row, "end_ns", s->start_ns + (int64_t)s->dur_ns);
    json_put_int(row, "parent", s->parent == MODEL_NONE ? -1 : (int64_t)s->parent);
    json_put_bool(row, "is_fold", s->is_fold);
    json_put_int(row, "calls", s->calls);
    json_put_int(row, "self_ns", (int64_t)s->self_ns);
    return row;
}

static void write_spans(const struct model *m, struct buf *out)
{
    for (size_t i = 0; i < m->threads.count; i++)
        for (uint32_t k = 0; k < m->threads.at[i].spans.count; k++) {
            struct json *row = span_new(m, &m->threads.at[i], k);
            json_print(row, 0, out);
            buf_putc(out, '\n');
            json_free(&row);
        }
}

static int write_exports(const struct model *m, const char *folder, struct err *e)
{
    char path[512];
    static const char *const names[] = {"chrome", "perfetto", NULL};
    for (const char *const *name = names; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", folder, *name);
        struct file_out *out = file_out_open(path, e);
        if (!out || exporter_find(*name, NULL)->write_fn(m, out, e) < 0) {
            file_out_abort(&out);
            return -1;
        }
        if (file_out_commit(&out, e) < 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char path[512];
    struct err e = {0};
    struct buf spans = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: write_samples FOLDER sample|SEED\n");
        return 2;
    }
    struct model *m = strcmp(argv[2], "sample") == 0 ? sample_pipeline()
                                                     : sample_random(strtoull(argv[2], NULL, 10));
    write_spans(m, &spans);
    snprintf(path, sizeof path, "%s/spans.jsonl", argv[1]);
    int result = file_write(path, buf_text(&spans), spans.length_bytes, &e);
    if (result == 0)
        result = write_exports(m, argv[1], &e);
    if (result < 0)
        fprintf(stderr, "write_samples: %s\n", err_text(&e));
    buf_fini(&spans);
    model_free(&m);
    return result < 0;
}
