// SPDX-License-Identifier: Apache-2.0
// Test host: calls opencv5.c with arrays that end where the memory does.
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

struct array {
    int32_t flags;
    const int32_t *object;
};

int resize5(const struct array *in, const struct array *out, uint64_t extent, double x, double y,
    int how) __asm__("_ZN2cv6resizeERKNS_11_InputArrayERKNS_12_OutputArrayENS_5Size_IiEEddi");

int main(void)
{
    enum { PAGE = 1 << 16, IS_MAT = 1 << 16, MAGIC = 0x42ff0000 };
    char *pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, PAGE, PROT_READ | PROT_WRITE) != 0)
        return 1;
    int32_t *last = (int32_t *)(pages + PAGE) - 1;
    *last = MAGIC;
    struct array in = {IS_MAT, last}, out = {IS_MAT, last};
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum ^= resize5(&in, &out, (uint64_t)i, 2.5, i, 3);
    printf("%d\n", sum);
    return 0;
}
