// SPDX-License-Identifier: Apache-2.0
// Test library: the names of libjpeg with structs of another layout, as a fork of it might have.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void jpeg_CreateDecompress(void *jpeg, int version, size_t length_bytes);
int jpeg_start_decompress(void *jpeg);

__attribute__((visibility("default"))) void jpeg_CreateDecompress(
    void *jpeg, int version, size_t length_bytes)
{
    (void)version;
    memset(jpeg, 0x5a, length_bytes);
}

__attribute__((visibility("default"))) int jpeg_start_decompress(void *jpeg)
{
    return jpeg != NULL;
}
