// SPDX-License-Identifier: Apache-2.0
// Finding the processes of a run: children, announced ones, ended ones.
#include "collect/procs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "collect/procs_image.h"
#include "trace/format.h"
#include "trace/names.h"
#include "trace/rundir.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a failed test leaves nobody behind
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

static void stop_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static const struct procs_entry *find(const struct procs *p, pid_t pid)
{
    for (size_t i = 0; i < p->all.count; i++)
        if (p->all.at[i].pid == (uint32_t)pid)
            return &p->all.at[i];
    return NULL;
}

static void children_are_found(void **state)
{
    (void)state;
    struct procs p;
    procs_init(&p, -1, "", 0);
    pid_t child = start_child();
    assert_non_null(procs_add(&p, (uint32_t)getpid(), 0));
    procs_scan(&p);
    assert_int_equal(p.all.count, 2);
    assert_non_null(find(&p, child));
    assert_int_equal(find(&p, child)->parent_pid, getpid());
    assert_int_equal(procs_alive(&p), 2);
    procs_scan(&p); // nobody is taken twice
    assert_int_equal(p.all.count, 2);
    stop_child(child);
    procs_fini(&p);
}

static void what_is_gone_is_not_added(void **state)
{
    (void)state;
    struct procs p;
    pid_t child = start_child();
    stop_child(child);
    procs_init(&p, -1, "", 0);
    assert_null(procs_add(&p, (uint32_t)child, 0));
    assert_int_equal(p.all.count, 0);
    procs_fini(&p);
}

// Gives the file, still open for writing, as that of a living process is.
static int announce(int dir_fd, pid_t pid, uint64_t image, uint32_t exit_seen)
{
    char name[TRACE_NAME_BYTES];
    const struct trace_name n = {
        .kind = TRACE_NAME_PROCESS, .pid = (uint32_t)pid, .image_ticks = image};
    const struct trace_process head = {
        .magic = TRACE_PROCESS_MAGIC, .end_ticks = exit_seen ? 5 : 0, .exit_seen = exit_seen};
    int fd = openat(dir_fd, trace_name_format(name, &n), O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, &head, sizeof head), sizeof head);
    return fd;
}

// Whether leases tell here that a file is open for writing.
static int has_leases(int dir_fd)
{
    const int writer = announce(dir_fd, 1, 1, 0);
    const int living = procs_image_look(dir_fd, "p-1-1") == PROCS_IMAGE_LIVES;
    close(writer);
    assert_int_equal(unlinkat(dir_fd, "p-1-1", 0), 0);
    return living;
}

// Starts /bin/sleep with one environment variable; it is running when this returns.
static pid_t start_with(char *entry)
{
    char name[] = "sleep", length[] = "60", none;
    char *argv[] = {name, length, NULL}, *env[] = {entry, NULL};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execve("/bin/sleep", argv, env);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &none, 1), 0); // exec has closed it
    close(ends[0]);
    return pid;
}

static void announced_processes_must_be_of_the_run(void **state)
{
    (void)state;
    struct procs p;
    struct buf dir = {0};
    struct err e = {0};
    char ours_entry[256], other_entry[] = "LIGHTMETER_RUN_DIR=/another/run";
    assert_int_equal(rundir_create("/tmp", &dir, &e), 0);
    int dir_fd = rundir_open(buf_text(&dir), &e);
    snprintf(ours_entry, sizeof ours_entry, "LIGHTMETER_RUN_DIR=%s", buf_text(&dir));
    pid_t ours = start_with(ours_entry), stranger = start_with(other_entry);
    const int of_ours = announce(dir_fd, ours, 4, 0);
    const int of_other = announce(dir_fd, stranger, 1, 0);
    const int elsewhere = announce(dir_fd, 999999999, 2, 0); // of another pid namespace, and alive
    close(announce(dir_fd, 999999998, 3, 1));                // has come and gone
    procs_init(&p, dir_fd, buf_text(&dir), 0);
    procs_scan(&p);
    assert_non_null(find(&p, ours));
    assert_true(find(&p, ours)->has_agent);
    assert_null(find(&p, stranger));
    // Only what surely ended is told: segments of the living must not be recycled.
    assert_int_equal(p.ended.count, 1);
    assert_int_equal(p.ended.at[0].pid, 999999998);
    assert_int_equal(p.ended.at[0].until_ticks, 3);
    procs_scan(&p); // and once
    assert_int_equal(p.ended.count, 1);
    // Killed, which no file and no pid tells: nobody can write to the file any more.
    close(elsewhere);
    if (has_leases(dir_fd)) {
        procs_scan(&p);
        assert_int_equal(p.ended.count, 2);
        assert_int_equal(p.ended.at[1].pid, 999999999);
        assert_int_equal(p.ended.at[1].until_ticks, 2);
    }
    close(of_ours);
    close(of_other);
    stop_child(ours);
    stop_child(stranger);
    procs_fini(&p);
    close(dir_fd);
    assert_int_equal(file_remove_tree(buf_text(&dir), &e), 0);
    buf_fini(&dir);
}

// A pid is used again: the old process's end says nothing of what the new one began.
static void a_reused_pid_is_another_process(void **state)
{
    (void)state;
    struct procs p;
    struct buf dir = {0};
    struct err e = {0};
    char entry[256];
    assert_int_equal(rundir_create("/tmp", &dir, &e), 0);
    const int dir_fd = rundir_open(buf_text(&dir), &e);
    snprintf(entry, sizeof entry, "LIGHTMETER_RUN_DIR=%s", buf_text(&dir));
    const pid_t pid = start_with(entry);
    procs_init(&p, dir_fd, buf_text(&dir), 0);
    struct procs_entry *old = procs_add(&p, (uint32_t)pid, 1);
    old->start_ns -= 1000000000; // as if an earlier one had had its number
    old->last_seen_ticks = 7;
    procs_end(&p, old);
    assert_int_equal(p.ended.count, 1);
    assert_int_equal(p.ended.at[0].until_ticks, 7);
    const int file = announce(dir_fd, pid, 9, 0);
    procs_scan(&p);
    assert_int_equal(p.all.count, 2);
    assert_int_equal(procs_alive(&p), 1);
    assert_true(p.all.at[1].has_agent);
    // Nobody else has the number when its own process is gone, or a zombie.
    kill(pid, SIGKILL);
    procs_end(&p, &p.all.at[1]);
    assert_int_equal(p.ended.count, 2);
    assert_true(p.ended.at[1].until_ticks > 9);
    waitpid(pid, NULL, 0);
    procs_fini(&p);
    close(file);
    close(dir_fd);
    assert_int_equal(file_remove_tree(buf_text(&dir), &e), 0);
    buf_fini(&dir);
}

static void a_last_look_finds_those_that_nobody_announced(void **state)
{
    (void)state;
    struct procs p;
    char ours_entry[] = "LIGHTMETER_RUN_DIR=/a/run", other_entry[] = "LIGHTMETER_RUN_DIR=/a/run/2";
    pid_t ours = start_with(ours_entry), stranger = start_with(other_entry);
    procs_init(&p, -1, "/a/run", 0);
    procs_scan(&p);
    assert_null(find(&p, ours)); // none of its parents is known
    procs_scan_all(&p);
    procs_scan_all(&p);
    assert_int_equal(p.all.count, 1);
    assert_non_null(find(&p, ours));
    assert_false(find(&p, ours)->has_agent);
    assert_string_equal(find(&p, ours)->name, "sleep");
    assert_null(find(&p, stranger));
    stop_child(ours);
    stop_child(stranger);
    procs_fini(&p);
}

static void a_changed_user_is_seen(void **state)
{
    (void)state;
    struct procs p;
    int ends[2];
    char none;
    if (geteuid() != 0) {
        skip();
        return;
    }
    procs_init(&p, -1, "", 0);
    pid_t same = start_child();
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        none = setuid(65534) == 0 ? 'y' : 'n';
        if (write(ends[1], &none, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &none, 1), 1);
    close(ends[0]);
    close(ends[1]);
    struct procs_entry *entry = procs_add(&p, (uint32_t)same, 0);
    assert_non_null(entry);
    procs_note_user(entry);
    assert_false(entry->is_of_other);
    entry = none == 'y' ? procs_add(&p, (uint32_t)other, 0) : NULL;
    assert_non_null(entry);
    procs_note_user(entry);
    assert_true(entry->is_of_other);
    stop_child(same);
    stop_child(other);
    procs_note_user(entry); // gone: what was seen stays
    assert_true(entry->is_of_other);
    procs_fini(&p);
}

static void *wait_for_it(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

static void threads_are_listed(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // the sanitizer's runtime has a thread of its own, so the counts below are off by one
#endif
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[3];
    struct procs p;
    procs_init(&p, -1, "", 0);
    struct procs_entry *self = procs_add(&p, (uint32_t)getpid(), 0);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_for_it, &lock);
    procs_list_threads(&p, self, 4);
    assert_int_equal(self->threads.count, 4);
    assert_int_equal(p.open_files, 4);
    int kept = self->threads.at[0].schedstat_fd;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    do // a joined thread leaves /proc a little later
        procs_list_threads(&p, self, 1);
    while (self->threads.count > 1);
    assert_int_equal(self->threads.at[0].schedstat_fd, kept);
    assert_int_equal(p.open_files, 1);
    procs_fini(&p);
    assert_int_equal(p.open_files, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_are_found),
        cmocka_unit_test(what_is_gone_is_not_added),
        cmocka_unit_test(announced_processes_must_be_of_the_run),
        cmocka_unit_test(a_reused_pid_is_another_process),
        cmocka_unit_test(a_last_look_finds_those_that_nobody_announced),
        cmocka_unit_test(a_changed_user_is_seen),
        cmocka_unit_test(threads_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
