// SPDX-License-Identifier: Apache-2.0
// Libraries that do next to nothing, under the names of two that are followed: what is left of a
// call is what following it costs. Linked by bench/hooks.c; `bare_*` are the same functions under
// names that nobody follows. Built once as libwebp.so.7 and once as libspng.so.0. Threads: no
// state.
#include "stand_in.h"

#define HIDDEN_FROM_TRACERS __attribute__((no_instrument_function))
#define EXPORTED __attribute__((visibility("default"), noinline))

#ifdef STAND_IN_WEBP
#define INFO(name, attributes)                                                                     \
    EXPORTED attributes int name(const uint8_t *webp, size_t n, int *width, int *height)           \
    {                                                                                              \
        *width = *height = webp[0] + (int)n;                                                       \
        return 1;                                                                                  \
    }
INFO(WebPGetInfo, )
INFO(bare_info, HIDDEN_FROM_TRACERS)

#define DECODE(name, attributes)                                                                   \
    EXPORTED attributes const uint8_t *name(                                                       \
        const uint8_t *webp, size_t n, int *width, int *height)                                    \
    {                                                                                              \
        *width = *height = webp[0] + (int)n;                                                       \
        return webp;                                                                               \
    }
DECODE(WebPDecodeRGBA, )
DECODE(bare_decode, HIDDEN_FROM_TRACERS)
#else
EXPORTED int spng_get_ihdr(void *spng, void *header)
{
    uint32_t *h = header;
    h[0] = 640;
    h[1] = 480;
    h[2] = 8 | 2 << 8;
    return spng ? 0 : 1;
}

#define IMAGE(name, attributes)                                                                    \
    EXPORTED attributes int name(void *spng, void *out, size_t n, int format, int flags)           \
    {                                                                                              \
        *(size_t *)out = n + (size_t)format + (size_t)flags;                                       \
        return spng ? 0 : 1;                                                                       \
    }
IMAGE(spng_decode_image, )
IMAGE(bare_image, HIDDEN_FROM_TRACERS)
#endif
