// SPDX-License-Identifier: Apache-2.0
// A bounded queue between threads: a mutex, two condition variables, a ring. A full queue makes its
// producers wait, an empty one its consumers. Tells Lightmeter's marks how deep it is.
// Used by pipeline.c. Threads: any number on both ends.
#ifndef EXAMPLES_THREADS_QUEUE_H
#define EXAMPLES_THREADS_QUEUE_H

#include <pthread.h>
#include <stddef.h>

struct queue {
    const char *name; // for the marks
    pthread_mutex_t lock;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    void **ring;
    size_t capacity;
    size_t first;
    size_t depth;
    size_t producers; // that have not said queue_producer_done
};

// `name` is borrowed. Returns 0, or -1 when memory runs out; then there is nothing to fini.
int queue_init(struct queue *queue, const char *name, size_t capacity, size_t producers);

// Waits for room. The queue takes `element` (not NULL).
void queue_put(struct queue *queue, void *element);

// Waits for an element. NULL when the queue is empty and no producer is left.
void *queue_get(struct queue *queue);

// One producer will put no more.
void queue_producer_done(struct queue *queue);

// No thread may use the queue any more; elements still in it are not freed.
void queue_fini(struct queue *queue);

#endif
