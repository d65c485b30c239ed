// SPDX-License-Identifier: Apache-2.0
// What the kernel says about this machine, its control groups, and a process. Used by collect and
// doctor. Read-only and without privilege. What cannot be known says so (a flag, 0 or ""), as each
// field tells; nothing is guessed. Threads: no shared state.
//
// `root` is put before every path that is read ("/proc/...", "/sys/..."): "" is this machine, tests
// name a folder with files of their own.
#ifndef LIGHTMETER_BASE_OS_H
#define LIGHTMETER_BASE_OS_H

#include <stddef.h>
#include <stdint.h>

struct json;

struct os_host {
    char cpu_model[128];         // "" not known
    unsigned cores_online;       // 0 not known
    unsigned cores_affinity;     // that this process may run on; 0 not known
    int has_quota;               // 1: quota_cores holds; 0: there is none; -1: not known
    double quota_cores;          // CPU seconds per second that the control groups allow
    uint64_t memory_bytes;       // of the machine; 0 not known
    uint64_t memory_limit_bytes; // of the control groups; 0 none or not known
    char kernel[96];             // release; "" not known
    char container[24];   // "docker", "podman", "kubernetes", "lxc", "containerd", "wsl", or ""
    int is_virtual;       // 1: a hypervisor runs below; 0: none says so; -1: not known
    int smt_is_active;    // 1, 0; -1 not known
    char thp[16];         // transparent huge pages: "always", "madvise", "never"; "" not known
    char governor[24];    // frequency governor of the first core; "" not known
    char clocksource[24]; // "" not known
};

void os_host_read(const char *root, struct os_host *host);

// Cores that can be used at once: the smaller of affinity (else online) and quota; 0 not known.
double os_host_cores_allowed(const struct os_host *host);

// The host as a new JSON object, owned by the caller, with the keys of META's "host": "cpu",
// "cores_online", "cores_affinity", "cores_allowed", "quota_cores", "memory_bytes",
// "memory_limit_bytes", "kernel", "container", "is_virtual", "smt_is_active", "thp", "governor",
// "clocksource". What is not known is left out; so is what does not exist (a quota, a container).
struct json *os_host_json(const struct os_host *host);

// The levels of control groups above this process that limit CPU or memory.
struct os_cgroup {
    int is_found;  // a cpu controller's folder was found; else nothing below is known
    int version;   // 1 or 2
    int has_quota; // 1: quota_cores holds
    double quota_cores;
    // Of the level with the smallest quota, the innermost of equal ones, else of the process's own.
    char path[512];              // its folder, with `root`
    int has_throttling;          // 1: the three below hold
    uint64_t periods;            // in which the group wanted to run
    uint64_t throttled;          // of these, those in which it was stopped
    uint64_t throttled_ns;       // for how long, summed over its cores
    uint64_t memory_limit_bytes; // the smallest of all levels; 0: none
};

// Reads all of it anew. Version 1, 2 and both side by side.
void os_cgroup_read(const char *root, struct os_cgroup *group);

// Pressure stall totals since boot, in microseconds.
struct os_psi_line {
    int is_known; // 0: the kernel has none of it
    int has_full;
    uint64_t some_us, full_us;
};
struct os_psi {
    struct os_psi_line cpu, io, memory;
};
void os_psi_read(const char *root, struct os_psi *psi);

// From the text of a /proc/pressure file.
void os_psi_parse(const char *text, struct os_psi_line *line);

// Time that the hypervisor kept this machine's cores from running since boot, summed over the
// cores. 0, or -1 when it is not known.
int os_steal_read(const char *root, uint64_t *steal_ns);

// What /proc/PID/stat and /proc/PID/task/TID/stat say. Times are CPU time of the process or thread.
struct os_process_stat {
    char name[64]; // as the kernel has it: any bytes but NUL
    char state;    // R, S, D, T, Z, ...
    int32_t parent_pid;
    uint64_t minor_faults, major_faults;
    uint64_t user_ns, system_ns;
    uint64_t thread_count;
    uint64_t start_ns; // since boot
    uint64_t resident_bytes;
};

// 0, or -1 when the text has not that form.
int os_process_stat_parse(const char *text, struct os_process_stat *stat);

struct os_process_io {
    uint64_t called_read_bytes, called_write_bytes; // rchar, wchar: through calls, cached or not
    uint64_t read_calls, write_calls;
    uint64_t disk_read_bytes, disk_write_bytes; // that reached the storage layer
};
int os_process_io_parse(const char *text, struct os_process_io *io);

struct os_schedstat {
    uint64_t run_ns, wait_ns; // on a core; in a run queue
    uint64_t turns;           // times it was put on a core
};
int os_schedstat_parse(const char *text, struct os_schedstat *schedstat);

#endif
