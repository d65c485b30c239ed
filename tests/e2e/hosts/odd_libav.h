// SPDX-License-Identifier: Apache-2.0
// The calls of odd_libav.c, for its host. The structs are those that the hooks know.
#ifndef ODD_LIBAV_H
#define ODD_LIBAV_H

#include "agent/hooks/libav_abi.h"

#pragma GCC visibility push(default)

unsigned avcodec_version(void);
int avcodec_decode_video2(
    void *context, struct libav_frame *frame, int *made, const struct libav_packet *packet);
int avcodec_decode_audio4(
    void *context, struct libav_frame *frame, int *made, const struct libav_packet *packet);
int avcodec_encode_video2(
    void *context, struct libav_packet *packet, const struct libav_frame *frame, int *made);
int avcodec_encode_audio2(
    void *context, struct libav_packet *packet, const struct libav_frame *frame, int *made);

#pragma GCC visibility pop

#endif
