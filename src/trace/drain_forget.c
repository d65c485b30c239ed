// SPDX-License-Identifier: Apache-2.0
// A program may start and end threads and processes for hours: what is known of one that is over,
// packed, and without files for some rounds is given up. (Some: a look into a directory that
// changes meanwhile can miss a file, and what is not known would be packed again.) Called once a
// round by the drain. Threads: one owner.
#include "trace/drain_state.h"

#define AWAY_ROUNDS 4u

static int is_thread_over(const struct drain *d, const struct drain_thread *t)
{
    return t->away_rounds >= AWAY_ROUNDS &&
           (t->is_closed || drain_image_is_ended(d, t->pid, t->image_ticks));
}

static void threads_forget(struct drain *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->threads.count; i++)
        if (!is_thread_over(d, &d->threads.at[i]))
            d->threads.at[kept++] = d->threads.at[i];
    d->threads.count = kept;
}

static void processes_forget(struct drain *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->processes.count; i++) {
        const struct drain_process *p = &d->processes.at[i];
        if (!p->is_removed || p->away_rounds < AWAY_ROUNDS)
            d->processes.at[kept++] = *p;
    }
    d->processes.count = kept;
}

void drain_forget(struct drain *d)
{
    threads_forget(d);
    processes_forget(d);
}
