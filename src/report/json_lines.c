// SPDX-License-Identifier: Apache-2.0
// See json_lines.h. Threads: no state.
#include "report/json_lines.h"

static struct json *write_line(const struct facts *f, const struct facts_line *line)
{
    struct json *object = json_object();
    json_put_string(object, "file", line->place->file);
    json_put_int(object, "line", line->place->line);
    json_put_string(object, "function", line->place->function);
    if (line->stage != MODEL_NONE)
        json_put_string(object, "stage", f->model->stages.at[line->stage].text);
    else
        json_put(object, "meaning", *line->meaning ? json_string(line->meaning) : json_null());
    json_put_int(object, "samples", (int64_t)line->samples);
    json_put_real(object, "wall_s", line->wall_ns / 1e9);
    json_put_real(object, "share", line->share_ratio);
    return object;
}

struct json *json_lines(const struct facts *f, int is_hot)
{
    struct json *list = json_array();
    for (size_t i = 0; i < f->lines.count; i++)
        if ((f->lines.at[i].stage == MODEL_NONE) == is_hot)
            json_append(list, write_line(f, &f->lines.at[i]));
    return list;
}
