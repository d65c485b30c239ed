// SPDX-License-Identifier: Apache-2.0
// Reads the text files of OpenCV's trace, version 1.0, see opencv_trace.h: PREFIX.txt has a line
// `l,NUMBER,"file",line,"signature",flags` for each place in OpenCV, PREFIX-THREAD.txt lines
// `b,thread,ns,NUMBER,...` and `e,thread,ns,NUMBER,region,duration,...` that nest. What is cut or
// odd is passed over. Threads: one owner.
#include "collect/opencv_trace.h"

#include "base/file.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_LIMIT 65536u
#define DEPTH_LIMIT 256u
#define SHOWN 8u
#define NAME_BYTES 96

struct place {
    char name[NAME_BYTES];
    uint64_t calls, own_ns;
};

struct reading {
    VEC(struct place) places; // by number
    unsigned threads;
};

int opencv_trace_open(struct opencv_trace *t, struct err *e)
{
    const char *parent = getenv("TMPDIR");
    buf_printf(
        &t->folder, "%s/lightmeter-opencv-XXXXXX", parent && *parent == '/' ? parent : "/tmp");
    if (!mkdtemp(t->folder.at)) {
        err_set_errno(e, errno,
            "%s cannot be made for OpenCV's trace; set TMPDIR to a folder of yours",
            buf_text(&t->folder));
        buf_fini(&t->folder);
        return -1;
    }
    buf_printf(&t->prefix, "%s/trace", buf_text(&t->folder));
    return 0;
}

void opencv_trace_close(struct opencv_trace *t)
{
    if (t->folder.length_bytes)
        file_remove_tree(buf_text(&t->folder), NULL);
    buf_fini(&t->folder);
    buf_fini(&t->prefix);
}

static struct place *place_of(struct reading *r, uint64_t number)
{
    if (number >= PLACES_LIMIT)
        return NULL;
    while (r->places.count <= number)
        *vec_push(&r->places) = (struct place){.name = "?"};
    return &r->places.at[number];
}

// "void cv::resize(InputArray, int)" -> "cv::resize".
static void keep_name(struct place *p, const char *signature)
{
    const char *end = signature + strcspn(signature, "(\"\n"), *start = end;
    while (start > signature && start[-1] != ' ')
        start--;
    snprintf(p->name, sizeof p->name, "%.*s",
        (int)(end - start < NAME_BYTES ? end - start : NAME_BYTES), start);
}

static void read_places(struct reading *r, FILE *file)
{
    char line[2048];
    uint64_t number;
    while (fgets(line, sizeof line, file)) {
        const char *signature = strstr(line, "\",");
        signature = signature ? strchr(signature + 2, '"') : NULL;
        struct place *p = NULL;
        if (signature && sscanf(line, "l,%" SCNu64 ",", &number) == 1)
            p = place_of(r, number);
        if (p)
            keep_name(p, signature + 1);
    }
}

static void read_thread(struct reading *r, FILE *file)
{
    struct {
        uint64_t number, inner_ns;
    } open[DEPTH_LIMIT];
    char line[2048];
    uint64_t number, duration_ns;
    unsigned depth = 0;
    while (fgets(line, sizeof line, file)) {
        if (depth < DEPTH_LIMIT && sscanf(line, "b,%*d,%*d,%" SCNu64 ",", &number) == 1) {
            open[depth].number = number;
            open[depth++].inner_ns = 0;
        } else if (depth &&
                   sscanf(line, "e,%*d,%*d,%" SCNu64 ",%*d,%" SCNu64, &number, &duration_ns) == 2 &&
                   open[depth - 1].number == number) {
            struct place *p = place_of(r, number);
            const uint64_t inner_ns = open[--depth].inner_ns;
            if (p) {
                p->calls++;
                p->own_ns += duration_ns > inner_ns ? duration_ns - inner_ns : 0;
            }
            if (depth)
                open[depth - 1].inner_ns += duration_ns;
        }
    }
    r->threads++;
}

static void read_files(struct reading *r, const struct opencv_trace *t)
{
    DIR *folder = opendir(buf_text(&t->folder));
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct buf path = {0};
        buf_printf(&path, "%s/%s", buf_text(&t->folder), entry->d_name);
        FILE *file = strncmp(entry->d_name, "trace", 5) == 0 ? fopen(buf_text(&path), "re") : NULL;
        if (file && entry->d_name[5] == '-')
            read_thread(r, file);
        else if (file)
            read_places(r, file);
        if (file)
            fclose(file);
        buf_fini(&path);
    }
    if (folder)
        closedir(folder);
}

static int compare_own(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->own_ns == b->own_ns ? strcmp(a->name, b->name) : a->own_ns < b->own_ns ? 1 : -1;
}

void opencv_trace_say(const struct opencv_trace *t, struct buf *sentence)
{
    struct reading r = {0};
    size_t used = 0;
    read_files(&r, t);
    if (r.places.count)
        qsort(r.places.at, r.places.count, sizeof *r.places.at, compare_own);
    while (used < r.places.count && r.places.at[used].calls)
        used++;
    if (!used)
        buf_puts(sentence,
            "OpenCV's own trace (--opencv-trace) has nothing: the program does not use OpenCV, its "
            "build has no tracing, or OPENCV_TRACE_LOCATION was set already and was left so.");
    else
        buf_printf(sentence,
            "OpenCV's own trace, own time in its functions on %u thread%s, the whole run:",
            r.threads, r.threads == 1 ? "" : "s");
    for (size_t i = 0; i < used && i < SHOWN; i++)
        buf_printf(sentence, "%s %s %.3f ms in %" PRIu64 " call%s", i ? "," : "",
            r.places.at[i].name, (double)r.places.at[i].own_ns / 1e6, r.places.at[i].calls,
            r.places.at[i].calls == 1 ? "" : "s");
    if (used > SHOWN)
        buf_printf(sentence, ", and %zu more", used - SHOWN);
    if (used)
        buf_puts(sentence,
            ". Its clock cannot be laid beside the run's, so these are sums; each such call "
            "was slowed by being written.");
    vec_fini(&r.places);
}
