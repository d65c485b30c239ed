// SPDX-License-Identifier: Apache-2.0
// What is known of the structs of FFmpeg 4 to 7: their first fields, where these are at the same
// place in all of those versions, on 64-bit machines. Read by the hook sets for its libraries;
// tests compare this with the headers of the version that is installed. No code. Threads: none.
#ifndef LIGHTMETER_AGENT_HOOKS_LIBAV_ABI_H
#define LIGHTMETER_AGENT_HOOKS_LIBAV_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct libav_ratio {
    int32_t num, den;
};

// AVPacket, libavcodec 58 to 61. The time base is there from 59 on.
struct libav_packet {
    const void *buffer;
    int64_t pts, dts;
    const uint8_t *data;
    int32_t length_bytes, stream, flags;
    const void *side_data;
    int32_t side_data_count;
    int64_t duration, position;
    const void *opaque, *opaque_reference;
    struct libav_ratio time_base;
};
static_assert(offsetof(struct libav_packet, length_bytes) == 32, "AVPacket");
static_assert(offsetof(struct libav_packet, time_base) == 96, "AVPacket");

// AVFrame, libavutil 56 to 59.
struct libav_frame {
    const uint8_t *data[8];
    int32_t stride_bytes[8];
    const uint8_t *const *planes;
    int32_t width, height, samples, format, is_key, picture_type;
    struct libav_ratio aspect;
    int64_t pts;
};
static_assert(offsetof(struct libav_frame, width) == 104, "AVFrame");
static_assert(offsetof(struct libav_frame, pts) == 136, "AVFrame");

// AVFormatContext, the same in 58 to 61.
struct libav_format_context {
    const void *class, *input, *output, *private, *io;
    int32_t flags;
    uint32_t stream_count;
    const uint8_t *const *streams;
};
static_assert(offsetof(struct libav_format_context, streams) == 48, "AVFormatContext");

// AVStream.time_base. What is before it has changed with each major version of libavformat; in 60
// within it.
enum libav_stream_time_base {
    LIBAV_STREAM_TIME_BASE_58 = 24,
    LIBAV_STREAM_TIME_BASE_59 = 16,
    LIBAV_STREAM_TIME_BASE_61 = 32,
};

// The head of AVCodecContext, the same in 58 to 61.
struct libav_codec_context {
    const void *class;
    int32_t log_level_offset, media_type;
    const void *codec;
};
static_assert(offsetof(struct libav_codec_context, codec) == 16, "AVCodecContext");

#endif
