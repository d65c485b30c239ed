// SPDX-License-Identifier: Apache-2.0
// Finding and forgetting processes, see procs.h. A process is known by pid and kernel start time,
// so that a reused pid is another process. Reads /proc only; needs no privilege for one's own
// processes. Threads: one owner.
#include "collect/procs.h"
#include "collect/procs_image.h"

#include "base/buf.h"
#include "base/file.h"
#include "trace/names.h"
#include "trace/ticks.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRONMENT_LIMIT_BYTES (8u << 20)
#define THREAD_FILES_LIMIT 512 // kept open over all processes; the rest is opened at each reading

void procs_init(struct procs *p, int run_dir_fd, const char *run_dir, int clock_is_tsc)
{
    *p = (struct procs){.run_dir_fd = run_dir_fd, .run_dir = run_dir, .clock_is_tsc = clock_is_tsc};
}

static void close_thread(struct procs *p, struct procs_thread *t)
{
    if (t->schedstat_fd < 0)
        return;
    close(t->schedstat_fd);
    t->schedstat_fd = -1;
    p->open_files--;
}

static void close_files(struct procs *p, struct procs_entry *entry)
{
    for (size_t i = 0; i < entry->threads.count; i++)
        close_thread(p, &entry->threads.at[i]);
    vec_fini(&entry->threads);
    if (entry->stat_fd >= 0)
        close(entry->stat_fd);
    if (entry->io_fd >= 0)
        close(entry->io_fd);
    entry->stat_fd = entry->io_fd = -1;
}

void procs_fini(struct procs *p)
{
    for (size_t i = 0; i < p->all.count; i++)
        close_files(p, &p->all.at[i]);
    vec_fini(&p->all);
    vec_fini(&p->ended);
    vec_fini(&p->announced);
}

int procs_stat_read(int fd, struct os_process_stat *out)
{
    char text[1024];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return -1;
    text[n] = 0;
    return os_process_stat_parse(text, out);
}

static int open_proc(uint32_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

// The last process of that pid, alive or not.
static struct procs_entry *find_last(struct procs *p, uint32_t pid)
{
    for (size_t i = p->all.count; i-- > 0;)
        if (p->all.at[i].pid == pid)
            return &p->all.at[i];
    return NULL;
}

// Keeps the list bounded: drops the oldest ended entry.
static void forget_one(struct procs *p)
{
    for (size_t i = 0; i < p->all.count; i++) {
        if (p->all.at[i].is_alive)
            continue;
        memmove(&p->all.at[i], &p->all.at[i + 1], (p->all.count - i - 1) * sizeof p->all.at[0]);
        p->all.count--;
        p->forgotten++;
        return;
    }
}

struct procs_entry *procs_add(struct procs *p, uint32_t pid, int has_agent)
{
    struct procs_entry *known = find_last(p, pid);
    if (known && known->is_alive) {
        known->has_agent |= has_agent;
        return known;
    }
    struct os_process_stat stat;
    int fd = open_proc(pid, "stat");
    if (fd < 0)
        return NULL;
    if (procs_stat_read(fd, &stat) < 0) {
        close(fd);
        return NULL;
    }
    if (p->all.count >= PROCS_KEEP)
        forget_one(p);
    struct procs_entry *entry = vec_push(&p->all);
    *entry = (struct procs_entry){
        .pid = pid,
        .parent_pid = (uint32_t)stat.parent_pid,
        .start_ns = stat.start_ns,
        .has_agent = has_agent,
        .is_alive = 1,
        .first_seen_ticks = ticks_now(p->clock_is_tsc),
        .stat_fd = fd,
        .io_fd = open_proc(pid, "io"),
    };
    entry->last_seen_ticks = entry->first_seen_ticks;
    memcpy(entry->name, stat.name, sizeof entry->name);
    return entry;
}

// Until when the images of its pid were its own: a new process may have the number by now.
static uint64_t own_until_ticks(const struct procs *p, const struct procs_entry *entry)
{
    struct os_process_stat stat;
    const uint64_t ticks = ticks_now(p->clock_is_tsc);
    const int fd = open_proc(entry->pid, "stat");
    const int is_other =
        fd >= 0 && procs_stat_read(fd, &stat) == 0 && stat.start_ns != entry->start_ns;
    if (fd >= 0)
        close(fd);
    return is_other ? entry->last_seen_ticks : ticks;
}

void procs_end(struct procs *p, struct procs_entry *entry)
{
    close_files(p, entry);
    if (!entry->is_alive)
        return;
    entry->is_alive = 0;
    *vec_push(&p->ended) = (struct drain_ended){entry->pid, own_until_ticks(p, entry)};
}

size_t procs_alive(const struct procs *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->all.count; i++)
        count += p->all.at[i].is_alive != 0;
    return count;
}

// What is known of a process file. It moves when another becomes known.
static struct procs_announced *announced_get(struct procs *p, const char *name)
{
    uint64_t hash = 1469598103934665603u; // FNV-1a
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t low = 0, high = p->announced.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->announced.at[middle].name_hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->announced.count && p->announced.at[low].name_hash == hash) {
        p->announced.at[low].round = p->announced_round;
        return &p->announced.at[low];
    }
    (void)vec_push(&p->announced);
    memmove(&p->announced.at[low + 1], &p->announced.at[low],
        (p->announced.count - 1 - low) * sizeof p->announced.at[0]);
    p->announced.at[low] = (struct procs_announced){hash, p->announced_round, 1};
    return &p->announced.at[low];
}

// Those that were removed: their names do not come again.
static void forget_removed(struct procs *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->announced.count; i++)
        if (p->announced.at[i].round == p->announced_round)
            p->announced.at[kept++] = p->announced.at[i];
    p->announced.count = kept;
}

// Whether the process has our run directory in its environment. In another pid namespace the number
// in a process file means another process here, which must not be taken for ours.
static int is_of_run(const struct procs *p, uint32_t pid)
{
    char path[64];
    struct buf text = {0}, wanted = {0};
    snprintf(path, sizeof path, "/proc/%u/environ", pid);
    buf_printf(&wanted, "LIGHTMETER_RUN_DIR=%s", p->run_dir);
    int is_ours = file_read(path, ENVIRONMENT_LIMIT_BYTES, &text, NULL) == 0 &&
                  memmem(buf_text(&text), text.length_bytes, buf_text(&wanted),
                      wanted.length_bytes + 1) != NULL;
    buf_fini(&text);
    buf_fini(&wanted);
    return is_ours;
}

// Whether it is to be looked at again.
static int take_announced(struct procs *p, const char *file_name, const struct trace_name *name)
{
    struct procs_entry *known = find_last(p, name->pid);
    if (known)
        known->has_agent = 1;
    if ((known && known->is_alive) || (is_of_run(p, name->pid) && procs_add(p, name->pid, 1)))
        return 0;
    const enum procs_image image = procs_image_look(p->run_dir_fd, file_name);
    if (image == PROCS_IMAGE_OVER) // it came and went between two looks
        *vec_push(&p->ended) = (struct drain_ended){name->pid, name->image_ticks};
    return image == PROCS_IMAGE_LIVES;
}

static void scan_run_dir(struct procs *p)
{
    int fd =
        p->run_dir_fd >= 0 ? openat(p->run_dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    p->announced_round++;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        const struct trace_name name = trace_name_parse(d->d_name);
        struct procs_announced *a =
            name.kind == TRACE_NAME_PROCESS ? announced_get(p, d->d_name) : NULL;
        if (a && a->is_open)
            a->is_open = take_announced(p, d->d_name, &name);
    }
    closedir(dir);
    forget_removed(p);
}

// Children that the threads of `pid` made and that still are its children.
static void scan_children(struct procs *p, uint32_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return;
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        char name[sizeof d->d_name + 16];
        snprintf(name, sizeof name, "%s/children", d->d_name);
        int fd = openat(dirfd(tasks), name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        text[n > 0 ? n : 0] = 0;
        for (char *at = text, *end; (end = strchr(at, ' ')) != NULL; at = end + 1)
            procs_add(p, (uint32_t)strtoul(at, NULL, 10), 0);
    }
    closedir(tasks);
}

void procs_scan(struct procs *p)
{
    scan_run_dir(p);
    // Entries added on the way are scanned in the same round; the list may move.
    for (size_t i = 0; i < p->all.count; i++)
        if (p->all.at[i].is_alive)
            scan_children(p, p->all.at[i].pid);
}

void procs_scan_all(struct procs *p)
{
    DIR *dir = opendir("/proc");
    procs_scan(p);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        const uint32_t pid = (uint32_t)strtoul(d->d_name, NULL, 10);
        const struct procs_entry *known = find_last(p, pid);
        if ((!known || !known->is_alive) && is_of_run(p, pid))
            procs_add(p, pid, 0);
    }
    closedir(dir);
    scan_run_dir(p); // what announced itself meanwhile
}

void procs_note_user(struct procs_entry *entry)
{
    char path[64];
    struct stat owner; // of the folder: always the effective user, even of a zombie
    snprintf(path, sizeof path, "/proc/%u", entry->pid);
    if (stat(path, &owner) == 0 && owner.st_uid != geteuid())
        entry->is_of_other = 1;
}

static int open_schedstat(struct procs *p, uint32_t pid, uint32_t tid)
{
    char path[80];
    if (p->open_files >= THREAD_FILES_LIMIT)
        return -1;
    snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    p->open_files += fd >= 0;
    return fd;
}

void procs_list_threads(struct procs *p, struct procs_entry *entry, uint64_t thread_count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", entry->pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return;
    VEC(struct procs_thread) now = {0};
    size_t from = 0; // both lists are in the kernel's order
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        struct procs_thread *t = vec_push(&now);
        *t = (struct procs_thread){(uint32_t)strtoul(d->d_name, NULL, 10), -1};
        for (size_t i = from; i < entry->threads.count; i++) {
            if (entry->threads.at[i].tid != t->tid)
                continue;
            *t = entry->threads.at[i];
            entry->threads.at[i].schedstat_fd = -1;
            from = i + 1;
            break;
        }
        if (t->schedstat_fd < 0)
            t->schedstat_fd = open_schedstat(p, entry->pid, t->tid);
    }
    closedir(tasks);
    for (size_t i = 0; i < entry->threads.count; i++)
        close_thread(p, &entry->threads.at[i]);
    vec_fini(&entry->threads);
    memcpy(&entry->threads, &now, sizeof now);
    entry->listed_threads = thread_count;
}
