// SPDX-License-Identifier: Apache-2.0
// Leaves out blocks of a trace that is being written: what is kept is copied to a new file beside
// it, which then takes its name. Called by the ring policy of a run. Threads: one owner.
#include "trace/pack_state.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES (256u << 10)

void trace_pack_remember(struct trace_pack *p)
{
    p->is_remembering = 1;
}

void pack_entry_add(struct trace_pack *p, const struct trace_block_id *id, uint64_t length_bytes)
{
    if (p->is_remembering)
        *vec_push(&p->entries) = (struct trace_pack_entry){.id = *id,
            .offset_bytes = p->file_bytes - length_bytes,
            .length_bytes = length_bytes,
            .appended_ns = clock_mono_ns()};
}

struct trace_pack_entry *trace_pack_entries(struct trace_pack *p, size_t *count)
{
    *count = p->entries.count;
    return p->entries.at;
}

static int write_all(int fd, const uint8_t *bytes, size_t length_bytes)
{
    while (length_bytes) {
        const ssize_t n = write(fd, bytes, length_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? errno : ENOSPC;
        bytes += n;
        length_bytes -= (size_t)n;
    }
    return 0;
}

// Copies a stretch of the part file to the end of `to`. 0, or an errno.
static int stretch_copy(int from, int to, uint64_t at_bytes, uint64_t length_bytes, uint8_t *room)
{
    while (length_bytes) {
        const size_t wanted_bytes = length_bytes < COPY_BYTES ? length_bytes : COPY_BYTES;
        const ssize_t n = pread(from, room, wanted_bytes, (off_t)at_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? errno : EIO;
        const int failed = write_all(to, room, (size_t)n);
        if (failed)
            return failed;
        at_bytes += (uint64_t)n;
        length_bytes -= (uint64_t)n;
    }
    return 0;
}

// The file header and the blocks that are kept. 0, or an errno.
static int kept_copy(const struct trace_pack *p, int to)
{
    uint8_t *room = malloc(COPY_BYTES);
    int failed = room ? stretch_copy(p->fd, to, 0, sizeof(struct trace_file), room) : ENOMEM;
    for (size_t i = 0; i < p->entries.count && !failed; i++) {
        const struct trace_pack_entry *entry = &p->entries.at[i];
        if (entry->is_kept)
            failed = stretch_copy(p->fd, to, entry->offset_bytes, entry->length_bytes, room);
    }
    free(room);
    return failed;
}

// The index of the new file.
static void entries_settle(struct trace_pack *p)
{
    size_t kept = 0;
    p->file_bytes = sizeof(struct trace_file);
    for (size_t i = 0; i < p->entries.count; i++) {
        struct trace_pack_entry entry = p->entries.at[i];
        if (!entry.is_kept)
            continue;
        entry.offset_bytes = p->file_bytes;
        p->file_bytes += entry.length_bytes;
        p->entries.at[kept++] = entry;
    }
    p->entries.count = kept;
}

int trace_pack_rewrite(struct trace_pack *p, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s" TRACE_PACK_NEW, buf_text(&p->part_path));
    const int fd = open(buf_text(&path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    int failed = fd < 0 ? errno : kept_copy(p, fd);
    if (!failed && rename(buf_text(&path), buf_text(&p->part_path)) < 0)
        failed = errno;
    if (!failed) {
        close(p->fd);
        p->fd = fd;
        entries_settle(p);
    } else {
        err_set_errno(e, failed,
            "cannot write what is kept of the trace to %s; free some space there", buf_text(&path));
        if (fd >= 0) {
            unlink(buf_text(&path));
            close(fd);
        }
    }
    buf_fini(&path);
    return failed ? -1 : 0;
}
