// SPDX-License-Identifier: Apache-2.0
// The photographs that a command line names. Called by the C examples at their start.
// Looks at names only: what a file holds is found out by whoever decodes it.
// Threads: one owner; nothing here is shared.
#include "photo/photo_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// Takes `path`, also on failure.
static int append(struct photo_list *list, char *path, struct err *e)
{
    if (path && list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        char **paths = realloc(list->paths, capacity * sizeof *paths);
        if (!paths) {
            free(path);
            path = NULL;
        } else {
            list->paths = paths;
            list->capacity = capacity;
        }
    }
    if (!path)
        return err_set(e, "out of memory after %zu photographs; name fewer of them", list->count);
    list->paths[list->count++] = path;
    return 0;
}

static int is_jpeg_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && dot != entry->d_name &&
           (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

static int by_byte_value(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct photo_list *list, const char *folder, struct err *e)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_jpeg_name, by_byte_value);
    if (count < 0)
        return err_set_errno(e, errno, "cannot read the folder %s", folder);
    int result = 0;
    if (count == 0)
        result = err_set(e,
            "no *.jpg or *.jpeg in the folder %s; name a folder of JPEG photographs, or the files",
            folder);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (result == 0) {
            if (asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) < 0)
                path = NULL;
            result = append(list, path, e);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

int photo_list_add(struct photo_list *list, const char *path, struct err *e)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return add_folder(list, path, e);
    return append(list, strdup(path), e);
}

void photo_list_fini(struct photo_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct photo_list){0};
}
