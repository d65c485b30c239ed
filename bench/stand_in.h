// SPDX-License-Identifier: Apache-2.0
// What the stand-in libraries offer: see stand_in.c.
#ifndef LIGHTMETER_BENCH_STAND_IN_H
#define LIGHTMETER_BENCH_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

// libwebp.so.7
int WebPGetInfo(const uint8_t *webp, size_t n, int *width, int *height);
int bare_info(const uint8_t *webp, size_t n, int *width, int *height);
const uint8_t *WebPDecodeRGBA(const uint8_t *webp, size_t n, int *width, int *height);
const uint8_t *bare_decode(const uint8_t *webp, size_t n, int *width, int *height);

// libspng.so.0
int spng_get_ihdr(void *spng, void *header);
int spng_decode_image(void *spng, void *out, size_t n, int format, int flags);
int bare_image(void *spng, void *out, size_t n, int format, int flags);

#endif
