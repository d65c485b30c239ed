// SPDX-License-Identifier: Apache-2.0
// A program with an allocator of its own, as big ones have: it takes a lock of libc's for each
// block and maps memory, so that the agent's hooks run inside of malloc, also before main. Prints
// how many blocks there were, at least. Run by test_harm_hosts.py.
#include <lightmeter/mark.h>

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CHUNK_BYTES ((size_t)4 << 20)
#define HEAD_BYTES ((size_t)16)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *room, *room_end;
static size_t block_count;

static void *take(size_t n, size_t align)
{
    pthread_mutex_lock(&lock);
    uintptr_t at = ((uintptr_t)room + HEAD_BYTES + align - 1) & ~(align - 1);
    if (!room || at + n > (uintptr_t)room_end) {
        const size_t length =
            n + align + HEAD_BYTES > CHUNK_BYTES ? n + align + HEAD_BYTES : CHUNK_BYTES;
        room = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) {
            room = NULL;
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        room_end = room + length;
        at = ((uintptr_t)room + HEAD_BYTES + align - 1) & ~(align - 1);
    }
    memcpy((void *)(at - sizeof n), &n, sizeof n);
    room = (char *)at + n;
    block_count++;
    pthread_mutex_unlock(&lock);
    return (void *)at;
}

#define EXPORTED __attribute__((visibility("default"), noinline))

EXPORTED void *malloc(size_t n)
{
    return take(n, 16);
}

EXPORTED void free(void *p)
{
    (void)p;
}

EXPORTED void *calloc(size_t count, size_t each)
{
    size_t n;
    return __builtin_mul_overflow(count, each, &n) ? NULL : take(n, 16); // fresh pages are zero
}

EXPORTED void *realloc(void *p, size_t n)
{
    void *made = take(n, 16);
    size_t old = 0;
    if (p)
        memcpy(&old, (char *)p - sizeof old, sizeof old);
    if (made && p)
        memcpy(made, p, old < n ? old : n);
    return made;
}

EXPORTED void *memalign(size_t align, size_t n)
{
    return take(n, align < 16 ? 16 : align);
}

EXPORTED void *aligned_alloc(size_t align, size_t n)
{
    return take(n, align < 16 ? 16 : align);
}

EXPORTED int posix_memalign(void **made, size_t align, size_t n)
{
    *made = take(n, align < 16 ? 16 : align);
    return *made ? 0 : ENOMEM;
}

static void *allocate(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        LM_STAGE("allocates");
        char *volatile block = malloc((size_t)(i % 700 + 1));
        block[0] = 1;
        block = realloc(block, 900);
        free(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    printf("own blocks %d\n", block_count >= 160000);
    return 12;
}
