// SPDX-License-Identifier: Apache-2.0
// Calls FFmpeg's libraries as a transcoder does and prints hashes of all that came out, which the
// agent must not change: a clip is drawn, encoded, muxed, then demuxed and decoded with one thread
// and with several, scaled in three ways, its sound resampled; and calls that fail. The test looks
// at the spans. Also compares what the hooks know of the structs with the headers.
#include "agent/hooks/libav_abi.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAME(ours, our, theirs, their)                                                             \
    static_assert(offsetof(ours, our) == offsetof(theirs, their), #theirs "." #their)
SAME(struct libav_packet, pts, AVPacket, pts);
SAME(struct libav_packet, data, AVPacket, data);
SAME(struct libav_packet, length_bytes, AVPacket, size);
SAME(struct libav_packet, stream, AVPacket, stream_index);
#if LIBAVCODEC_VERSION_MAJOR >= 59
SAME(struct libav_packet, time_base, AVPacket, time_base);
#endif
SAME(struct libav_frame, data, AVFrame, data);
SAME(struct libav_frame, width, AVFrame, width);
SAME(struct libav_frame, height, AVFrame, height);
SAME(struct libav_frame, samples, AVFrame, nb_samples);
SAME(struct libav_frame, format, AVFrame, format);
SAME(struct libav_frame, pts, AVFrame, pts);
SAME(struct libav_format_context, stream_count, AVFormatContext, nb_streams);
SAME(struct libav_format_context, streams, AVFormatContext, streams);
SAME(struct libav_codec_context, codec, AVCodecContext, codec);
#if LIBAVFORMAT_VERSION_MAJOR == 58
static_assert(offsetof(AVStream, time_base) == LIBAV_STREAM_TIME_BASE_58, "AVStream.time_base");
#elif LIBAVFORMAT_VERSION_MAJOR == 59
static_assert(offsetof(AVStream, time_base) == LIBAV_STREAM_TIME_BASE_59, "AVStream.time_base");
#elif LIBAVFORMAT_VERSION_MAJOR == 61
static_assert(offsetof(AVStream, time_base) == LIBAV_STREAM_TIME_BASE_61, "AVStream.time_base");
#endif

#define WIDTH 320
#define HEIGHT 240
#define FRAMES 24
#define RATE 25
#define SAMPLE_RATE 48000

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            printf("failed: %s\n", #call);                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static uint64_t hash_bytes(uint64_t hash, const uint8_t *p, int n)
{
    for (int i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_plane(uint64_t hash, const AVFrame *f, int plane, int width, int height)
{
    for (int y = 0; y < height; y++)
        hash = hash_bytes(hash, f->data[plane] + (ptrdiff_t)y * f->linesize[plane], width);
    return hash;
}

static uint64_t hash_picture(uint64_t hash, const AVFrame *f)
{
    hash = hash_plane(hash, f, 0, f->width, f->height);
    for (int plane = 1; f->format == AV_PIX_FMT_YUV420P && plane < 3; plane++)
        hash = hash_plane(hash, f, plane, f->width / 2, f->height / 2);
    return hash;
}

static AVFrame *new_picture(int format, int width, int height)
{
    AVFrame *f = av_frame_alloc();
    f->format = format;
    f->width = width;
    f->height = height;
    MUST(av_frame_get_buffer(f, 0));
    return f;
}

static void draw(AVFrame *f, int at)
{
    MUST(av_frame_make_writable(f));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            f->data[0][y * f->linesize[0] + x] = (uint8_t)(x * 3 + y * 2 + at * 5 + (x * y >> 6));
    for (int plane = 1; plane < 3; plane++)
        for (int y = 0; y < HEIGHT / 2; y++)
            memset(
                f->data[plane] + y * f->linesize[plane], 100 + plane * 20 + at + y / 4, WIDTH / 2);
    f->pts = at;
}

// ---- Writing. ----

struct writer {
    AVFormatContext *format;
    AVCodecContext *picture, *sound;
    AVPacket *packet;
    int packets;
    long long bytes;
};

static AVCodecContext *open_encoder(struct writer *w, const char *name)
{
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    AVCodecContext *c = avcodec_alloc_context3(codec);
    if (codec->type == AVMEDIA_TYPE_VIDEO) {
        c->width = WIDTH;
        c->height = HEIGHT;
        c->pix_fmt = AV_PIX_FMT_YUV420P;
        c->time_base = (AVRational){1, RATE};
        c->thread_count = 1;
    } else {
        c->sample_fmt = AV_SAMPLE_FMT_S16;
        c->sample_rate = SAMPLE_RATE;
        MUST(av_opt_set(c, "ch_layout", "mono", 0));
        c->time_base = (AVRational){1, SAMPLE_RATE};
    }
    c->flags |= AV_CODEC_FLAG_BITEXACT;
    MUST(avcodec_open2(c, NULL, NULL));
    AVStream *stream = avformat_new_stream(w->format, NULL);
    stream->time_base = c->time_base;
    MUST(avcodec_parameters_from_context(stream->codecpar, c));
    return c;
}

static void encode(struct writer *w, AVCodecContext *c, int stream, const AVFrame *f)
{
    MUST(avcodec_send_frame(c, f));
    while (avcodec_receive_packet(c, w->packet) >= 0) {
        w->packet->stream_index = stream;
        av_packet_rescale_ts(w->packet, c->time_base, w->format->streams[stream]->time_base);
        w->packets++;
        w->bytes += w->packet->size;
        MUST(av_interleaved_write_frame(w->format, w->packet));
    }
}

// The sound is drawn as float and resampled to what the encoder takes.
static void encode_sound(struct writer *w)
{
    SwrContext *swr = swr_alloc();
    av_opt_set(swr, "in_chlayout", "mono", 0);
    av_opt_set(swr, "out_chlayout", "mono", 0);
    av_opt_set_int(swr, "in_sample_rate", SAMPLE_RATE / 2, 0);
    av_opt_set_int(swr, "out_sample_rate", SAMPLE_RATE, 0);
    av_opt_set_sample_fmt(swr, "in_sample_fmt", AV_SAMPLE_FMT_FLT, 0);
    av_opt_set_sample_fmt(swr, "out_sample_fmt", AV_SAMPLE_FMT_S16, 0);
    MUST(swr_init(swr));
    static float in[SAMPLE_RATE / 2];
    static int16_t out[SAMPLE_RATE + 256];
    for (int i = 0; i < SAMPLE_RATE / 2; i++)
        in[i] = (float)(i % 100) / 100.0f - 0.5f;
    const uint8_t *from[] = {(const uint8_t *)in};
    uint8_t *to[] = {(uint8_t *)out};
    int n = swr_convert(swr, to, SAMPLE_RATE + 256, from, SAMPLE_RATE / 2);
    printf("swr_convert %d %llx\n", n,
        (unsigned long long)hash_bytes(1, (const uint8_t *)out, n * (int)sizeof *out));
    AVFrame *f = av_frame_alloc();
    f->format = AV_SAMPLE_FMT_S16;
    f->nb_samples = w->sound->frame_size;
    f->sample_rate = SAMPLE_RATE;
    MUST(av_channel_layout_copy(&f->ch_layout, &w->sound->ch_layout));
    MUST(av_frame_get_buffer(f, 0));
    for (int at = 0; at + f->nb_samples <= n; at += f->nb_samples) {
        MUST(av_frame_make_writable(f));
        memcpy(f->data[0], out + at, (size_t)f->nb_samples * sizeof *out);
        f->pts = at;
        encode(w, w->sound, 1, f);
    }
    encode(w, w->sound, 1, NULL);
    av_frame_free(&f);
    swr_free(&swr);
}

static void write_clip(const char *path)
{
    struct writer w = {.packet = av_packet_alloc()};
    MUST(avformat_alloc_output_context2(&w.format, NULL, "nut", path));
    w.format->flags |= AVFMT_FLAG_BITEXACT;
    w.picture = open_encoder(&w, "mpeg4");
    w.sound = open_encoder(&w, "mp2");
    MUST(avio_open(&w.format->pb, path, AVIO_FLAG_WRITE));
    MUST(avformat_write_header(w.format, NULL));
    AVFrame *f = new_picture(AV_PIX_FMT_YUV420P, WIDTH, HEIGHT);
    for (int at = 0; at < FRAMES; at++) {
        draw(f, at);
        encode(&w, w.picture, 0, f);
    }
    encode(&w, w.picture, 0, NULL);
    encode_sound(&w);
    MUST(av_interleaved_write_frame(w.format, NULL));
    MUST(av_write_trailer(w.format));
    MUST(avio_closep(&w.format->pb));
    printf("wrote %d packets of %lld bytes\n", w.packets, w.bytes);
    av_frame_free(&f);
    av_packet_free(&w.packet);
    avcodec_free_context(&w.picture);
    avcodec_free_context(&w.sound);
    avformat_free_context(w.format);
}

// ---- Reading. ----

struct reader {
    AVFormatContext *format;
    AVCodecContext *codecs[2];
    AVFrame *frame;
    AVFrame *kept; // a picture to scale
    uint64_t hashes[2];
    int frames[2], packets;
    long long bytes;
};

static AVCodecContext *open_decoder(const AVStream *stream, int threads)
{
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    MUST(avcodec_parameters_to_context(c, stream->codecpar));
    c->pkt_timebase = stream->time_base;
    c->thread_count = threads;
    c->flags |= AV_CODEC_FLAG_BITEXACT;
    MUST(avcodec_open2(c, avcodec_find_decoder(c->codec_id), NULL));
    return c;
}

static void decode(struct reader *r, int stream, const AVPacket *packet)
{
    MUST(avcodec_send_packet(r->codecs[stream], packet));
    while (avcodec_receive_frame(r->codecs[stream], r->frame) >= 0) {
        r->frames[stream]++;
        if (r->frame->width)
            r->hashes[stream] = hash_picture(r->hashes[stream], r->frame);
        else
            r->hashes[stream] =
                hash_bytes(r->hashes[stream], r->frame->data[0], r->frame->nb_samples * 2);
        if (r->frame->width && !r->kept)
            r->kept = av_frame_clone(r->frame);
        av_frame_unref(r->frame);
    }
}

// A file that takes its time, so that reading a packet is no short call.
#define BUFFER_BYTES 1024

static int read_slowly(void *file, uint8_t *out, int out_bytes)
{
    nanosleep(&(struct timespec){0, 200000}, NULL);
    size_t n = fread(out, 1, (size_t)out_bytes, file);
    return n ? (int)n : AVERROR_EOF;
}

static int64_t seek_in(void *file, int64_t at, int how)
{
    if (how & AVSEEK_SIZE)
        return -1;
    return fseek(file, (long)at, how & ~AVSEEK_FORCE) == 0 ? ftell(file) : -1;
}

static AVFrame *read_clip(const char *path, int threads)
{
    struct reader r = {.frame = av_frame_alloc(), .format = avformat_alloc_context()};
    AVPacket *packet = av_packet_alloc();
    FILE *file = fopen(path, "rb");
    AVIOContext *io = avio_alloc_context(
        av_malloc(BUFFER_BYTES), BUFFER_BYTES, 0, file, read_slowly, NULL, seek_in);
    if (!file || !io)
        exit(1);
    r.format->pb = io;
    MUST(avformat_open_input(&r.format, "nut", NULL, NULL));
    MUST(avformat_find_stream_info(r.format, NULL));
    for (unsigned i = 0; i < 2; i++)
        r.codecs[i] = open_decoder(r.format->streams[i], threads);
    MUST(avformat_seek_file(r.format, -1, INT64_MIN, 0, INT64_MAX, 0));
    while (av_read_frame(r.format, packet) >= 0) {
        r.packets++;
        r.bytes += packet->size;
        decode(&r, packet->stream_index, packet);
        av_packet_unref(packet);
    }
    for (int i = 0; i < 2; i++) {
        decode(&r, i, NULL);
        avcodec_flush_buffers(r.codecs[i]);
        printf("stream %d: %d frames %llx\n", i, r.frames[i], (unsigned long long)r.hashes[i]);
        avcodec_free_context(&r.codecs[i]);
    }
    printf("read %d packets of %lld bytes\n", r.packets, r.bytes);
    av_packet_free(&packet);
    av_frame_free(&r.frame);
    avformat_close_input(&r.format);
    av_freep(&io->buffer);
    avio_context_free(&io);
    fclose(file);
    return r.kept;
}

// ---- Scaling. ----

static void scale(const AVFrame *in)
{
    AVFrame *out = new_picture(AV_PIX_FMT_BGR24, 160, 120);
    struct SwsContext *c = sws_getContext(WIDTH, HEIGHT, AV_PIX_FMT_YUV420P, 160, 120,
        AV_PIX_FMT_BGR24, SWS_AREA | SWS_BITEXACT | SWS_ACCURATE_RND, NULL, NULL, NULL);
    int rows = sws_scale(
        c, (const uint8_t *const *)in->data, in->linesize, 0, HEIGHT, out->data, out->linesize);
    printf("sws_scale %d %llx\n", rows, (unsigned long long)hash_plane(1, out, 0, 3 * 160, 120));
    c = sws_getCachedContext(c, WIDTH, HEIGHT, AV_PIX_FMT_YUV420P, 160, 120, AV_PIX_FMT_BGR24,
        SWS_POINT, NULL, NULL, NULL);
    rows = sws_scale_frame(c, out, in);
    printf(
        "sws_scale_frame %d %llx\n", rows, (unsigned long long)hash_plane(1, out, 0, 3 * 160, 120));
    sws_freeContext(c);
    av_frame_free(&out);
}

static void filter(const AVFrame *in)
{
    AVFilterGraph *graph = avfilter_graph_alloc();
    AVFilterContext *source, *sink;
    AVFilterInOut *ins = avfilter_inout_alloc(), *outs = avfilter_inout_alloc();
    graph->nb_threads = 1;
    MUST(avfilter_graph_create_filter(&source, avfilter_get_by_name("buffer"), "in",
        "video_size=320x240:pix_fmt=yuv420p:time_base=1/25", NULL, graph));
    MUST(avfilter_graph_create_filter(
        &sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL, graph));
    *outs = (AVFilterInOut){av_strdup("in"), source, 0, NULL};
    *ins = (AVFilterInOut){av_strdup("out"), sink, 0, NULL};
    MUST(avfilter_graph_parse_ptr(
        graph, "scale=80:60:flags=lanczos+bitexact,format=gray", &ins, &outs, NULL));
    MUST(avfilter_graph_config(graph, NULL));
    avfilter_inout_free(&ins);
    avfilter_inout_free(&outs);
    AVFrame *given = av_frame_clone(in), *made = av_frame_alloc();
    given->pts = 50;
    MUST(av_buffersrc_add_frame_flags(source, given, AV_BUFFERSRC_FLAG_KEEP_REF));
    int result = av_buffersink_get_frame(sink, made);
    printf("filtered %d %dx%d %llx\n", result, made->width, made->height,
        (unsigned long long)hash_plane(1, made, 0, made->width, made->height));
    printf("again %d\n", av_buffersink_get_frame(sink, made));
    av_frame_free(&given);
    av_frame_free(&made);
    avfilter_graph_free(&graph);
}

// ---- What fails, fails the same, and leaves errno as it does. ----
static void fail(const AVFrame *picture, const char *path)
{
    AVFormatContext *format = NULL;
    AVIOContext *io = NULL;
    errno = 0;
    int result = avformat_open_input(&format, "/nowhere/clip", NULL, NULL);
    printf("open %d %d\n", result, errno);
    result = avio_open(&io, "/nowhere/clip", AVIO_FLAG_READ);
    printf("avio %d %d\n", result, errno);
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder_by_name("mpeg4"));
    errno = 77;
    result = avcodec_open2(c, avcodec_find_decoder_by_name("mp2"), NULL);
    printf("wrong codec %d %d\n", result, errno);
    result = avcodec_open2(c, NULL, NULL);
    printf("codec %d %d\n", result, errno);
    AVFrame *frame = av_frame_alloc();
    result = avcodec_receive_frame(c, frame);
    printf("no frame %d %d\n", result, errno);
    static uint8_t noise[256 + AV_INPUT_BUFFER_PADDING_SIZE];
    for (int i = 0; i < 256; i++)
        noise[i] = (uint8_t)(i * 37);
    AVPacket *packet = av_packet_alloc();
    packet->data = noise;
    packet->size = 256;
    result = avcodec_send_packet(c, packet);
    printf("noise %d\n", result);
    av_frame_unref(frame);
    MUST(av_frame_ref(frame, picture));
    errno = 78;
    result = av_hwframe_transfer_data(frame, picture, 0); // there is no accelerator's
    printf("transfer %d %d\n", result, errno);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&c);
    avcodec_free_context(&c);
    printf("%s\n", path);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    av_log_set_level(AV_LOG_QUIET);
    write_clip(argv[1]);
    AVFrame *picture = read_clip(argv[1], 1);
    AVFrame *same = read_clip(argv[1], 3);
    scale(picture);
    filter(picture);
    fail(picture, argv[1]);
    av_frame_free(&picture);
    av_frame_free(&same);
    return 0;
}
