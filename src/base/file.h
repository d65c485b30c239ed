// SPDX-License-Identifier: Apache-2.0
// Files in whole: read one into memory, map one, write one so that it appears whole or not at all.
// Used by every command. Does not follow formats. Threads: no shared state.
#ifndef LIGHTMETER_BASE_FILE_H
#define LIGHTMETER_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

// Reads all of `path` (at most `limit_bytes`; more is an error) and appends it to *out.
// 0, or -1 with a message (missing, unreadable, too large). Works on /proc files (length unknown).
int file_read(const char *path, size_t limit_bytes, struct buf *out, struct err *e);

// A read-only private mapping of a regular file. On success *map owns it; file_unmap ends it.
struct file_map {
    const uint8_t *at; // NULL for an empty file
    size_t length_bytes;
};
int file_map_open(const char *path, struct file_map *map, struct err *e);
void file_map_close(struct file_map *map);

// An output file that appears under `path` only at file_out_commit: written beside it as
// `path.tmp-PID`, fsynced, renamed. `-` is standard output (no rename).
struct file_out;
struct file_out *file_out_open(const char *path, struct err *e); // NULL with a message
int file_out_write(struct file_out *f, const void *bytes, size_t length_bytes, struct err *e);
int file_out_commit(struct file_out **f, struct err *e); // consumes *f, also on failure
void file_out_abort(struct file_out **f);                // removes what was written; accepts NULL

// Writes a whole buffer through file_out. 0, or -1 with a message.
int file_write(const char *path, const void *bytes, size_t length_bytes, struct err *e);

// Removes a directory and the files and directories in it; never follows symbolic links out of it.
// 0, or -1 with a message. A path that does not exist is fine.
int file_remove_tree(const char *path, struct err *e);

#endif
