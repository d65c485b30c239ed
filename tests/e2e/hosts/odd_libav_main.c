// SPDX-License-Identifier: Apache-2.0
// Calls a libavcodec of another major version: each call once with something to be made of it, and
// once without. The test looks at what was read, which is nothing where the version is not known.
#include "odd_libav.h"

#include <stdio.h>
#include <time.h>

// Long enough not to be summed up with others of its name.
static void pause_between(void)
{
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

int main(void)
{
    static uint8_t bytes[1000];
    int context = 0;
    struct libav_packet packet = {.data = bytes, .length_bytes = 700, .pts = 5};
    struct libav_frame picture = {.data = {bytes}, .width = 64, .height = 48, .format = 3};
    struct libav_frame sound = {.data = {bytes}, .samples = 512, .format = 8};
    for (int i = 0; i < 2; i++) {
        int made = -1, result = avcodec_decode_video2(&context, &picture, &made, &packet);
        printf("video %d %d\n", result, made);
        result = avcodec_decode_audio4(&context, &sound, &made, &packet);
        printf("audio %d %d\n", result, made);
        packet.length_bytes = 7;
        pause_between();
    }
    int made = -1, result = avcodec_encode_video2(&context, &packet, &picture, &made);
    printf("encode %d %d %d\n", result, made, packet.length_bytes);
    result = avcodec_encode_audio2(&context, &packet, NULL, &made);
    printf("encode %d %d %d\n", result, made, packet.length_bytes);
    printf("version %u\n", avcodec_version() >> 16);
    return 0;
}
