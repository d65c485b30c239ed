// SPDX-License-Identifier: Apache-2.0
// Host of the hook set mapped: maps a file whose pages are not in memory and touches them, inside a
// stage that the program marks, and maps memory of its own. Prints what it was told, and whether
// the pages had really gone. usage: hooks_mapped FOLDER
#include <lightmeter/mark.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGES 2048
#define FILE_BYTES (PAGES * 4096)

#define SAY(call)                                                                                  \
    do {                                                                                           \
        errno = 0;                                                                                 \
        const long long told = (long long)(call);                                                  \
        printf("%s: %lld, %s\n", #call, told, strerror(errno));                                    \
    } while (0)

static long major_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_majflt;
}

// Far apart and from the end, so that reading ahead does not help.
static long touch_cold(const char *path, int *was_cold)
{
    int fd = open(path, O_RDONLY), sum = 0;
    static unsigned char in_memory[PAGES];
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const volatile unsigned char *at = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    madvise((void *)(uintptr_t)at, FILE_BYTES, MADV_RANDOM);
    mincore((void *)(uintptr_t)at, FILE_BYTES, in_memory);
    *was_cold = !(in_memory[1] & 1) && !(in_memory[PAGES - 1] & 1);
    const long before = major_faults();
    lm_stage_begin("decode");
    for (int i = 0; i < PAGES; i += 64)
        sum += at[i * 4096];
    lm_stage_end();
    const long faults = major_faults() - before;
    munmap((void *)(uintptr_t)at, FILE_BYTES);
    printf("sum %d\n", sum);
    return faults;
}

int main(int count, char **arguments)
{
    char path[4096];
    int was_cold = 0;
    snprintf(path, sizeof path, "%s/mapped", count > 1 ? arguments[1] : "/tmp");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < PAGES; i++) {
        char page[4096];
        memset(page, i, sizeof page);
        fwrite(page, sizeof page, 1, file);
    }
    fclose(file);
    const long faults = touch_cold(path, &was_cold);
    puts(was_cold && faults > 4 ? "cold" : "warm");

    SAY(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);
    SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 5) == MAP_FAILED);
    lm_stage_begin("preprocess");
    char *own = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(own, 1, 100 * 4096);
    own = mremap(own, 100 * 4096, 300 * 4096, MREMAP_MAYMOVE);
    lm_stage_end();
    SAY(own[4096] + own[299 * 4096]);
    SAY(mremap(own, 300 * 4096, 900000 * 4096L, 0) == MAP_FAILED);
    SAY(madvise(own, 300 * 4096, MADV_DONTNEED));
    SAY(own[4096]);
    SAY(madvise(own, 300 * 4096, 7777));
    SAY(madvise(own + 1, 4096, MADV_WILLNEED));
    SAY(msync(own, 4096, MS_ASYNC));
    SAY(munmap(own, 300 * 4096));
    return 0;
}
