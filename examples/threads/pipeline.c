// SPDX-License-Identifier: Apache-2.0
// Reader -> decoders -> shrinker -> writer. Called by main.c, whose thread is the reader.
// A photograph that fails at one stage passes through the others untouched, so that the writer can
// name it in its turn. Threads: an item belongs to whoever took it from a queue.
#include "threads/pipeline.h"

#include "photo/photo.h"
#include "threads/queue.h"
#include "threads/shrink.h"

#include <lightmeter/mark.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    uint64_t id;
    const char *path; // the list's
    struct photo_bytes bytes;
    struct photo_image photo; // its pixels go when the small picture is there, its size stays
    struct photo_image small;
    uint64_t checksum;
    int failed; // why: in e
    struct err e;
};

struct pipeline {
    const struct options *options;
    struct queue to_decode;
    struct queue to_shrink;
    struct queue to_write;
    struct item **done; // by id; those that wait for their turn to be printed
    uint64_t next;      // whose turn it is
    long skipped;       // the writer's, until it has ended
};

static void *decode_all(void *argument)
{
    struct pipeline *pipeline = argument;
    struct item *item;
    while ((item = queue_get(&pipeline->to_decode))) {
        lm_item_use(item->id);
        if (!item->failed) {
            LM_STAGE("decode");
            item->failed = photo_image_decode(&item->photo, &item->bytes, item->path, &item->e) < 0;
            lm_bytes(item->bytes.length_bytes);
            lm_shape(item->photo.width_px, item->photo.height_px, 3, 1);
        }
        photo_bytes_fini(&item->bytes);
        queue_put(&pipeline->to_shrink, item);
    }
    queue_producer_done(&pipeline->to_shrink);
    return NULL;
}

static void *shrink_all(void *argument)
{
    struct pipeline *pipeline = argument;
    uint32_t side_px = pipeline->options->side_px;
    struct item *item;
    while ((item = queue_get(&pipeline->to_shrink))) {
        lm_item_use(item->id);
        if (!item->failed) {
            LM_STAGE("preprocess");
            item->failed =
                shrink_photo(&item->small, &item->photo, side_px, item->path, &item->e) < 0;
            lm_shape(item->photo.width_px, item->photo.height_px, 3, 1);
        }
        free(item->photo.rgb);
        item->photo.rgb = NULL;
        queue_put(&pipeline->to_write, item);
    }
    queue_producer_done(&pipeline->to_write);
    return NULL;
}

// Writes the small picture as FOLDER/<number>.ppm.
static int save(const char *folder, struct item *item)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%06" PRIu64 ".ppm", folder, item->id);
    if (length < 0 || (size_t)length >= sizeof path)
        return err_set(&item->e, "%s: the path of the folder to write to is too long", item->path);
    FILE *file = fopen(path, "wb");
    if (!file)
        return err_set_errno(&item->e, errno, "%s: cannot write %s", item->path, path);
    size_t length_bytes = (size_t)item->small.width_px * item->small.height_px * 3;
    int wrong = fprintf(file, "P6\n%u %u\n255\n", item->small.width_px, item->small.height_px) < 0;
    wrong |= fwrite(item->small.rgb, 1, length_bytes, file) != length_bytes;
    wrong |= fclose(file) != 0;
    if (wrong)
        return err_set_errno(&item->e, errno, "%s: cannot write %s", item->path, path);
    lm_bytes(length_bytes);
    return 0;
}

// Prints the items whose turn has come, and frees them.
static void print_in_order(struct pipeline *pipeline)
{
    struct item *item;
    while ((item = pipeline->done[pipeline->next])) {
        pipeline->done[pipeline->next++] = NULL;
        if (item->failed) {
            fprintf(stderr, "threads: skipped: %s\n", err_text(&item->e));
            pipeline->skipped++;
        } else {
            printf("%s %ux%u -> %ux%u %016" PRIx64 "\n", item->path, item->photo.width_px,
                item->photo.height_px, item->small.width_px, item->small.height_px, item->checksum);
        }
        free(item);
    }
}

static void *write_all(void *argument)
{
    struct pipeline *pipeline = argument;
    const char *folder = pipeline->options->out_folder;
    struct item *item;
    while ((item = queue_get(&pipeline->to_write))) {
        lm_item_use(item->id);
        LM_STAGE("save");
        if (!item->failed) {
            item->checksum = shrink_checksum(&item->small);
            item->failed = folder && save(folder, item) < 0;
        }
        free(item->small.rgb);
        item->small.rgb = NULL;
        pipeline->done[item->id] = item;
        lm_item_end(item->id);
        print_in_order(pipeline);
    }
    return NULL;
}

static int read_all(struct pipeline *pipeline, struct err *e)
{
    const struct photo_list *photos = &pipeline->options->photos;
    uint64_t count = photos->count * pipeline->options->repeat;
    for (uint64_t id = 0; id < count; id++) {
        struct item *item = calloc(1, sizeof *item);
        if (!item)
            return err_set(e, "out of memory after %" PRIu64 " photographs", id);
        item->id = id;
        item->path = photos->paths[id % photos->count];
        lm_item_begin(id);
        lm_item_use(id);
        {
            LM_STAGE("load");
            item->failed = photo_bytes_read(&item->bytes, item->path, &item->e) < 0;
            lm_bytes(item->bytes.length_bytes);
        }
        queue_put(&pipeline->to_decode, item);
    }
    return 0;
}

struct crew {
    pthread_t *threads;
    size_t count;
};

static int start(struct crew *crew, void *(*work)(void *), struct pipeline *pipeline, struct err *e)
{
    int errnum = pthread_create(&crew->threads[crew->count], NULL, work, pipeline);
    if (errnum)
        return err_set_errno(
            e, errnum, "cannot start thread %zu; try fewer --decoders", crew->count + 1);
    crew->count++;
    return 0;
}

// Starts the threads from the last stage to the first, reads, and waits for all of them to end.
// When one cannot be started, nothing is read and those before it end at once.
static int run_threads(struct pipeline *pipeline, struct crew *crew, struct err *e)
{
    size_t decoders = 0;
    int writer = start(crew, write_all, pipeline, e);
    int shrinker = writer == 0 ? start(crew, shrink_all, pipeline, e) : -1;
    int result = shrinker;
    while (result == 0 && decoders < pipeline->options->decoders) {
        result = start(crew, decode_all, pipeline, e);
        decoders += result == 0;
    }
    if (result == 0)
        result = read_all(pipeline, e);
    queue_producer_done(&pipeline->to_decode);
    for (size_t i = decoders; i < pipeline->options->decoders; i++)
        queue_producer_done(&pipeline->to_shrink);
    if (shrinker < 0)
        queue_producer_done(&pipeline->to_write);
    for (size_t i = 0; i < crew->count; i++)
        pthread_join(crew->threads[i], NULL);
    return result;
}

static int init_queues(struct pipeline *pipeline)
{
    size_t capacity = pipeline->options->queue;
    size_t decoders = pipeline->options->decoders;
    if (queue_init(&pipeline->to_decode, "to decode", capacity, 1) < 0)
        return -1;
    if (queue_init(&pipeline->to_shrink, "to preprocess", capacity, decoders) == 0) {
        if (queue_init(&pipeline->to_write, "to save", capacity, 1) == 0)
            return 0;
        queue_fini(&pipeline->to_shrink);
    }
    queue_fini(&pipeline->to_decode);
    return -1;
}

long pipeline_run(const struct options *options, struct err *e)
{
    struct pipeline pipeline = {.options = options};
    struct crew crew = {0};
    int result = -1;
    pipeline.done = calloc(options->photos.count * options->repeat + 1, sizeof *pipeline.done);
    crew.threads = calloc(options->decoders + 2, sizeof *crew.threads);
    if (!pipeline.done || !crew.threads || init_queues(&pipeline) < 0) {
        err_set(e, "out of memory for queues of %zu photographs; try a smaller --queue",
            options->queue);
        goto done;
    }
    result = run_threads(&pipeline, &crew, e);
    queue_fini(&pipeline.to_write);
    queue_fini(&pipeline.to_shrink);
    queue_fini(&pipeline.to_decode);
done:
    free(pipeline.done);
    free(crew.threads);
    return result < 0 ? -1 : pipeline.skipped;
}
