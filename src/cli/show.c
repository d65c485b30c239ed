// SPDX-License-Identifier: Apache-2.0
// Keeps what a report borrows (model, facts, verdict) together. See show.h. Threads: none.
#include "cli/show.h"

#include "analyze/facts.h"
#include "analyze/verdict.h"
#include "base/heap.h"
#include "model/load.h"

#include <stdlib.h>
#include <string.h>

struct show {
    struct model *model;
    struct facts *facts;
    struct verdict *verdict;
};

const char *const show_formats[] = {
#define ROW(name) #name,
#include "report/formats/registry.def"
#undef ROW
    NULL,
};

struct show *show_open(const char *path, const char *item_stage, struct err *e)
{
    struct model *model = model_load(path, e);
    if (!model)
        return NULL;
    struct show *s = heap_alloc(1, sizeof *s);
    const struct json *kept = json_get(model->meta, "options");
    struct facts_options options = {
        .item_stage = item_stage ? item_stage : json_get_string(kept, "item_stage", NULL)};
    s->model = model;
    s->facts = facts_new(model, &options);
    s->verdict = verdict_reach(s->facts);
    return s;
}

void show_close(struct show **s)
{
    if (!*s)
        return;
    verdict_free(&(*s)->verdict);
    facts_free(&(*s)->facts);
    model_free(&(*s)->model);
    free(*s);
    *s = NULL;
}

void show_write(const struct show *s, const struct report_format *format, const char *source,
    const struct report_options *o, struct buf *out)
{
    report_write(format, s->facts, s->verdict, source, o, out);
}

struct report_options show_options(const char *path, int fd)
{
    if (!path || strcmp(path, "-") == 0)
        return report_options_for_fd(fd);
    struct report_options options = report_options_for_fd(-1);
    options.has_colour = 0;
    options.width_columns = REPORT_WIDTH_COLUMNS;
    return options;
}
