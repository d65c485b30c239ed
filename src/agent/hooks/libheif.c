// SPDX-License-Identifier: Apache-2.0
// Hook set libheif: reading and writing HEIC and AVIF with libheif (libheif.so.1, any 1.x). Sizes
// come from the library's own accessors, found in the object that the hooked function is in; no
// struct of libheif is read. The decoder behind it (libde265, dav1d, ...) is part of the call.
// Threads: any.
#include "agent/hook.h"
#include "agent/library.h"

// struct heif_error, returned by value.
struct heif_result {
    int32_t code, subcode;
    const char *message;
};

// ---- The accessors of the library that a function is in. ----

enum { IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_CHROMA, STORED_WIDTH, STORED_HEIGHT, STORED_BITS };
static struct library_table library = {
    .names = {"heif_image_get_width", "heif_image_get_height", "heif_image_get_chroma_format",
        "heif_image_handle_get_ispe_width", "heif_image_handle_get_ispe_height",
        "heif_image_handle_get_luma_bits_per_pixel"}};

typedef int get_plane_px_fn(const void *image, int channel);
typedef int get_number_fn(const void *object);

// enum heif_channel: what the first plane of a picture may be.
enum channel { CHANNEL_LUMA = 0, CHANNEL_RED = 3, CHANNEL_INTERLEAVED = 10 };

// By enum heif_chroma; 0: not known. An alpha plane apart from the others is not counted.
static uint32_t channels_of(int chroma)
{
    static const uint8_t channels[] = {1, 3, 3, 3, 0, 0, 0, 0, 0, 0, 3, 4, 3, 4, 3, 4};
    return (unsigned)chroma < sizeof channels ? channels[chroma] : 0;
}

struct picture {
    int width, height, chroma; // width 0: not known
};

static struct picture picture_of(void *const *at, const void *image)
{
    static const int channels[] = {CHANNEL_INTERLEAVED, CHANNEL_LUMA, CHANNEL_RED};
    if (!at || !at[IMAGE_HEIGHT] || !at[IMAGE_CHROMA] || !image)
        return (struct picture){0, 0, 0};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        struct picture p = {((get_plane_px_fn *)at[IMAGE_WIDTH])(image, channels[i]),
            ((get_plane_px_fn *)at[IMAGE_HEIGHT])(image, channels[i]),
            ((get_number_fn *)at[IMAGE_CHROMA])(image)};
        if (p.width > 0 && p.height > 0)
            return p;
    }
    return (struct picture){0, 0, 0};
}

// ---- Attributes. ----

static void note_image(const struct hook_span *s, void *function, const void *image)
{
    struct picture p = {0, 0, 0};
    if (s->token)
        p = picture_of(library_functions(&library, (uintptr_t)function), image);
    if (p.width)
        span_shape(s->token, (uint32_t)p.width, (uint32_t)p.height, channels_of(p.chroma), 0);
}

// What was stored: its size before rotation and cropping, and its depth.
static void note_stored(
    const struct hook_span *s, void *const *at, const void *handle, const struct picture *made)
{
    int width = at[STORED_WIDTH] ? ((get_number_fn *)at[STORED_WIDTH])(handle) : 0;
    int height = at[STORED_HEIGHT] ? ((get_number_fn *)at[STORED_HEIGHT])(handle) : 0;
    int bits = at[STORED_BITS] ? ((get_number_fn *)at[STORED_BITS])(handle) : 0;
    if (width > 0 && height > 0)
        span_source(s->token, (uint32_t)width, (uint32_t)height);
    if (bits <= 0)
        return;
    enum trace_dtype stored = bits > 8 ? TRACE_DTYPE_U16 : TRACE_DTYPE_U8;
    enum trace_dtype given = made->chroma >= 12   ? TRACE_DTYPE_U16
                             : made->chroma >= 10 ? TRACE_DTYPE_U8
                                                  : stored;
    span_value_aux(s->token, TRACE_ATTR_DTYPE, given, (uint32_t)stored);
}

static void note_decoded(const struct hook_span *s, void *function, const struct heif_result *r,
    const void *handle, void *const *image)
{
    if (!s->token || r->code != 0 || !image)
        return;
    void *const *at = library_functions(&library, (uintptr_t)function);
    struct picture p = picture_of(at, *image);
    if (!p.width)
        return;
    note_image(s, function, *image);
    note_stored(s, at, handle, &p);
}

static void note_scaled(const struct hook_span *s, void *function, const struct heif_result *r,
    const void *in, void *const *image)
{
    struct picture p = {0, 0, 0};
    if (!s->token || r->code != 0 || !image)
        return;
    note_image(s, function, *image);
    p = picture_of(library_functions(&library, (uintptr_t)function), in);
    if (p.width)
        span_source(s->token, (uint32_t)p.width, (uint32_t)p.height);
}

#define HEIF_CALL(id, stage, flags, before, after, params, args)                                   \
    HOOK_NOTED(struct heif_result, id, stage, (flags) | AGENT_GROUP_LIBHEIF, before, after,        \
        PARAMS(params), ARGS(args))
#define PLAIN(id, stage, flags, params, args)                                                      \
    HEIF_CALL(id, stage, flags, HOOK_NOTHING, HOOK_NOTHING, PARAMS(params), ARGS(args))

// ---- Reading. The first four read the file's boxes, not its pixels. ----
PLAIN(heif_context_read_from_file, "decode", AGENT_FOLD_SHORT,
    PARAMS(void *context, const char *path, const void *options), ARGS(context, path, options))
HEIF_CALL(heif_context_read_from_memory, "decode", AGENT_FOLD_SHORT, span_bytes(span.token, n),
    HOOK_NOTHING, PARAMS(void *context, const void *memory, size_t n, const void *options),
    ARGS(context, memory, n, options))
HEIF_CALL(heif_context_read_from_memory_without_copy, "decode", AGENT_FOLD_SHORT,
    span_bytes(span.token, n), HOOK_NOTHING,
    PARAMS(void *context, const void *memory, size_t n, const void *options),
    ARGS(context, memory, n, options))
PLAIN(heif_context_read_from_reader, "decode", AGENT_FOLD_SHORT,
    PARAMS(void *context, const void *reader, void *user, const void *options),
    ARGS(context, reader, user, options))
HEIF_CALL(heif_decode_image, "decode", 0, HOOK_NOTHING,
    note_decoded(&span, (void *)real, &done, handle, image),
    PARAMS(const void *handle, void **image, int space, int chroma, const void *options),
    ARGS(handle, image, space, chroma, options))
HEIF_CALL(heif_image_scale_image, "preprocess", 0, HOOK_NOTHING,
    note_scaled(&span, (void *)real, &done, in, image),
    PARAMS(const void *in, void **image, int width, int height, const void *options),
    ARGS(in, image, width, height, options))

// ---- Writing. ----
HEIF_CALL(heif_context_encode_image, "encode", 0, note_image(&span, (void *)real, image),
    HOOK_NOTHING,
    PARAMS(void *context, const void *image, void *encoder, const void *options, void **made),
    ARGS(context, image, encoder, options, made))
HEIF_CALL(heif_context_encode_thumbnail, "encode", 0, note_image(&span, (void *)real, image),
    HOOK_NOTHING,
    PARAMS(void *context, const void *image, const void *master, void *encoder, const void *options,
        int box_px, void **made),
    ARGS(context, image, master, encoder, options, box_px, made))
PLAIN(heif_context_write_to_file, "encode", AGENT_FOLD_SHORT,
    PARAMS(void *context, const char *path), ARGS(context, path))
PLAIN(heif_context_write, "encode", AGENT_FOLD_SHORT,
    PARAMS(void *context, void *writer, void *user), ARGS(context, writer, user))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    LINE(heif_context_read_from_file, 0),
    LINE(heif_context_read_from_memory, HOOK_BYTES),
    LINE(heif_context_read_from_memory_without_copy, HOOK_BYTES),
    LINE(heif_context_read_from_reader, 0),
    LINE(heif_decode_image, HOOK_SHAPE | HOOK_SOURCE | HOOK_ATTR(DTYPE)),
    LINE(heif_image_scale_image, HOOK_SHAPE | HOOK_SOURCE),
    LINE(heif_context_encode_image, HOOK_SHAPE),
    LINE(heif_context_encode_thumbnail, HOOK_SHAPE),
    LINE(heif_context_write_to_file, 0),
    LINE(heif_context_write, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libheif.so", NULL};

const struct hook_set hook_libheif = {
    .name = "libheif",
    .help = "HEIC and AVIF decoding and encoding with libheif",
    .libraries = libraries,
    .functions = functions,
};
