// SPDX-License-Identifier: Apache-2.0
// The run directory as a place: made by the launcher, described by its meta.json, locked by whoever
// packs it, removed at the end. Used by the launcher, the drain and `recover`. What lies in its
// segments is the drain's business. Threads: one owner.
#ifndef LIGHTMETER_TRACE_RUNDIR_H
#define LIGHTMETER_TRACE_RUNDIR_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

// Makes a new private directory (mode 0700) `lightmeter-PID-XXXXXX` in `parent`, or, when that is
// NULL, in /dev/shm, else in XDG_RUNTIME_DIR, else in TMPDIR or /tmp; appends its path to *path.
// 0, or -1 with a message.
int rundir_create(const char *parent, struct buf *path, struct err *e);

// Opens the directory (close-on-exec, never through a symbolic link at its end, owned by this user)
// and locks it against a second packer until the descriptor is closed. Its descriptor, or -1 with a
// message (missing, no directory, being packed by someone else).
int rundir_open(const char *path, struct err *e);

// Whether it is a directory of rundir_create's name that nothing but files of ours, and no
// meta.json, has come into: its launcher was killed right after it had made it.
int rundir_is_fresh(int dir_fd, const char *path);

// What meta.json holds.
struct rundir_meta {
    char *output;  // absolute path that the trace will get
    char *part;    // absolute path of the part file
    char *boot_id; // of the kernel, "" when not known
    uint32_t launcher_pid;
    struct json *meta; // content of the META block; without keys: the program is not started yet
};

// Writes meta.json whole. `boot_id` is filled in by this call when NULL; nothing is taken.
int rundir_meta_write(int dir_fd, const struct rundir_meta *m, struct err *e);

// Reads it. 0 and the caller owns *m (rundir_meta_fini); or -1 with a message.
int rundir_meta_read(int dir_fd, const char *path, struct rundir_meta *m, struct err *e);
void rundir_meta_fini(struct rundir_meta *m); // accepts an empty one

// The kernel's boot id appended to *out; nothing when it cannot be read.
void rundir_boot_id(struct buf *out);

// An absolute path for `path` (made from the working directory; links are not resolved).
void rundir_absolute(const char *path, struct buf *out);

// Marks the run as packed and committed: from here on `recover` only tidies up.
int rundir_done_mark(int dir_fd, struct err *e);
int rundir_done_is_marked(int dir_fd);

// Whether a removal of it was cut short, after the trace had got its name.
int rundir_is_being_removed(int dir_fd);

// Removes our files and the directory. A foreign file stays, and so does the directory then; that
// is no failure, but *left counts them (may be NULL). 0, or -1 with a message.
int rundir_remove(int dir_fd, const char *path, unsigned *left, struct err *e);

#endif
