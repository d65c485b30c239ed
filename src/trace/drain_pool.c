// SPDX-License-Identifier: Apache-2.0
// Keeps segment files ready for the target, with their pages allocated and touched, so that a
// thread of it pays a rename and a mapping. Called once a round by the drain. How many are kept
// follows the demand; how much memory they take is bounded. Failure only means fewer. Threads: one
// owner.
#include "trace/drain_state.h"

#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WANT_LEAST_SMALL 4u
#define WANT_LEAST_LARGE 2u
#define CALM_ROUNDS 64u // until one file less is kept
#define DIR_LIMIT_BYTES (256u << 20)

void drain_pool_init(struct drain *d)
{
    d->classes[DRAIN_SMALL] =
        (struct drain_class){.length_bytes = TRACE_SEGMENT_SMALL_BYTES, .want = WANT_LEAST_SMALL};
    d->classes[DRAIN_LARGE] =
        (struct drain_class){.length_bytes = TRACE_SEGMENT_LARGE_BYTES, .want = WANT_LEAST_LARGE};
    if (!d->options.dir_limit_bytes)
        d->options.dir_limit_bytes = DIR_LIMIT_BYTES;
}

static struct drain_class *class_find(struct drain *d, size_t length_bytes)
{
    for (int i = 0; i < DRAIN_CLASS_COUNT; i++)
        if (d->classes[i].length_bytes == length_bytes)
            return &d->classes[i];
    return NULL;
}

void drain_pool_see(struct drain *d, const struct trace_name *name)
{
    struct drain_class *class = class_find(d, name->length_bytes);
    if (!class || name->number >= TRACE_FREE_SLOTS)
        return;
    class->slots |= 1u << name->number;
    d->stats.pool_bytes += class->length_bytes;
}

static int has_room(const struct drain *d, size_t length_bytes)
{
    return d->stats.pool_bytes + d->stats.dir_bytes + length_bytes <= d->options.dir_limit_bytes;
}

// Renames `from` to a free slot of the class. 0, or -1 when all slots are taken.
static int slot_give(struct drain *d, struct drain_class *class, const char *from)
{
    char to[TRACE_NAME_BYTES];
    for (uint32_t i = 0; i < TRACE_FREE_SLOTS; i++) {
        const struct trace_name name = {
            .kind = TRACE_NAME_FREE, .length_bytes = class->length_bytes, .number = i};
        if (class->slots & 1u << i)
            continue;
        trace_name_format(to, &name);
        if (renameat2(d->options.dir_fd, from, d->options.dir_fd, to, RENAME_NOREPLACE) == 0) {
            class->slots |= 1u << i;
            d->stats.pool_bytes += class->length_bytes;
            return 0;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

// Writes zeros over the whole file: its pages are then there, and a full file system shows as an
// error here and not as a signal in the target.
static int pages_make(int fd, size_t length_bytes)
{
    static const uint8_t zeros[65536];
    if (fallocate(fd, 0, 0, (off_t)length_bytes) < 0 && errno != EOPNOTSUPP)
        return -1;
    for (size_t at = 0; at < length_bytes;) {
        const size_t left_bytes = length_bytes - at;
        const ssize_t n =
            pwrite(fd, zeros, left_bytes < sizeof zeros ? left_bytes : sizeof zeros, (off_t)at);
        if (n <= 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int slot_make(struct drain *d, struct drain_class *class)
{
    char text[TRACE_NAME_BYTES];
    const struct trace_name name = {.kind = TRACE_NAME_NEW, .number = d->next_new++};
    trace_name_format(text, &name);
    const int fd =
        openat(d->options.dir_fd, text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    const int made = pages_make(fd, class->length_bytes);
    close(fd);
    if (made == 0 && slot_give(d, class, text) == 0)
        return 0;
    unlinkat(d->options.dir_fd, text, 0);
    return -1;
}

static int slot_fill(struct drain *d, struct drain_class *class)
{
    char text[TRACE_NAME_BYTES];
    while (class->spare_count) {
        const struct trace_name name = {
            .kind = TRACE_NAME_NEW, .number = class->spares[--class->spare_count]};
        d->stats.pool_bytes -= class->length_bytes;
        if (slot_give(d, class, trace_name_format(text, &name)) == 0)
            return 0;
        unlinkat(d->options.dir_fd, text, 0);
    }
    return has_room(d, class->length_bytes) ? slot_make(d, class) : -1;
}

// Keeps twice what one round took, and less again after a while without demand.
static void want_adapt(struct drain_class *class, unsigned least)
{
    const unsigned taken = (unsigned)__builtin_popcount(class->stocked & ~class->slots);
    unsigned want = 2 * taken;
    if (want > TRACE_FREE_SLOTS)
        want = TRACE_FREE_SLOTS;
    if (want >= class->want) {
        class->want = want > least ? want : least;
        class->calm_rounds = 0;
    } else if (++class->calm_rounds >= CALM_ROUNDS && class->want > least) {
        class->want--;
        class->calm_rounds = 0;
    }
}

void drain_pool_stock(struct drain *d)
{
    static const unsigned least[DRAIN_CLASS_COUNT] = {WANT_LEAST_SMALL, WANT_LEAST_LARGE};
    for (int i = 0; i < DRAIN_CLASS_COUNT; i++) {
        struct drain_class *class = &d->classes[i];
        want_adapt(class, least[i]);
        while ((unsigned)__builtin_popcount(class->slots) < class->want)
            if (slot_fill(d, class) < 0)
                break;
        class->stocked = class->slots;
    }
}

uint32_t drain_stock(const struct drain *d, int is_large)
{
    return d->classes[is_large ? DRAIN_LARGE : DRAIN_SMALL].stocked;
}

// Keeps a file aside for later rounds, with a name that no claimer tries.
static int spare_keep(struct drain *d, struct drain_class *class, const char *from)
{
    char to[TRACE_NAME_BYTES];
    const struct trace_name name = {.kind = TRACE_NAME_NEW, .number = d->next_new++};
    if (class->spare_count == sizeof class->spares / sizeof class->spares[0] ||
        !has_room(d, class->length_bytes))
        return -1;
    trace_name_format(to, &name);
    if (renameat2(d->options.dir_fd, from, d->options.dir_fd, to, RENAME_NOREPLACE) < 0)
        return -1;
    class->spares[class->spare_count++] = name.number;
    d->stats.pool_bytes += class->length_bytes;
    return 0;
}

void drain_pool_recycle(struct drain *d, const struct trace_name *name, int fd, size_t file_bytes)
{
    static const struct trace_segment fresh;
    char from[TRACE_NAME_BYTES];
    struct drain_class *class = class_find(d, file_bytes);
    trace_name_format(from, name);
    // The header goes first: whoever claims the file must never see the old one.
    if (d->options.is_pool_stocked && class && !d->is_final &&
        pwrite(fd, &fresh, sizeof fresh, 0) == (ssize_t)sizeof fresh &&
        (slot_give(d, class, from) == 0 || spare_keep(d, class, from) == 0)) {
        d->stats.recycled++;
        return;
    }
    unlinkat(d->options.dir_fd, from, 0);
}
