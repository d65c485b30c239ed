// SPDX-License-Identifier: Apache-2.0
// Test host: calls the library of odd_jpeg.c with a struct shorter than libjpeg's, at the end of
// its memory, so that reading it as libjpeg's would fault.
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

void jpeg_CreateDecompress(void *jpeg, int version, size_t length_bytes);
int jpeg_start_decompress(void *jpeg);

int main(void)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0)
        return 1;
    jpeg_CreateDecompress(pages + 4096 - 40, 99, 40);
    printf("%d\n", jpeg_start_decompress(pages + 4096 - 40));
    return 0;
}
