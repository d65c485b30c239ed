// SPDX-License-Identifier: Apache-2.0
// The photographs that the command line of an example names: files as they are, folders by the JPEG
// files in them, sorted by name, so that two runs see the same order on every file system.
// Used by the C examples. Does not open the photographs. Threads: one owner.
#ifndef EXAMPLES_PHOTO_LIST_H
#define EXAMPLES_PHOTO_LIST_H

#include "base/err.h"

#include <stddef.h>

struct photo_list {
    char **paths; // owned; in the order named, a folder's files sorted by byte value
    size_t count;
    size_t capacity;
};

// Adds a file, or the *.jpg and *.jpeg files of a folder (not of folders in it). A file that is not
// there is added too: reading it gives the message. Fails on a folder that cannot be read or holds
// no JPEG file, and when memory runs out; then nothing of that folder is certain to be in the list.
// `list` starts as {0}.
int photo_list_add(struct photo_list *list, const char *path, struct err *e);

// Frees what the list holds and empties it.
void photo_list_fini(struct photo_list *list);

#endif
