// SPDX-License-Identifier: Apache-2.0
// Test host: calls functions that are named as those of libavif and OpenJPEG, in the way of other
// versions, with numbers where those that are known have pointers. usage: hooks_odd_codecs. Run by
// test_hooks_libavif.py and test_hooks_openjpeg.py with and without the preloaded library.
#include <stdint.h>
#include <stdio.h>

int avifDecoderParse(uintptr_t decoder, const void *input);
int avifDecoderNextImage(uintptr_t decoder);
int avifImageYUVToRGB(uintptr_t image, uintptr_t rgb);
uintptr_t opj_decode(uintptr_t decoder, uintptr_t stream, uintptr_t not_an_image);
int opj_encode(uintptr_t encoder, uintptr_t stream, uintptr_t image, uintptr_t index);

int main(void)
{
    const int input = 42;
    printf("avif %d %d %d\n", avifDecoderParse(8, &input), avifDecoderNextImage(8),
        avifImageYUVToRGB(16, 24));
    printf("opj %d %d\n", (int)opj_decode(3, 4, 5), opj_encode(1, 2, 3, 4));
    return 0;
}
