// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files and folders where libFuzzer is not there: every file as it is, and
// some hundred variants of it (cut, bytes changed, pieces repeated), the same ones each time.
// Usage: target FILE-OR-FOLDER... Threads: one.
#include "base/buf.h"
#include "base/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VARIANTS 300
#define FILE_LIMIT_BYTES (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length_bytes);

static uint64_t random_state;

static size_t random_below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)(random_state % n) : 0;
}

// Runs exactly these bytes, in memory that ends where they end.
static void run(const void *bytes, size_t length_bytes)
{
    uint8_t *exact = malloc(length_bytes ? length_bytes : 1);
    if (!exact)
        abort();
    if (length_bytes)
        memcpy(exact, bytes, length_bytes);
    LLVMFuzzerTestOneInput(exact, length_bytes);
    free(exact);
}

static void run_variant(const struct buf *file)
{
    struct buf v = {0};
    buf_add(&v, file->at, file->length_bytes);
    for (size_t change = random_below(8) + 1; change > 0 && v.length_bytes; change--) {
        const size_t at = random_below(v.length_bytes);
        const size_t run_bytes = random_below(v.length_bytes - at) % 64;
        switch (random_below(5)) {
        case 0:
            v.length_bytes = at;
            break;
        case 1:
            memset(v.at + at, (int)random_below(2) * 255, run_bytes);
            break;
        case 2:
            memmove(v.at + at, v.at + random_below(v.length_bytes - run_bytes), run_bytes);
            break;
        default:
            v.at[at] = (char)random_below(256);
        }
    }
    run(v.at, v.length_bytes);
    buf_fini(&v);
}

static int run_file(const char *path)
{
    struct err e = {0};
    struct buf file = {0};
    if (file_read(path, FILE_LIMIT_BYTES, &file, &e) < 0) {
        fprintf(stderr, "%s\n", err_text(&e));
        return -1;
    }
    random_state = 88172645463325252u;
    run(file.at, file.length_bytes);
    for (int i = 0; i < VARIANTS; i++)
        run_variant(&file);
    buf_fini(&file);
    return 0;
}

static int run_path(const char *path, int *files)
{
    struct stat st;
    int result = 0;
    DIR *dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!dir) {
        ++*files;
        return run_file(path);
    }
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct buf inner = {0};
        buf_printf(&inner, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            result |= run_path(buf_text(&inner), files);
        buf_fini(&inner);
    }
    closedir(dir);
    return result;
}

int main(int argc, char **argv)
{
    int files = 0, result = 0;
    for (int i = 1; i < argc; i++)
        result |= run_path(argv[i], &files);
    if (!files) {
        fprintf(stderr, "no input: name files or folders of the corpus\n");
        return 2;
    }
    printf("%d files, %d variants of each\n", files, VARIANTS);
    return result ? 1 : 0;
}
