// SPDX-License-Identifier: Apache-2.0
// Builds a trace from a part file and a left run directory, as a new file: nothing that it reads is
// changed before that file has its name. Called by `lightmeter recover`. Threads: one owner.
#include "trace/recover.h"

#include "trace/drain.h"
#include "trace/reader.h"
#include "trace/records.h"
#include "trace/recover_writers.h"
#include "trace/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// All that one recovery works on.
struct recovery {
    const char *dir;
    int dir_fd;
    int is_same_boot;
    struct rundir_meta meta;
    struct json *merged;       // META of the part file
    struct trace_reader *part; // NULL: there is none
    struct trace_pack *pack;
    struct drain *drain;
    struct recover_result *result;
};

void recover_result_fini(struct recover_result *result)
{
    buf_fini(&result->output);
    buf_fini(&result->notes);
}

static void spans_count(struct recovery *r, const struct trace_block_view *block)
{
    struct trace_cursor c = {.at = block->bytes, .length_bytes = block->length_bytes};
    struct trace_record record;
    while (trace_records_next(&c, &record) > 0) {
        r->result->records++;
        r->result->spans += record.kind == TRACE_SPAN || record.kind == TRACE_SPAN_LONG ||
                            record.kind == TRACE_FOLD;
    }
}

// Takes one intact block of the part file over.
static int block_copy(struct recovery *r, const struct trace_block_view *block, struct err *e)
{
    if (block->id.type == TRACE_BLOCK_SUMMARY)
        return 0;
    if (block->id.type == TRACE_BLOCK_META)
        (void)trace_meta_merge(&r->merged, block->bytes, block->length_bytes, NULL);
    if (block->id.type == TRACE_BLOCK_SEGMENT) {
        drain_seen(r->drain, &block->id, block->length_bytes);
        spans_count(r, block);
    }
    r->result->copied_blocks++;
    return trace_pack_copy(r->pack, block->stored, block->stored_bytes, e);
}

// Opens the part file; a missing or unreadable one is noted, and no failure.
static void part_open(struct recovery *r)
{
    struct err why = {0};
    r->part = trace_reader_open(r->meta.part, &why);
    if (!r->part)
        buf_printf(&r->result->notes, "Only what the directory holds was recovered: %s.\n",
            err_text(&why));
}

// Takes the part file over, as far as it is intact.
static int part_copy(struct recovery *r, struct err *e)
{
    struct trace_block_view block;
    int result = 0;
    while (result == 0 && r->part && trace_reader_next(r->part, &block))
        result = block_copy(r, &block, e);
    for (size_t i = 0; r->part && i < trace_reader_damage_count(r->part); i++)
        buf_printf(&r->result->notes, "%s\n", trace_reader_damage(r->part, i).text);
    return result;
}

static int json_pack(
    struct recovery *r, enum trace_block_type type, const struct json *value, struct err *e)
{
    const struct trace_block_id id = {.type = type};
    struct buf text = {0};
    json_print(value, 0, &text);
    const int result = trace_pack_block(r->pack, &id, buf_text(&text), text.length_bytes, e);
    buf_fini(&text);
    return result;
}

static int summary_pack(struct recovery *r, struct err *e)
{
    struct trace_clock clock;
    struct json *summary = json_object();
    json_put_string(summary, "ended", "recovered");
    json_put_int(summary, "spans", (int64_t)r->result->spans);
    json_put_int(summary, "records", (int64_t)r->result->records);
    json_put_int(summary, "threads", (int64_t)r->result->threads);
    json_put_int(summary, "processes", (int64_t)r->result->processes);
    // The counter has gone on since the run, so a reading of now gives the best rate.
    if (r->is_same_boot && trace_clock_get(&clock, r->merged, NULL, NULL) == 0) {
        trace_clock_update(&clock);
        trace_clock_put_summary(&clock, summary);
    }
    const int result = json_pack(r, TRACE_BLOCK_SUMMARY, summary, e);
    json_free(&summary);
    return result;
}

static void counts_add(struct recovery *r)
{
    const struct drain_stats *stats = drain_stats_get(r->drain);
    r->result->spans += stats->spans;
    r->result->records += stats->records;
    r->result->threads = stats->threads;
    r->result->processes = stats->processes;
    if (stats->damaged_segments)
        buf_printf(&r->result->notes,
            "%" PRIu64 " segments in %s had a header that cannot be right; what could be read was "
            "taken.\n",
            stats->damaged_segments, r->dir);
}

// Writes the new trace and gives it its name.
static int trace_write(struct recovery *r, const char *output, struct err *e)
{
    struct trace_clock clock;
    int result = -1;
    (void)trace_clock_get(&clock, r->meta.meta, NULL, NULL);
    // Before the new file is made: it might get the name of a part file that is gone.
    part_open(r);
    struct buf made = {0};
    trace_pack_part_name(output, r->meta.launcher_pid, &made);
    buf_puts(&made, TRACE_PACK_NEW);
    r->pack = trace_pack_create_over(output, buf_text(&made), clock.start_unix_ns, e);
    buf_fini(&made);
    if (!r->pack)
        goto done;
    const struct drain_options options = {
        .dir = r->dir, .dir_fd = r->dir_fd, .pack = r->pack, .is_read_only = 1};
    r->drain = drain_open(&options, e);
    if (!r->drain || part_copy(r, e) < 0)
        goto done;
    if (!r->merged) {
        struct buf text = {0};
        json_print(r->meta.meta, 0, &text);
        (void)trace_meta_merge(&r->merged, buf_text(&text), text.length_bytes, NULL);
        buf_fini(&text);
        if (json_pack(r, TRACE_BLOCK_META, r->meta.meta, e) < 0)
            goto done;
    }
    if (drain_finish(r->drain, e) < 0)
        goto done;
    counts_add(r);
    if (summary_pack(r, e) < 0)
        goto done;
    result = trace_pack_commit(&r->pack, e);
done:
    trace_reader_close(&r->part);
    drain_close(&r->drain);
    trace_pack_abort(&r->pack);
    return result;
}

// Whether `path` is the finished trace of this run: the launcher was killed between giving it its
// name and marking the directory.
static int is_finished(struct recovery *r, const char *path)
{
    struct trace_block_view block;
    struct buf mine = {0};
    struct json *theirs = NULL;
    struct buf theirs_text = {0};
    struct trace_reader *reader =
        access(r->meta.part, F_OK) == 0 ? NULL : trace_reader_open(path, NULL);
    int is_same = 0;
    if (!reader)
        return 0;
    if (trace_reader_next(reader, &block) && block.id.type == TRACE_BLOCK_META &&
        trace_meta_merge(&theirs, block.bytes, block.length_bytes, NULL) == 0) {
        json_print(r->meta.meta, 0, &mine);
        json_print(theirs, 0, &theirs_text);
        is_same = strcmp(buf_text(&mine), buf_text(&theirs_text)) == 0;
    }
    while (trace_reader_next(reader, &block))
        ;
    is_same = is_same && !trace_reader_is_cut(reader);
    trace_reader_close(&reader);
    json_free(&theirs);
    buf_fini(&mine);
    buf_fini(&theirs_text);
    return is_same;
}

// What a launcher that was killed while it left out the oldest part had begun, or a recovery.
static void rewrite_remove(const char *part)
{
    struct buf path = {0};
    buf_printf(&path, "%s" TRACE_PACK_NEW, part);
    (void)unlink(buf_text(&path));
    buf_fini(&path);
}

// Removes the part file and the directory, now that the trace is there.
static void tidy(struct recovery *r)
{
    rewrite_remove(r->meta.part);
    struct err why = {0};
    unsigned left = 0;
    if (rundir_done_mark(r->dir_fd, &why) < 0 ||
        (unlink(r->meta.part) < 0 && errno != ENOENT &&
            err_set_errno(&why, errno, "cannot remove %s", r->meta.part)) ||
        rundir_remove(r->dir_fd, r->dir, &left, &why) < 0)
        buf_printf(&r->result->notes, "The trace is complete, but %s.\n", err_text(&why));
    else if (left)
        buf_printf(&r->result->notes,
            "The trace is complete; %u files in %s are not Lightmeter's and were left there.\n",
            left, r->dir);
}

// Whether the part file, if there is one, has nothing of the program.
static int is_part_empty(const char *path)
{
    struct trace_block_view block;
    struct stat st;
    if (lstat(path, &st) < 0)
        return 1;
    struct trace_reader *reader = S_ISREG(st.st_mode) ? trace_reader_open(path, NULL) : NULL;
    if (!reader)
        return S_ISREG(st.st_mode) && st.st_size < (off_t)sizeof(struct trace_file);
    int is_empty = 1;
    while (is_empty && trace_reader_next(reader, &block))
        is_empty = block.id.type == TRACE_BLOCK_META;
    trace_reader_close(&reader);
    return is_empty;
}

// Removes what a launcher left that was killed before it was ready to start its program.
static int nothing_recover(struct recovery *r, struct err *e)
{
    unsigned left = 0;
    if (r->meta.part && is_part_empty(r->meta.part))
        (void)unlink(r->meta.part);
    r->result->was_nothing = 1;
    return rundir_remove(r->dir_fd, r->dir, &left, e);
}

static int recover_locked(struct recovery *r, const struct recover_options *options, struct err *e)
{
    struct buf boot_id = {0};
    if (rundir_is_fresh(r->dir_fd, r->dir))
        return nothing_recover(r, e);
    if (rundir_is_being_removed(r->dir_fd)) {
        r->result->was_done = 1;
        return rundir_remove(r->dir_fd, r->dir, NULL, e);
    }
    if (rundir_meta_read(r->dir_fd, r->dir, &r->meta, e) < 0)
        return -1;
    if (json_count(r->meta.meta) == 0)
        return nothing_recover(r, e);
    rundir_boot_id(&boot_id);
    r->is_same_boot = boot_id.length_bytes && strcmp(buf_text(&boot_id), r->meta.boot_id) == 0;
    buf_fini(&boot_id);
    const int is_done = rundir_done_is_marked(r->dir_fd) || is_finished(r, r->meta.output);
    if (is_done) {
        r->result->was_done = 1;
        buf_puts(&r->result->output, r->meta.output);
    } else {
        rundir_absolute(options->output ? options->output : r->meta.output, &r->result->output);
        r->result->is_kept =
            r->is_same_boot && recover_writers_note(r->dir_fd, r->dir, &r->result->notes) > 0;
        if (trace_write(r, buf_text(&r->result->output), e) < 0)
            return -1;
    }
    if (!r->result->is_kept)
        tidy(r);
    return 0;
}

int recover_run(const struct recover_options *options, struct recover_result *result, struct err *e)
{
    struct buf dir = {0};
    struct recovery r = {.result = result};
    *result = (struct recover_result){0};
    buf_puts(&dir, options->dir);
    while (dir.length_bytes > 1 && dir.at[dir.length_bytes - 1] == '/')
        dir.at[--dir.length_bytes] = 0;
    r.dir = buf_text(&dir);
    r.dir_fd = rundir_open(r.dir, e);
    const int status = r.dir_fd < 0 ? -1 : recover_locked(&r, options, e);
    if (r.dir_fd >= 0)
        close(r.dir_fd);
    rundir_meta_fini(&r.meta);
    json_free(&r.merged);
    buf_fini(&dir);
    return status;
}
