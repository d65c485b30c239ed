// SPDX-License-Identifier: Apache-2.0
// A library whose constructor waits for a thread that it started, as some do for a pool of theirs.
// That thread starts another one, and calls a function of libc that nobody has called before: none
// of it may wait for the dlopen that the constructor runs in.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t is_ready;

static void *do_nothing(void *argument)
{
    return argument;
}

static void *become_ready(void *argument)
{
    pthread_t other;
    if (getenv("HANDSHAKE_STARTS")) {
        if (pthread_create(&other, NULL, do_nothing, NULL) == 0)
            pthread_detach(other);
    } else {
        sync();
    }
    sem_post(&is_ready);
    return argument;
}

__attribute__((constructor)) static void come_up(void)
{
    pthread_t thread;
    sem_init(&is_ready, 0, 0);
    if (pthread_create(&thread, NULL, become_ready, NULL) != 0)
        return;
    while (sem_wait(&is_ready) != 0)
        continue;
    pthread_join(thread, NULL);
}
