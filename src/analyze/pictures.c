// SPDX-License-Identifier: Apache-2.0
// See pictures.h. Threads: no state.
#include "analyze/pictures.h"

#include <string.h>

#define PREFIX_CHARS 3 // of a library's own names: png, opj, TIF

static int starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// Part of making an image, or about it, but not the making of one. Of libtiff's calls only those
// that make a whole raster are.
static int is_image_part(const char *name)
{
    static const char *const parts[] = {"eader", "scanline", "_row", "create", "destroy", "abort",
        "imcount", "set_", "read_info", "read_update", "read_raw", "skip_", "_src", "consume_input",
        "_output", "avcodec_send", "avcodec_open", "avcodec_close", "avcodec_free", "avcodec_flush",
        "spng_decoded_image_size", "spng_get", "spng_decode_chunks", "begin_read", "WebPGet",
        "subtitle", "(sound)", "(no frame)", "heif_context_read", "avifDecoderParse",
        "avifDecoderSetIO", "JxlDecoderSetInput", "JxlDecoderFlush", "opj_read_tile", "opj_end_",
        "PingImage", "PingBlob", "VideoCapture::grab"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return 1;
    return starts_with(name, "TIFF") && (!strstr(name, "RGBAImage") || strstr(name, "Begin"));
}

// Begins an image of many calls.
static int is_image_start(const char *name)
{
    return strstr(name, "start_decompress") ||
           strcmp(name, "spng_decode_image (progressive)") == 0 ||
           (starts_with(name, "TIFF") && strstr(name, "Open"));
}

// The call that ends an image of many calls; others of its name do not.
static int is_image_end(const char *name)
{
    static const char *const ends[] = {"png_read_end", "spng_decode_row", "spng_decode_scanline",
        "TIFFReadDirectory", "TIFFSetDirectory", "TIFFSetSubDirectory", "TIFFClose", "WebPIAppend",
        "WebPIUpdate", "JxlDecoderProcessInput"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i]) == 0)
            return 1;
    return 0;
}

// What a call of stage `decode` is to images.
static unsigned decode_flags(const char *name)
{
    if (is_image_end(name))
        return NAME_IMAGE_END;
    if (is_image_start(name))
        return NAME_IMAGE_START;
    return is_image_part(name) ? NAME_IMAGE_PART : NAME_IMAGE;
}

// Writers that tell the shape before the rest of the picture does once more.
static unsigned encode_flags(const char *name)
{
    const int is_part =
        strcmp(name, "png_write_info") == 0 || strcmp(name, "opj_start_compress") == 0;
    return is_part ? NAME_IMAGE_PART : NAME_IMAGE_MADE;
}

unsigned pictures_flags(const char *stage, const char *name)
{
    if (strcmp(stage, "decode") == 0)
        return decode_flags(name);
    return strcmp(stage, "encode") == 0 ? encode_flags(name) : 0;
}

// The pixels are those that `call` tells; earlier calls of the same picture add nothing.
static uint64_t cover(struct pictures *p, const struct pictures_call *call, uint64_t pixels)
{
    *p = (struct pictures){.seen_count = 1, .seen = {*call}};
    return pixels;
}

// The end of one of many calls. What it tells may be the shape of the next one, where that was
// asked for.
static uint64_t take_end(struct pictures *p, const struct pictures_call *call, uint64_t pixels)
{
    if (pixels && !p->is_wanted)
        return cover(p, call, pixels);
    *p = (struct pictures){.is_wanted = 1};
    return pixels;
}

static uint64_t take_start(struct pictures *p, uint64_t pixels)
{
    const int is_counted = p->seen_count > 0;
    *p = (struct pictures){0};
    return is_counted ? 0 : pixels;
}

// Whether the picture was counted already: by a call of the same library, and this one did not
// come up since, as each does once for a picture.
static int is_covered(const struct pictures *p, const struct pictures_call *call)
{
    if (!p->seen_count || strncmp(p->seen[0].name, call->name, PREFIX_CHARS) != 0)
        return 0;
    for (unsigned i = 0; i < p->seen_count; i++)
        if (strcmp(p->seen[i].name, call->name) == 0 && p->seen[i].has_elapsed == call->has_elapsed)
            return 0;
    return 1;
}

uint64_t pictures_pixels(struct pictures *p, const struct pictures_call *call, uint64_t pixels)
{
    if (call->flags & NAME_IMAGE_END && call->has_elapsed)
        return take_end(p, call, pixels);
    if (call->flags & NAME_IMAGE_START)
        return take_start(p, pixels);
    if (!pixels)
        return 0;
    if (!(call->flags & (NAME_IMAGE_PART | NAME_IMAGE_END)) || !is_covered(p, call))
        return cover(p, call, pixels);
    if (p->seen_count < PICTURES_SEEN)
        p->seen[p->seen_count++] = *call;
    return 0;
}
