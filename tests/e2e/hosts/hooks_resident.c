// SPDX-License-Identifier: Apache-2.0
// Opens files whose pages are in memory, partly, or not, and writes down what mincore says of each
// just before. Built with LACKING it is on a kernel that lacks the call that tells, and says
// whether that was asked for again and again.
//   hooks_resident FOLDER
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LENGTH_BYTES 100000
#define LONG_BYTES (3 << 20)
#define ODD_ERRNO 77

#ifdef LACKING
#include "lacking_kernel.h"
#else
static const unsigned lacking_kernel_asked;
#endif

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

// Pages of the file in memory.
static unsigned pages_of(const char *path, size_t length_bytes)
{
    static unsigned char is_there[LONG_BYTES / 4096 + 1];
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    unsigned count = 0;
    // Past the recording, which would take it for another open.
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, length_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED || mincore(at, length_bytes, is_there) != 0)
        fail("mincore");
    for (size_t i = 0; i < (length_bytes + page_bytes - 1) / page_bytes; i++)
        count += is_there[i] & 1u;
    munmap(at, length_bytes);
    close(fd);
    return count;
}

static void make(const char *path, size_t length_bytes, int is_dropped)
{
    static char bytes[LONG_BYTES];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    memset(bytes, 'x', length_bytes);
    if (fd < 0 || write(fd, bytes, length_bytes) != (ssize_t)length_bytes || fsync(fd) != 0)
        fail(path);
    if (is_dropped)
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

// `as_stream`: by fopen.
static void look(FILE *truth, const char *path, size_t length_bytes, int as_stream)
{
    const unsigned pages = length_bytes ? pages_of(path, length_bytes) : 0;
    fprintf(truth, "%s %zu %u\n", as_stream ? "fopen" : "open", length_bytes, pages);
    errno = ODD_ERRNO;
    FILE *stream = as_stream ? fopen(path, "r") : NULL;
    const int fd = as_stream ? fileno(stream) : open(path, O_RDONLY);
    if (fd < 0 || errno != ODD_ERRNO)
        fail("errno");
    if (stream)
        fclose(stream);
    else
        close(fd);
}

int main(int count, char **words)
{
    char path[4][4096];
    static const char *const names[4] = {"warm", "cold", "long", "empty"};
    if (count != 2)
        return 2;
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", words[1], names[i]);
    make(path[0], LENGTH_BYTES, 0);
    make(path[1], LENGTH_BYTES, 1);
    make(path[2], LONG_BYTES, 0);
    make(path[3], 0, 0);
    char truth_path[4096];
    snprintf(truth_path, sizeof truth_path, "%s/truth", words[1]);
    FILE *truth = fopen(truth_path, "w");
    if (!truth)
        fail(truth_path);
    look(truth, path[0], LENGTH_BYTES, 0);
    look(truth, path[1], LENGTH_BYTES, 0);
    look(truth, path[0], LENGTH_BYTES, 1);
    look(truth, path[1], LENGTH_BYTES, 1);
    look(truth, path[2], LONG_BYTES, 0);
    look(truth, path[3], 0, 0);
    fclose(truth);
    printf("asked again: %s\n", lacking_kernel_asked > 1 ? "yes" : "no");
    return 0;
}
