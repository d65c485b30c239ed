// SPDX-License-Identifier: Apache-2.0
// Test host: encodes a picture as JPEG 2000 with OpenJPEG, whole and by tiles, and decodes it
// whole, at half its size, a tile and by tiles; prints sums of the pixels and results. usage:
// hooks_openjpeg FOLDER. Run by test_hooks_openjpeg.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openjpeg.h>

#define WIDTH 200u
#define HEIGHT 120u
#define TILE 100u
#define CHANNELS 3u
#define THREADS 2

static char path[4096];
static uint8_t out[WIDTH * HEIGHT * CHANNELS * 4];

static OPJ_INT32 pixel(unsigned x, unsigned y, unsigned channel)
{
    return (OPJ_INT32)((x + y * (channel + 1) + (x * x >> 5)) & 255);
}

static unsigned long sum_of(const opj_image_t *image)
{
    unsigned long sum = 0;
    for (unsigned c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *comp = &image->comps[c];
        for (unsigned i = 0; comp->data && i < comp->w * comp->h; i++)
            sum = sum * 31 + (unsigned long)comp->data[i];
    }
    return sum;
}

static opj_image_t *image_new(void)
{
    opj_image_cmptparm_t parts[CHANNELS];
    memset(parts, 0, sizeof parts);
    for (unsigned c = 0; c < CHANNELS; c++) {
        parts[c].dx = parts[c].dy = 1;
        parts[c].w = WIDTH;
        parts[c].h = HEIGHT;
        parts[c].prec = 8;
    }
    opj_image_t *image = opj_image_create(CHANNELS, parts, OPJ_CLRSPC_SRGB);
    image->x1 = WIDTH;
    image->y1 = HEIGHT;
    for (unsigned i = 0; i < CHANNELS * HEIGHT * WIDTH; i++) {
        unsigned c = i / (HEIGHT * WIDTH), at = i % (HEIGHT * WIDTH);
        image->comps[c].data[at] = pixel(at % WIDTH, at / WIDTH, c);
    }
    return image;
}

static opj_codec_t *compressor(opj_image_t *image)
{
    opj_cparameters_t parameters;
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_JP2);
    opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_numlayers = 1;
    parameters.cp_disto_alloc = 1;
    parameters.numresolution = 3;
    parameters.tile_size_on = OPJ_TRUE;
    parameters.cp_tdx = parameters.cp_tdy = (int)TILE;
    opj_setup_encoder(codec, &parameters, image);
    printf("threads %d\n", opj_codec_set_threads(codec, THREADS));
    return codec;
}

static void encode(int is_by_tile)
{
    opj_image_t *image = image_new();
    opj_codec_t *codec = compressor(image);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_FALSE);
    int started = opj_start_compress(codec, image, stream), done = 1;
    static uint8_t tile[TILE * TILE * CHANNELS];
    if (!is_by_tile)
        done = opj_encode(codec, stream);
    for (unsigned i = 0; is_by_tile && i < 4; i++) {
        unsigned n = TILE * (i / 2 ? HEIGHT - TILE : TILE) * CHANNELS;
        memset(tile, (int)(i * 50), n);
        done &= opj_write_tile(codec, i, tile, n, stream);
    }
    printf("encode %d %d %d\n", started, done, opj_end_compress(codec, stream));
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
}

static opj_codec_t *decompressor(unsigned reduce)
{
    opj_dparameters_t parameters;
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_JP2);
    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = reduce;
    opj_setup_decoder(codec, &parameters);
    return codec;
}

// Whole and smaller by 2^reduce; or one tile only.
static void decode(unsigned reduce, int tile)
{
    opj_image_t *image = NULL;
    opj_codec_t *codec = decompressor(reduce);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_TRUE);
    int threads = reduce ? opj_codec_set_threads(codec, THREADS) : 0;
    int header = opj_read_header(stream, codec, &image);
    int done = tile < 0 ? opj_decode(codec, stream, image)
                        : opj_get_decoded_tile(codec, stream, image, (unsigned)tile);
    printf("decode %d %d %d %d, ", threads, header, done, opj_end_decompress(codec, stream));
    printf("%u x %u, %lu\n", image->comps[0].w, image->comps[0].h, sum_of(image));
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
}

static void decode_tiles(void)
{
    opj_image_t *image = NULL;
    opj_codec_t *codec = decompressor(0);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_TRUE);
    unsigned tile = 0, n = 0, channels = 0;
    int x0, y0, x1, y1, is_there = 0;
    unsigned long sum = 0;
    opj_read_header(stream, codec, &image);
    while (
        opj_read_tile_header(codec, stream, &tile, &n, &x0, &y0, &x1, &y1, &channels, &is_there) &&
        is_there && n <= sizeof out) {
        int done = opj_decode_tile_data(codec, tile, out, n, stream);
        for (unsigned i = 0; i < n; i++)
            sum = sum * 31 + out[i];
        printf("tile %u %d, %d %d %d %d, %u bytes\n", tile, done, x0, y0, x1, y1, n);
    }
    printf("tiles %lu\n", sum);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
}

// A file that ends in its header.
static void decode_damaged(void)
{
    opj_image_t *image = NULL;
    opj_codec_t *codec = decompressor(0);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite("\0\0\0\fjP  ", 1, 8, file) != 8 || fclose(file) != 0)
        exit(1);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_TRUE);
    printf("damaged %d %d\n", opj_read_header(stream, codec, &image), image != NULL);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/picture.jp2", argv[1]);
    encode(0);
    decode(0, -1);
    decode(1, -1);
    decode(0, 2);
    decode_tiles();
    encode(1);
    decode(0, -1);
    decode_damaged();
    return 0;
}
