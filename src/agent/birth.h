// SPDX-License-Identifier: Apache-2.0
// What a new thread is to run, kept until it does, so that its beginning and its creator are
// recorded. Used by the hooks of pthread_create and thrd_create. Allocates nothing: without a free
// place a thread starts unseen. Threads: any.
#ifndef LIGHTMETER_AGENT_BIRTH_H
#define LIGHTMETER_AGENT_BIRTH_H

struct birth;

// Keeps `run` and `argument` for a thread that the code at `return_address` asked for. NULL: no
// recording, or no place.
struct birth *birth_new(void *run, void *argument, void *return_address);

// The thread could not be made.
void birth_free(struct birth *b);

// In the new thread: its beginning is recorded and the place given back. What it is to run.
void *birth_begin(struct birth *b, void **argument);

#endif
