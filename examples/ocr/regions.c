// SPDX-License-Identifier: Apache-2.0
// Connected components over runs: one pass finds the runs of each row and unites those that touch
// the row above, a second one sorts them by region. Called by boxes.c for each photograph.
// Does not keep holes apart. Threads: no shared state.
#include "ocr/regions.h"

#include <stdlib.h>

// Runs in the order of the rows. While uniting, `region` is the index of a run of the same region
// that comes no later: a forest whose roots name the regions.
struct run_list {
    struct run *runs;
    size_t count;
    size_t capacity;
};

static int append(struct run_list *list, struct run run, struct err *e)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 1024;
        struct run *runs = realloc(list->runs, capacity * sizeof *runs);
        if (!runs)
            return err_set(e, "out of memory for %zu runs of text pixels", capacity);
        list->runs = runs;
        list->capacity = capacity;
    }
    list->runs[list->count++] = run;
    return 0;
}

static uint32_t root_of(struct run *runs, uint32_t i)
{
    while (runs[i].region != i) {
        runs[i].region = runs[runs[i].region].region;
        i = runs[i].region;
    }
    return i;
}

static void unite(struct run *runs, uint32_t a, uint32_t b)
{
    a = root_of(runs, a);
    b = root_of(runs, b);
    if (a < b)
        runs[b].region = a;
    else
        runs[a].region = b;
}

static int find_runs(struct run_list *list, const float *row, uint32_t width_px, uint32_t y_px,
    float threshold, struct err *e)
{
    uint32_t x = 0;
    while (x < width_px) {
        if (!(row[x] > threshold)) {
            x++;
            continue;
        }
        struct run run = {.y_px = y_px, .first_px = x, .region = (uint32_t)list->count};
        while (x < width_px && row[x] > threshold)
            x++;
        run.last_px = x - 1;
        if (append(list, run, e) < 0)
            return -1;
    }
    return 0;
}

// Unites the runs [begin, end) of a row with those of the row above, [above, begin).
static void unite_rows(struct run *runs, size_t above, size_t begin, size_t end)
{
    size_t i = above;
    size_t j = begin;
    while (i < begin && j < end) {
        if (runs[i].first_px <= runs[j].last_px + 1 && runs[j].first_px <= runs[i].last_px + 1)
            unite(runs, (uint32_t)i, (uint32_t)j);
        if (runs[i].last_px < runs[j].last_px)
            i++;
        else
            j++;
    }
}

// Sorts the runs by region, keeping their order within a region, and numbers the regions from 0.
static int sort_by_region(struct regions *out, struct run_list *list, struct err *e)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t root = root_of(list->runs, i);
        if (root == i)
            out->count++;
    }
    uint32_t *numbers = calloc(list->count + 1, sizeof *numbers);
    out->starts = calloc(out->count + 2, sizeof *out->starts);
    out->runs = calloc(list->count + 1, sizeof *out->runs);
    if (!numbers || !out->starts || !out->runs) {
        free(numbers);
        return err_set(e, "out of memory for %zu text regions", out->count);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t root = root_of(list->runs, i);
        numbers[i] = root == i ? next++ : numbers[root];
        out->starts[numbers[i] + 2]++;
    }
    for (size_t i = 2; i < out->count + 2; i++)
        out->starts[i] += out->starts[i - 1];
    for (size_t i = 0; i < list->count; i++) {
        struct run run = list->runs[i];
        run.region = numbers[i];
        out->runs[out->starts[run.region + 1]++] = run;
    }
    free(numbers);
    return 0;
}

int regions_find(struct regions *out, const struct text_map *map, float threshold, struct err *e)
{
    *out = (struct regions){0};
    struct run_list list = {0};
    size_t above = 0;
    int result = 0;
    for (uint32_t y = 0; y < map->height_px && result == 0; y++) {
        size_t begin = list.count;
        const float *row = map->values + (size_t)y * map->width_px;
        result = find_runs(&list, row, map->width_px, y, threshold, e);
        if (result == 0)
            unite_rows(list.runs, above, begin, list.count);
        above = begin;
    }
    if (result == 0)
        result = sort_by_region(out, &list, e);
    free(list.runs);
    if (result < 0)
        regions_fini(out);
    return result;
}

void regions_fini(struct regions *regions)
{
    free(regions->runs);
    free(regions->starts);
    *regions = (struct regions){0};
}
