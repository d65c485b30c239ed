// SPDX-License-Identifier: Apache-2.0
// The packed writer: codes, compresses and checksums a block and appends it with one write. Called
// by the launcher's loop through the drain, and by `recover`. Writes no index: a reader walks the
// headers. Threads: one owner.
#include "trace/pack.h"

#include "trace/codec.h"
#include "trace/hash.h"
#include "trace/pack_state.h"
#include "trace/planes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PART_TRIES 100

// Appends `count` pieces as a whole or not at all.
static int append(struct trace_pack *p, struct iovec *pieces, int count, struct err *e)
{
    uint64_t wanted_bytes = 0, written_bytes = 0;
    for (int i = 0; i < count; i++)
        wanted_bytes += pieces[i].iov_len;
    int failed = 0;
    while (written_bytes < wanted_bytes && !failed) {
        const ssize_t n = pwritev(p->fd, pieces, count, (off_t)(p->file_bytes + written_bytes));
        if (n < 0 && errno == EINTR)
            continue;
        failed = n < 0 ? errno : n == 0 ? ENOSPC : 0;
        size_t done_bytes = n > 0 ? (size_t)n : 0;
        written_bytes += done_bytes;
        while (count > 0 && done_bytes >= pieces->iov_len) {
            done_bytes -= pieces->iov_len;
            pieces++;
            count--;
        }
        if (count > 0) {
            pieces->iov_base = (uint8_t *)pieces->iov_base + done_bytes;
            pieces->iov_len -= done_bytes;
        }
    }
    if (!failed) {
        p->file_bytes += wanted_bytes;
        return 0;
    }
    // A rest that cannot be cut off is harmless: the next block overwrites it, a reader skips it.
    const int cut_failed = ftruncate(p->fd, (off_t)p->file_bytes);
    return err_set_errno(e, failed,
        "cannot write the trace to %s at byte %" PRIu64
        "%s; free some space there, or name another place with -o",
        buf_text(&p->part_path), p->file_bytes, cut_failed ? " (and cannot cut it back)" : "");
}

static int header_write(struct trace_pack *p, uint64_t created_unix_ns, struct err *e)
{
    struct trace_file header = {.magic = TRACE_FILE_MAGIC,
        .version = TRACE_FILE_VERSION,
        .created_unix_ns = created_unix_ns};
    struct iovec piece = {.iov_base = &header, .iov_len = sizeof header};
    return append(p, &piece, 1, e);
}

void trace_pack_part_name(const char *path, uint32_t pid, struct buf *out)
{
    buf_printf(out, "%s.part-%" PRIu32, path, pid);
}

// A part of a killed run that had the same pid is left alone.
static void part_make(struct trace_pack *p)
{
    for (int i = 1; i <= PART_TRIES; i++) {
        p->part_path.length_bytes = 0;
        trace_pack_part_name(buf_text(&p->path), (uint32_t)getpid(), &p->part_path);
        if (i > 1)
            buf_printf(&p->part_path, "-%d", i);
        p->fd = open(buf_text(&p->part_path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (p->fd >= 0 || errno != EEXIST)
            break;
    }
}

// Makes the part file. `part_path` NULL: under a name of this process.
static int part_open(struct trace_pack *p, const char *part_path, struct err *e)
{
    if (part_path) {
        buf_puts(&p->part_path, part_path);
        p->fd = open(part_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    } else {
        part_make(p);
    }
    if (p->fd >= 0)
        return 0;
    return err_set_errno(e, errno,
        "cannot make the trace file %s; name a folder that exists and can be written with -o",
        buf_text(&p->part_path));
}

static struct trace_pack *create(
    const char *path, const char *part_path, uint64_t created_unix_ns, struct err *e)
{
    struct stat at_path;
    struct trace_pack *p = calloc(1, sizeof *p);
    if (!p) {
        err_set(e, "out of memory while making the trace %s; close other programs", path);
        return NULL;
    }
    p->fd = -1;
    buf_puts(&p->path, path);
    if (stat(path, &at_path) == 0 && !S_ISREG(at_path.st_mode)) {
        err_set(
            e, "cannot write the trace to %s: it is there and no file; name another with -o", path);
        goto failed;
    }
    p->codec = codec_new();
    p->planes = planes_new();
    if (!p->codec || !p->planes) {
        err_set(e, "out of memory while making the trace %s; close other programs", path);
        goto failed;
    }
    if (part_open(p, part_path, e) == 0 && header_write(p, created_unix_ns, e) == 0)
        return p;
failed:
    trace_pack_abort(&p);
    return NULL;
}

struct trace_pack *trace_pack_create(const char *path, uint64_t created_unix_ns, struct err *e)
{
    return create(path, NULL, created_unix_ns, e);
}

struct trace_pack *trace_pack_create_over(
    const char *path, const char *part_path, uint64_t created_unix_ns, struct err *e)
{
    return create(path, part_path, created_unix_ns, e);
}

// Codes and compresses; fills in the header's coding and lengths. The stored bytes, or NULL.
static const uint8_t *content_code(
    struct trace_pack *p, struct trace_block *header, const void *bytes, size_t length_bytes)
{
    const uint8_t *stored = NULL;
    size_t stored_bytes = 0;
    struct planes_output planes = {0};
    const int is_records =
        header->type == TRACE_BLOCK_SEGMENT || header->type == TRACE_BLOCK_SAMPLES;
    const int coded = is_records ? planes_encode(p->planes, bytes, length_bytes, &planes) : 0;
    if (coded <= 0)
        planes = (struct planes_output){
            .bytes = bytes, .length_bytes = length_bytes, .cut_bytes = &length_bytes, .cuts = 1};
    header->coding = coded > 0 ? TRACE_CODING_PLANES_ZSTD : TRACE_CODING_ZSTD;
    if (codec_compress(
            p->codec, planes.bytes, planes.cut_bytes, planes.cuts, &stored, &stored_bytes) < 0)
        return NULL;
    header->raw_bytes = (uint32_t)length_bytes;
    header->stored_bytes = (uint32_t)stored_bytes;
    return stored;
}

int trace_pack_block(struct trace_pack *p, const struct trace_block_id *id, const void *bytes,
    size_t length_bytes, struct err *e)
{
    struct trace_block header = {.magic = TRACE_BLOCK_MAGIC,
        .type = (uint16_t)id->type,
        .pid = id->pid,
        .tid = id->tid,
        .image_ticks = id->image_ticks,
        .thread_seq = id->thread_seq,
        .segment_seq = id->segment_seq,
        .part = id->part};
    if (length_bytes == 0)
        return 0;
    if (length_bytes > TRACE_BLOCK_RAW_LIMIT_BYTES)
        return err_set(e,
            "a block of %zu bytes is too long for the trace %s (at most %u); "
            "this is an error in Lightmeter: please report it",
            length_bytes, buf_text(&p->path), TRACE_BLOCK_RAW_LIMIT_BYTES);
    const uint8_t *stored = content_code(p, &header, bytes, length_bytes);
    if (!stored)
        return err_set(e,
            "out of memory while packing %zu bytes for the trace %s; "
            "close other programs",
            length_bytes, buf_text(&p->path));
    header.payload_hash = trace_hash(stored, header.stored_bytes);
    header.header_hash = trace_hash(&header, offsetof(struct trace_block, header_hash));
    struct iovec pieces[2] = {{.iov_base = &header, .iov_len = sizeof header},
        {.iov_base = (void *)(uintptr_t)stored, .iov_len = header.stored_bytes}};
    if (append(p, pieces, 2, e) < 0)
        return -1;
    pack_entry_add(p, id, sizeof header + header.stored_bytes);
    return 0;
}

int trace_pack_copy(
    struct trace_pack *p, const void *block_bytes, size_t length_bytes, struct err *e)
{
    struct iovec piece = {.iov_base = (void *)(uintptr_t)block_bytes, .iov_len = length_bytes};
    return append(p, &piece, 1, e);
}

const char *trace_pack_part_path(const struct trace_pack *p)
{
    return buf_text(&p->part_path);
}

const char *trace_pack_path(const struct trace_pack *p)
{
    return buf_text(&p->path);
}

uint64_t trace_pack_file_bytes(const struct trace_pack *p)
{
    return p->file_bytes;
}

// Makes the new name durable. A file system that cannot sync a folder is not our failure.
static void folder_sync(const char *path)
{
    struct buf folder = {0};
    const char *slash = strrchr(path, '/');
    if (slash)
        buf_add(&folder, path, (size_t)(slash - path) + 1);
    else
        buf_puts(&folder, ".");
    const int fd = open(buf_text(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    buf_fini(&folder);
}

int trace_pack_commit(struct trace_pack **p, struct err *e)
{
    const char *part = buf_text(&(*p)->part_path), *path = buf_text(&(*p)->path);
    int result = 0;
    if (fsync((*p)->fd) < 0 && errno != EINVAL)
        result = err_set_errno(e, errno, "cannot make the trace durable; it is left in %s", part);
    else if (rename(part, path) < 0)
        result = err_set_errno(e, errno,
            "cannot give the trace its name %s; it is left in %s, move it yourself", path, part);
    else
        folder_sync(path);
    trace_pack_leave(p);
    return result;
}

void trace_pack_leave(struct trace_pack **p)
{
    if (!p || !*p)
        return;
    if ((*p)->fd >= 0)
        close((*p)->fd);
    codec_free(&(*p)->codec);
    planes_free(&(*p)->planes);
    vec_fini(&(*p)->entries);
    buf_fini(&(*p)->path);
    buf_fini(&(*p)->part_path);
    free(*p);
    *p = NULL;
}

void trace_pack_abort(struct trace_pack **p)
{
    if (!p || !*p)
        return;
    if ((*p)->fd >= 0)
        unlink(buf_text(&(*p)->part_path));
    trace_pack_leave(p);
}
