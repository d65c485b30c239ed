// SPDX-License-Identifier: Apache-2.0
// Test host's library: functions named as those of libavif and OpenJPEG, of versions whose structs
// and arguments are others: a libavif 0.9, and an openjpeg 1.5, whose opj_decode has no image and
// whose opj_encode has four arguments. Called by odd_codecs_main.c.
#include <stddef.h>
#include <stdint.h>

const char *avifVersion(void);
int avifDecoderParse(uintptr_t decoder, const void *input);
int avifDecoderNextImage(uintptr_t decoder);
int avifImageYUVToRGB(uintptr_t image, uintptr_t rgb);
uintptr_t opj_decode(uintptr_t decoder, uintptr_t stream);
int opj_encode(uintptr_t encoder, uintptr_t stream, uintptr_t image, uintptr_t index);

__attribute__((visibility("default"))) const char *avifVersion(void)
{
    return "0.9.3";
}

__attribute__((visibility("default"))) int avifDecoderParse(uintptr_t decoder, const void *input)
{
    return decoder == 8 && *(const int *)input == 42 ? 0 : 1;
}

__attribute__((visibility("default"))) int avifDecoderNextImage(uintptr_t decoder)
{
    return decoder == 8 ? 0 : 1;
}

__attribute__((visibility("default"))) int avifImageYUVToRGB(uintptr_t image, uintptr_t rgb)
{
    return image == 16 && rgb == 24 ? 0 : 1;
}

__attribute__((visibility("default"))) uintptr_t opj_decode(uintptr_t decoder, uintptr_t stream)
{
    return decoder + stream;
}

__attribute__((visibility("default"))) int opj_encode(
    uintptr_t encoder, uintptr_t stream, uintptr_t image, uintptr_t index)
{
    return (int)(encoder + 10 * stream + 100 * image + 1000 * index);
}
