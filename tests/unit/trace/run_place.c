// SPDX-License-Identifier: Apache-2.0
// A run directory with writers in it. Used by test_drain and test_recover, which include cmocka.
// Threads: one owner; writers run in processes of their own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "run_place.h"

#include "base/file.h"
#include "stream.h"
#include "trace/check.h"
#include "trace/names.h"
#include "trace/reader.h"
#include "trace/records.h"
#include "trace/rundir.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITER_PID_IMAGE 0x1234u
#define WRITER_MOST UINT64_C(3000000) // spans of a thread: a test that fails must not fill a disk

static void meta_pack(struct run_place *p, const struct json *meta)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_META};
    struct buf text = {0};
    json_print(meta, 0, &text);
    assert_int_equal(trace_pack_block(p->pack, &id, text.at, text.length_bytes, NULL), 0);
    buf_fini(&text);
}

void run_place_begin(struct run_place *p, const struct drain_options *options)
{
    struct err e = {0};
    struct drain_options all = *options;
    memset(p, 0, sizeof *p);
    strcpy(p->folder, "/tmp/lightmeter-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->output, sizeof p->output, "%s/out.lmt", p->folder);
    assert_int_equal(rundir_create(p->folder, &p->dir, &e), 0);
    p->dir_fd = rundir_open(buf_text(&p->dir), &e);
    assert_true(p->dir_fd >= 0);
    trace_clock_start(&p->clock, 0);
    p->pack = trace_pack_create(p->output, p->clock.start_unix_ns, &e);
    assert_non_null(p->pack);
    struct rundir_meta m = {.output = p->output,
        .part = (char *)(uintptr_t)trace_pack_part_path(p->pack),
        .launcher_pid = (uint32_t)getpid(),
        .meta = json_object()};
    trace_clock_put_meta(&p->clock, m.meta);
    json_put_string(m.meta, "name", p->folder);
    assert_int_equal(rundir_meta_write(p->dir_fd, &m, &e), 0);
    meta_pack(p, m.meta);
    json_free(&m.meta);
    all.dir = buf_text(&p->dir);
    all.dir_fd = p->dir_fd;
    all.pack = p->pack;
    p->drain = drain_open(&all, &e);
    assert_non_null(p->drain);
}

void run_place_step(struct run_place *p)
{
    struct err e = {0};
    if (drain_step(p->drain, 0, &e) < 0)
        fail_msg("%s", err_text(&e));
}

void run_place_finish(struct run_place *p)
{
    struct err e = {0};
    if (drain_finish(p->drain, &e) < 0)
        fail_msg("%s", err_text(&e));
}

void run_place_end(struct run_place *p)
{
    struct err e = {0};
    const struct trace_block_id id = {.type = TRACE_BLOCK_SUMMARY};
    unsigned left = 0;
    drain_close(&p->drain);
    assert_int_equal(trace_pack_block(p->pack, &id, "{}", 2, &e), 0);
    assert_int_equal(trace_pack_commit(&p->pack, &e), 0);
    assert_int_equal(rundir_done_mark(p->dir_fd, &e), 0);
    assert_int_equal(rundir_remove(p->dir_fd, buf_text(&p->dir), &left, &e), 0);
    assert_int_equal(left, 0);
    assert_int_equal(access(buf_text(&p->dir), F_OK), -1);
    close(p->dir_fd);
    p->dir_fd = -1;
}

void run_place_leave(struct run_place *p)
{
    drain_close(&p->drain);
    trace_pack_leave(&p->pack);
    if (p->dir_fd >= 0)
        close(p->dir_fd);
    p->dir_fd = -1;
}

void run_place_remove(struct run_place *p)
{
    run_place_leave(p);
    assert_int_equal(file_remove_tree(p->folder, NULL), 0);
    buf_fini(&p->dir);
}

void numbered_writer_init(struct numbered_writer *w, const struct run_place *p, uint32_t pid,
    uint64_t image_ticks, uint32_t thread_seq)
{
    memset(w, 0, sizeof *w);
    snprintf(w->place.run_dir, sizeof w->place.run_dir, "%s", p->dir.at);
    w->place.pid = pid;
    w->place.image_ticks = image_ticks;
    w->writer.thread_seq = thread_seq;
    w->writer.tid = pid + thread_seq;
    w->now_ticks = 1000;
}

void numbered_writer_stock(struct numbered_writer *w, const struct run_place *p)
{
    const uint64_t round = ((w->stock[0] >> 32) + 1) << 32;
    for (int i = 0; i < 2; i++)
        w->stock[i] = round | drain_stock(p->drain, i);
    w->place.stock = w->stock;
}

static void add_one(struct numbered_writer *w)
{
    struct trace_span *span = trace_writer_room(&w->writer, sizeof *span);
    if (!span && trace_writer_advance(&w->writer, &w->place) == 0)
        span = trace_writer_room(&w->writer, sizeof *span);
    if (!span) {
        w->lost++;
        return;
    }
    w->now_ticks += w->next + 3;
    *span = (struct trace_span){.kind = TRACE_SPAN,
        .name = 1,
        .dur_ticks = (uint32_t)w->next + 1,
        .end_ticks = w->now_ticks};
    trace_writer_commit(&w->writer, sizeof *span);
    w->next++;
}

void numbered_writer_add(struct numbered_writer *w, uint64_t spans)
{
    while (spans--)
        add_one(w);
}

void process_file_write(const struct run_place *p, uint32_t pid, uint64_t image_ticks)
{
    struct buf bytes = {0}, path = {0};
    char name[TRACE_NAME_BYTES];
    const struct trace_name n = {
        .kind = TRACE_NAME_PROCESS, .pid = pid, .image_ticks = image_ticks};
    stream_process(&bytes, pid, image_ticks, 1);
    buf_printf(&path, "%s/%s", p->dir.at, trace_name_format(name, &n));
    const int fd = open(path.at, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.at, bytes.length_bytes), bytes.length_bytes);
    close(fd);
    buf_fini(&bytes);
    buf_fini(&path);
}

// Checks the numbers of a block's spans against what came before.
static void spans_take(struct numbered_result *result, const struct trace_block_view *block)
{
    struct trace_cursor c = {.at = block->bytes, .length_bytes = block->length_bytes};
    struct trace_record r;
    int more;
    while ((more = trace_records_next(&c, &r)) > 0) {
        assert_int_equal(r.kind, TRACE_SPAN);
        if (result->spans == 0)
            result->first = r.span->dur_ticks - 1;
        assert_true(r.span->dur_ticks > result->last);
        result->gaps += result->spans && r.span->dur_ticks != result->last + 1;
        result->last = r.span->dur_ticks;
        result->spans++;
    }
    assert_int_equal(more, 0);
    result->blocks++;
}

struct numbered_result numbered_read_only(const char *path, uint32_t pid, uint32_t thread_seq)
{
    struct err e = {0};
    struct numbered_result result = {0};
    struct trace_block_view block;
    struct trace_reader *reader = trace_reader_open(path, &e);
    if (!reader)
        fail_msg("%s", err_text(&e));
    while (trace_reader_next(reader, &block))
        if (block.id.type == TRACE_BLOCK_SEGMENT && block.id.pid == pid &&
            block.id.thread_seq == thread_seq)
            spans_take(&result, &block);
    assert_int_equal(trace_reader_damage_count(reader), 0);
    result.is_cut = trace_reader_is_cut(reader);
    trace_reader_close(&reader);
    return result;
}

struct numbered_result numbered_read(const char *path, uint32_t pid, uint32_t thread_seq)
{
    struct err e = {0};
    struct trace_check check;
    assert_int_equal(trace_check_file(path, &check, &e), 0);
    assert_string_equal(buf_text(&check.text), "");
    trace_check_fini(&check);
    const struct numbered_result result = numbered_read_only(path, pid, thread_seq);
    assert_int_equal(result.gaps, 0);
    return result;
}

uint64_t *counters_map(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

struct writer_thread {
    const struct run_place *place;
    uint32_t thread_seq;
    uint64_t *written;
};

static _Noreturn void *writer_run(void *context)
{
    struct writer_thread *t = context;
    struct numbered_writer w;
    numbered_writer_init(&w, t->place, (uint32_t)getpid(), WRITER_PID_IMAGE, t->thread_seq);
    while (w.next < WRITER_MOST) {
        add_one(&w);
        __atomic_store_n(t->written, w.next, __ATOMIC_RELEASE);
    }
    for (;;)
        pause();
}

pid_t process_fork(void)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
        _exit(1);
    return pid;
}

pid_t writer_start(const struct run_place *p, uint64_t *written)
{
    const pid_t pid = process_fork();
    if (pid != 0)
        return pid;
    struct writer_thread threads[2];
    pthread_t second;
    close(p->dir_fd); // the lock is the launcher's
    process_file_write(p, (uint32_t)getpid(), WRITER_PID_IMAGE);
    for (uint32_t i = 0; i < 2; i++)
        threads[i] = (struct writer_thread){p, i, &written[i]};
    if (pthread_create(&second, NULL, writer_run, &threads[1]) != 0)
        _exit(1);
    writer_run(&threads[0]);
}

void process_wait(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

void process_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    process_wait(pid);
}
