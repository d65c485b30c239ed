// SPDX-License-Identifier: Apache-2.0
// Stands in for FFmpeg's libavcodec of another major version than the one installed (MAJOR): its
// old calls, which are gone since 59, and a version that no hook knows. Gives back what it is
// given.
#include "odd_libav.h"

unsigned avcodec_version(void)
{
    return MAJOR << 16;
}

static int decode(struct libav_frame *frame, int *made, const struct libav_packet *packet)
{
    *made = packet->length_bytes > 100;
    return frame ? packet->length_bytes : -1;
}

int avcodec_decode_video2(
    void *context, struct libav_frame *frame, int *made, const struct libav_packet *packet)
{
    (void)context;
    return decode(frame, made, packet);
}

int avcodec_decode_audio4(
    void *context, struct libav_frame *frame, int *made, const struct libav_packet *packet)
{
    (void)context;
    return decode(frame, made, packet);
}

int avcodec_encode_video2(
    void *context, struct libav_packet *packet, const struct libav_frame *frame, int *made)
{
    (void)context;
    *made = frame != NULL;
    packet->length_bytes = frame ? frame->width : 0;
    return 0;
}

int avcodec_encode_audio2(
    void *context, struct libav_packet *packet, const struct libav_frame *frame, int *made)
{
    (void)context;
    *made = frame != NULL;
    packet->length_bytes = frame ? frame->samples : 0;
    return 0;
}
