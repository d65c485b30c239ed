// SPDX-License-Identifier: Apache-2.0
// Test host: encodes a picture as JPEG XL with libjxl and decodes it at once, into bytes and
// floating-point numbers, and as the bytes come; prints sums of the pixels and statuses. usage:
// hooks_libjxl. Run by test_hooks_libjxl.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jxl/decode.h>
#include <jxl/encode.h>

#define WIDTH 200u
#define HEIGHT 120u
#define CHANNELS 3u
#define PIECES 5

static uint8_t pixels[HEIGHT * WIDTH * CHANNELS];
static uint8_t out[HEIGHT * WIDTH * 4 * sizeof(float)];
static uint8_t jxl[1 << 20];

static void draw(void)
{
    for (unsigned i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i / 3 + i / (WIDTH * CHANNELS) * (i % 3 + 1));
}

static unsigned long sum_of(const uint8_t *p, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

// The bytes made; the first few go to a buffer that is too small.
static size_t encode(void)
{
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    JxlBasicInfo info;
    JxlColorEncoding colour;
    const JxlPixelFormat format = {CHANNELS, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlEncoderInitBasicInfo(&info);
    info.xsize = WIDTH;
    info.ysize = HEIGHT;
    info.bits_per_sample = 8;
    info.uses_original_profile = JXL_TRUE;
    printf("info %d, ", (int)JxlEncoderSetBasicInfo(encoder, &info));
    JxlColorEncodingSetToSRGB(&colour, JXL_FALSE);
    printf("colour %d, ", (int)JxlEncoderSetColorEncoding(encoder, &colour));
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlEncoderSetFrameLossless(settings, JXL_TRUE);
    JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 1);
    printf("frame %d, ", (int)JxlEncoderAddImageFrame(settings, &format, pixels, sizeof pixels));
    JxlEncoderCloseInput(encoder);
    uint8_t *next = jxl;
    size_t left = 64;
    printf("output %d, ", (int)JxlEncoderProcessOutput(encoder, &next, &left));
    left = sizeof jxl - (size_t)(next - jxl);
    printf("output %d\n", (int)JxlEncoderProcessOutput(encoder, &next, &left));
    JxlEncoderDestroy(encoder);
    printf("made %zu\n", (size_t)(next - jxl));
    return (size_t)(next - jxl);
}

static void give(JxlDecoder *decoder, size_t low, size_t high)
{
    printf("give %zu\n", high - low);
    JxlDecoderSetInput(decoder, jxl + low, high - low);
}

static void decode(size_t n, uint32_t channels, JxlDataType type, int pieces)
{
    const JxlPixelFormat format = {channels, type, JXL_NATIVE_ENDIAN, 0};
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE);
    size_t out_bytes = 0, high = n / (size_t)pieces;
    give(decoder, 0, high);
    for (int status = -1; status != JXL_DEC_SUCCESS && status != JXL_DEC_ERROR;) {
        status = (int)JxlDecoderProcessInput(decoder);
        printf("status %d\n", status);
        if (status == JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
            JxlDecoderImageOutBufferSize(decoder, &format, &out_bytes);
            JxlDecoderSetImageOutBuffer(decoder, &format, out, out_bytes);
        }
        if (status == JXL_DEC_NEED_MORE_INPUT) {
            size_t low = high - JxlDecoderReleaseInput(decoder);
            if (high == n)
                break;
            high = high + n / (size_t)pieces > n - (size_t)pieces ? n : high + n / (size_t)pieces;
            give(decoder, low, high);
        }
    }
    printf("decode %zu %lu\n", out_bytes, sum_of(out, out_bytes));
    JxlDecoderDestroy(decoder);
}

int main(void)
{
    draw();
    size_t n = encode();
    decode(n, 3, JXL_TYPE_UINT8, 1);
    decode(n, 4, JXL_TYPE_FLOAT, 1);
    decode(n, 3, JXL_TYPE_UINT16, PIECES);
    // Cut, and damaged.
    decode(n / 2, 3, JXL_TYPE_UINT8, 1);
    memset(jxl, 255, 16);
    decode(n, 3, JXL_TYPE_UINT8, 1);
    return 0;
}
