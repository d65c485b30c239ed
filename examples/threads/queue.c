// SPDX-License-Identifier: Apache-2.0
// The bounded queue. Called by every thread of pipeline.c.
// Waiting time is not marked: whoever looks from outside sees it as blocked on the condition.
// Threads: any number on both ends.
#include "threads/queue.h"

#include <lightmeter/mark.h>

#include <stdlib.h>

int queue_init(struct queue *queue, const char *name, size_t capacity, size_t producers)
{
    *queue = (struct queue){.name = name, .capacity = capacity, .producers = producers};
    queue->ring = calloc(capacity, sizeof *queue->ring);
    if (!queue->ring)
        return -1;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    return 0;
}

void queue_put(struct queue *queue, void *element)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->depth == queue->capacity)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    queue->ring[(queue->first + queue->depth) % queue->capacity] = element;
    size_t depth = ++queue->depth;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
    lm_queue_put(queue->name, depth);
    (void)depth;
}

void *queue_get(struct queue *queue)
{
    void *element = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->depth == 0 && queue->producers > 0)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    if (queue->depth > 0) {
        element = queue->ring[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->depth--;
        pthread_cond_signal(&queue->not_full);
    }
    size_t depth = queue->depth;
    pthread_mutex_unlock(&queue->lock);
    if (element)
        lm_queue_get(queue->name, depth);
    (void)depth;
    return element;
}

void queue_producer_done(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->producers--;
    if (queue->producers == 0)
        pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

void queue_fini(struct queue *queue)
{
    pthread_cond_destroy(&queue->not_empty);
    pthread_cond_destroy(&queue->not_full);
    pthread_mutex_destroy(&queue->lock);
    free(queue->ring);
    *queue = (struct queue){0};
}
