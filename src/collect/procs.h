// SPDX-License-Identifier: Apache-2.0
// The processes of the run as seen from outside: the target, what announces itself in the run
// directory (`p-PID-IMAGE`), and the children of both that /proc knows. Finds new ones, notices
// those that are gone, and keeps their /proc files open. Used by the sampler and the launcher's
// loop. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_PROCS_H
#define LIGHTMETER_COLLECT_PROCS_H

#include "base/os.h"
#include "base/vec.h"
#include "trace/drain.h"

#include <stdint.h>
#include <sys/types.h>

struct procs_thread {
    uint32_t tid;
    int schedstat_fd; // -1: not kept open
};

struct procs_entry {
    uint32_t pid, parent_pid;
    uint64_t start_ns; // since boot, from the kernel; tells a reused pid apart
    char name[64];     // as the kernel has it: any bytes but NUL
    int has_agent;     // it has a process file
    int is_of_other;   // seen with another effective user than ours
    int is_alive;
    uint64_t first_seen_ticks, last_seen_ticks;
    int stat_fd, io_fd;      // -1 when closed
    uint64_t listed_threads; // thread count when `threads` was listed; 0: never
    VEC(struct procs_thread) threads;
};

struct procs_announced {
    uint64_t name_hash;
    uint32_t round; // of looking, that saw it last
    int is_open;    // nobody is known by its pid, and it is not over: it is looked at again
};

struct procs {
    int run_dir_fd;      // borrowed; -1: none
    const char *run_dir; // borrowed; its path, which the run's processes have in their environment
    int clock_is_tsc;
    unsigned open_files;                   // of threads
    VEC(struct procs_entry) all;           // ended ones stay, without their files, up to PROCS_KEEP
    VEC(struct drain_ended) ended;         // what is over since the owner last emptied it
    VEC(struct procs_announced) announced; // process files that were there, sorted
    uint32_t announced_round;
    uint64_t forgotten; // ended ones beyond PROCS_KEEP
};

#define PROCS_KEEP 4096

void procs_init(struct procs *p, int run_dir_fd, const char *run_dir, int clock_is_tsc);
void procs_fini(struct procs *p);

// Adds a process if it is alive and new. Its entry, or NULL. Entries move when others are added.
struct procs_entry *procs_add(struct procs *p, uint32_t pid, int has_agent);

// Looks for new processes: in the run directory, and among the children of live ones.
void procs_scan(struct procs *p);

// Also looks through all of /proc for processes that have our run directory in their environment:
// forked ones that have called nothing yet and whose parents are gone. Costs more than procs_scan.
void procs_scan_all(struct procs *p);

// Marks an entry as gone and closes its files.
void procs_end(struct procs *p, struct procs_entry *entry);

// Lists the threads of a live process anew; files of those that stay are kept.
void procs_list_threads(struct procs *p, struct procs_entry *entry, uint64_t thread_count);

// How many are alive.
size_t procs_alive(const struct procs *p);

// Looks whether the process has changed its user: then it cannot open the run directory any more.
void procs_note_user(struct procs_entry *entry);

// Reads /proc/PID/stat from an open descriptor. 0, or -1 when the process is gone.
int procs_stat_read(int fd, struct os_process_stat *out);

#endif
