// SPDX-License-Identifier: Apache-2.0
// Hook set libtiff: reading and writing TIFF with libtiff 4 (libtiff.so.5 and .6; in 3.x calls are
// timed, and have the attributes that arguments tell). Rows are folded, strips and tiles where they
// are short. A picture's shape comes from the library's own TIFFGetField, asked for fields that
// every directory has room for: it reads no file and reports no error then. What a strip or tile
// takes in the file comes from TIFFGetStrileByteCount (4.1), after the call that has just used it.
// No struct of libtiff is read. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"
#include "agent/library.h"

#include <fcntl.h>

// ---- The accessors of the library that a function is in. ----

enum { GET_FIELD, GET_MODE, GET_STRILE_BYTES, COMPUTE_TILE };
static struct library_table library = {
    .names = {"TIFFGetField", "TIFFGetMode", "TIFFGetStrileByteCount", "TIFFComputeTile"}};

typedef int get_field_fn(void *tiff, uint32_t tag, ...);
typedef int get_mode_fn(void *tiff);
typedef uint64_t get_strile_bytes_fn(void *tiff, uint32_t strile);
typedef uint32_t compute_tile_fn(void *tiff, uint32_t x, uint32_t y, uint32_t z, uint16_t sample);

enum tag {
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_SAMPLES = 277,
    TAG_SAMPLE_FORMAT = 339,
};

// ---- Attributes. ----

// By bits of a sample and its format: 1 unsigned, 2 signed, 3 floating point.
static enum trace_dtype dtype_of(unsigned bits, unsigned format)
{
    if (format == 3)
        return bits == 16   ? TRACE_DTYPE_F16
               : bits == 32 ? TRACE_DTYPE_F32
               : bits == 64 ? TRACE_DTYPE_F64
                            : TRACE_DTYPE_UNKNOWN;
    if (format == 2)
        return bits == 8    ? TRACE_DTYPE_I8
               : bits == 16 ? TRACE_DTYPE_I16
               : bits == 32 ? TRACE_DTYPE_I32
                            : TRACE_DTYPE_UNKNOWN;
    return bits == 8 ? TRACE_DTYPE_U8 : bits == 16 ? TRACE_DTYPE_U16 : TRACE_DTYPE_UNKNOWN;
}

struct picture {
    uint32_t width, height; // width 0: not known
    uint16_t samples, bits, format;
};

// The picture of the directory that `tiff` is at, as stored.
static struct picture picture_of(void *function, void *tiff)
{
    struct picture p = {.samples = 1, .bits = 1, .format = 1}; // as when the file does not say
    void *const *at = tiff ? library_functions(&library, (uintptr_t)function) : NULL;
    get_field_fn *get = at ? (get_field_fn *)at[GET_FIELD] : NULL;
    if (!get || !get(tiff, TAG_WIDTH, &p.width) || !get(tiff, TAG_HEIGHT, &p.height))
        return (struct picture){0, 0, 0, 0, 0};
    get(tiff, TAG_SAMPLES, &p.samples);
    get(tiff, TAG_BITS, &p.bits);
    get(tiff, TAG_SAMPLE_FORMAT, &p.format);
    return p;
}

static void show_picture(const struct hook_span *s, const struct picture *p)
{
    if (!p->width || !p->height)
        return;
    enum trace_dtype dtype = dtype_of(p->bits, p->format);
    span_shape(s->token, p->width, p->height, p->samples, 0);
    if (dtype != TRACE_DTYPE_UNKNOWN)
        span_value_aux(s->token, TRACE_ATTR_DTYPE, dtype, (uint32_t)dtype);
}

static void note_picture(const struct hook_span *s, void *function, void *tiff)
{
    if (!s->token)
        return;
    struct picture p = picture_of(function, tiff);
    show_picture(s, &p);
}

// A raster of 8-bit RGBA that the library makes of the picture.
static void note_raster(
    const struct hook_span *s, void *function, void *tiff, uint32_t width, uint32_t height)
{
    struct picture p = {0, 0, 0, 0, 0};
    if (!s->token || !width || !height)
        return;
    span_shape(s->token, width, height, 4, 0);
    if (tiff)
        p = picture_of(function, tiff);
    if (p.width && p.height) {
        span_source(s->token, p.width, p.height);
        span_value_aux(
            s->token, TRACE_ATTR_DTYPE, TRACE_DTYPE_U8, (uint32_t)dtype_of(p.bits, p.format));
    }
}

// What a strip or tile takes in the file; `done` is not negative when the call went well.
static void note_strile(
    const struct hook_span *s, void *function, void *tiff, uint32_t strile, uintptr_t done)
{
    void *const *at =
        s->token && (intptr_t)done > 0 ? library_functions(&library, (uintptr_t)function) : NULL;
    get_strile_bytes_fn *get = at ? (get_strile_bytes_fn *)at[GET_STRILE_BYTES] : NULL;
    if (get)
        span_bytes(s->token, get(tiff, strile));
}

struct place {
    uint32_t x, y, z;
    uint16_t sample;
};

static void note_tile(
    const struct hook_span *s, void *function, void *tiff, struct place p, uintptr_t done)
{
    void *const *at =
        s->token && (intptr_t)done > 0 ? library_functions(&library, (uintptr_t)function) : NULL;
    compute_tile_fn *compute = at ? (compute_tile_fn *)at[COMPUTE_TILE] : NULL;
    if (compute)
        note_strile(s, function, tiff, compute(tiff, p.x, p.y, p.z, p.sample), done);
}

// Raw bytes that were read or written; in 3.x the result is an int.
static void note_raw(const struct hook_span *s, void *function, uintptr_t done)
{
    void *const *at = s->token ? library_functions(&library, (uintptr_t)function) : NULL;
    if (at && at[GET_STRILE_BYTES] && (intptr_t)done > 0)
        span_bytes(s->token, done);
}

// ---- The time of a picture that is read by rows, strips or tiles: of one directory, from the call
// that went to it to its last pixels. It is known when the program leaves it. What the library
// calls of itself, which has no token, is part of the outer call.

static void begin_directory(const struct hook_span *s, const void *tiff)
{
    if (s->token)
        picture_restart(s, tiff);
}

// Pixels were made by a call with the result `done`.
static void note_pixels(const struct hook_span *s, const void *tiff, int is_done)
{
    if (s->token && is_done)
        picture_pixels(s, tiff);
}

static void leave_directory(const struct hook_span *s, const void *tiff)
{
    if (s->token)
        picture_end(s, tiff, picture_has_pixels(tiff));
}

// A whole picture in one call, which is its time then.
static void leave_to_raster(const struct hook_span *s, const void *tiff)
{
    if (s->token)
        picture_forget(tiff);
}

// ---- Calls that read or write by how the file was opened: decode or encode. ----

static int is_written_by(const char *mode)
{
    return mode && (mode[0] == 'w' || mode[0] == 'a');
}

static int is_written(void *function, void *tiff)
{
    void *const *at = tiff ? library_functions(&library, (uintptr_t)function) : NULL;
    get_mode_fn *mode = at ? (get_mode_fn *)at[GET_MODE] : NULL;
    return mode && (mode(tiff) & O_ACCMODE) != O_RDONLY;
}

// `flags` are those of a read; a write is always recorded by itself.
#define TIFF_EITHER(id, flags, is_encode, before, after, params, args)                             \
    HOOK_TYPE(uintptr_t, id, PARAMS(params))                                                       \
    static struct hook_name id##_names[2] = {                                                      \
        {#id, "decode", TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_LIBTIFF, 0},                      \
        {#id, "encode", TRACE_CAUSE_OTHER, AGENT_GROUP_LIBTIFF, 0}};                               \
    static inline uintptr_t id##_body(id##_fn *real, params)                                       \
    {                                                                                              \
        __attribute__((cleanup(hook_end), unused)) struct hook_span span =                         \
            hook_begin_outer(&id##_names[is_encode], SPAN_STACK);                                  \
        before;                                                                                    \
        uintptr_t done = real(args);                                                               \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(params), ARGS(args))

// The shape of the first picture there is to read; one that is written has none yet.
static void note_opened(const struct hook_span *s, void *function, void *tiff, int is_encode)
{
    note_picture(s, function, tiff);
    if (!is_encode)
        begin_directory(s, tiff);
}

#define TIFF_OPEN(id, params, args)                                                                \
    TIFF_EITHER(id, 0, is_written_by(mode), HOOK_NOTHING,                                          \
        note_opened(&span, (void *)real, (void *)done, is_written_by(mode)), PARAMS(params),       \
        ARGS(args))
TIFF_OPEN(TIFFOpen, PARAMS(const char *path, const char *mode), ARGS(path, mode))
TIFF_OPEN(TIFFOpenExt, PARAMS(const char *path, const char *mode, void *options),
    ARGS(path, mode, options))
TIFF_OPEN(TIFFFdOpen, PARAMS(int fd, const char *path, const char *mode), ARGS(fd, path, mode))
TIFF_OPEN(TIFFFdOpenExt, PARAMS(int fd, const char *path, const char *mode, void *options),
    ARGS(fd, path, mode, options))
TIFF_OPEN(TIFFClientOpen,
    PARAMS(const char *name, const char *mode, void *client, void *read, void *write, void *seek,
        void *close, void *size, void *map, void *unmap),
    ARGS(name, mode, client, read, write, seek, close, size, map, unmap))
TIFF_OPEN(TIFFClientOpenExt,
    PARAMS(const char *name, const char *mode, void *client, void *read, void *write, void *seek,
        void *close, void *size, void *map, void *unmap, void *options),
    ARGS(name, mode, client, read, write, seek, close, size, map, unmap, options))

// Writes what is left, the directory too, so the shape is that of a picture that had no
// TIFFWriteDirectory of its own.
static void note_closed(const struct hook_span *s, void *function, void *tiff)
{
    if (!is_written(function, tiff)) {
        leave_directory(s, tiff);
        return;
    }
    note_picture(s, function, tiff);
    picture_forget(tiff);
}

TIFF_EITHER(TIFFClose, AGENT_FOLD_SHORT, is_written((void *)real, tiff),
    note_closed(&span, (void *)real, tiff), HOOK_NOTHING, PARAMS(void *tiff), ARGS(tiff))

#define TIFF_CALL(id, stage, flags, before, after, params, args)                                   \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBTIFF, before, after, PARAMS(params), \
        ARGS(args))
#define PICTURE note_picture(&span, (void *)real, tiff)
#define STRILE(strile) note_strile(&span, (void *)real, tiff, strile, done)
#define TILE note_tile(&span, (void *)real, tiff, (struct place){x, y, z, sample}, done)
#define PIXELS(is_done) note_pixels(&span, tiff, is_done)
#define RAW note_raw(&span, (void *)real, done)

// ---- Reading. ----
#define DIRECTORY(id, params, args)                                                                \
    TIFF_CALL(                                                                                     \
        id, "decode", AGENT_FOLD_SHORT, leave_directory(&span, tiff),                              \
        if ((int)done) {                                                                           \
            PICTURE;                                                                               \
            begin_directory(&span, tiff);                                                          \
        },                                                                                         \
        PARAMS(params), ARGS(args))
DIRECTORY(TIFFReadDirectory, PARAMS(void *tiff), ARGS(tiff))
// The number was 16 bits wide up to 4.4.
DIRECTORY(TIFFSetDirectory, PARAMS(void *tiff, uint32_t index), ARGS(tiff, index))
DIRECTORY(TIFFSetSubDirectory, PARAMS(void *tiff, uint64_t offset), ARGS(tiff, offset))
TIFF_CALL(TIFFReadScanline, "decode", AGENT_FOLD, HOOK_NOTHING, PIXELS((int)done > 0),
    PARAMS(void *tiff, void *out, uint32_t row, uint16_t sample), ARGS(tiff, out, row, sample))
#define READ_STRILE(id, after)                                                                     \
    TIFF_CALL(id, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, after,                                 \
        PARAMS(void *tiff, uint32_t strile, void *out, intptr_t n), ARGS(tiff, strile, out, n))
#define READ_PIXELS(note)                                                                          \
    {                                                                                              \
        note;                                                                                      \
        PIXELS((intptr_t)done > 0);                                                                \
    }
READ_STRILE(TIFFReadEncodedStrip, READ_PIXELS(STRILE(strile)))
READ_STRILE(TIFFReadEncodedTile, READ_PIXELS(STRILE(strile)))
READ_STRILE(TIFFReadRawStrip, RAW)
READ_STRILE(TIFFReadRawTile, RAW)
TIFF_CALL(TIFFReadTile, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, READ_PIXELS(TILE),
    PARAMS(void *tiff, void *out, uint32_t x, uint32_t y, uint32_t z, uint16_t sample),
    ARGS(tiff, out, x, y, z, sample))
TIFF_CALL(TIFFReadFromUserBuffer, "decode", AGENT_FOLD_SHORT, span_bytes(span.token, (uint64_t)n),
    PIXELS((int)done > 0),
    PARAMS(void *tiff, uint32_t strile, void *in, intptr_t n, void *out, intptr_t out_n),
    ARGS(tiff, strile, in, n, out, out_n))

// As 8-bit RGBA, whatever the picture is.
#define RASTER(id, tiff, params, args)                                                             \
    TIFF_CALL(id, "decode", 0, note_raster(&span, (void *)real, tiff, width, height),              \
        leave_to_raster(&span, tiff), PARAMS(params), ARGS(args))
RASTER(TIFFReadRGBAImage, tiff,
    PARAMS(void *tiff, uint32_t width, uint32_t height, void *out, int stop),
    ARGS(tiff, width, height, out, stop))
RASTER(TIFFReadRGBAImageOriented, tiff,
    PARAMS(void *tiff, uint32_t width, uint32_t height, void *out, int orientation, int stop),
    ARGS(tiff, width, height, out, orientation, stop))
RASTER(TIFFRGBAImageGet, NULL, PARAMS(void *image, void *out, uint32_t width, uint32_t height),
    ARGS(image, out, width, height))
TIFF_CALL(TIFFRGBAImageBegin, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, HOOK_NOTHING,
    PARAMS(void *image, void *tiff, int stop, char *message), ARGS(image, tiff, stop, message))
TIFF_CALL(TIFFReadRGBAStrip, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, PIXELS((int)done > 0),
    PARAMS(void *tiff, uint32_t row, void *out), ARGS(tiff, row, out))
TIFF_CALL(TIFFReadRGBAStripExt, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, PIXELS((int)done > 0),
    PARAMS(void *tiff, uint32_t row, void *out, int stop), ARGS(tiff, row, out, stop))
TIFF_CALL(TIFFReadRGBATile, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, PIXELS((int)done > 0),
    PARAMS(void *tiff, uint32_t x, uint32_t y, void *out), ARGS(tiff, x, y, out))
TIFF_CALL(TIFFReadRGBATileExt, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, PIXELS((int)done > 0),
    PARAMS(void *tiff, uint32_t x, uint32_t y, void *out, int stop), ARGS(tiff, x, y, out, stop))

// ---- Writing. ----
TIFF_CALL(TIFFWriteScanline, "encode", AGENT_FOLD, HOOK_NOTHING, HOOK_NOTHING,
    PARAMS(void *tiff, void *in, uint32_t row, uint16_t sample), ARGS(tiff, in, row, sample))
#define WRITE_STRILE(id, after)                                                                    \
    TIFF_CALL(id, "encode", AGENT_FOLD_SHORT, HOOK_NOTHING, after,                                 \
        PARAMS(void *tiff, uint32_t strile, void *in, intptr_t n), ARGS(tiff, strile, in, n))
WRITE_STRILE(TIFFWriteEncodedStrip, STRILE(strile))
WRITE_STRILE(TIFFWriteEncodedTile, STRILE(strile))
WRITE_STRILE(TIFFWriteRawStrip, RAW)
WRITE_STRILE(TIFFWriteRawTile, RAW)
TIFF_CALL(TIFFWriteTile, "encode", AGENT_FOLD_SHORT, HOOK_NOTHING, TILE,
    PARAMS(void *tiff, void *in, uint32_t x, uint32_t y, uint32_t z, uint16_t sample),
    ARGS(tiff, in, x, y, z, sample))
TIFF_CALL(TIFFWriteDirectory, "encode", 0, PICTURE, HOOK_NOTHING, PARAMS(void *tiff), ARGS(tiff))
#define FLUSH(id)                                                                                  \
    TIFF_CALL(id, "encode", AGENT_FOLD_SHORT, HOOK_NOTHING, HOOK_NOTHING, PARAMS(void *tiff),      \
        ARGS(tiff))
FLUSH(TIFFCheckpointDirectory)
FLUSH(TIFFFlushData)
// A picture whose directory these write is a finished one: the fields are gone then.
#define FLUSH_DIRECTORY(id)                                                                        \
    TIFF_CALL(id, "encode", 0, const struct picture before = picture_of((void *)real, tiff),       \
        if (before.width && !picture_of((void *)real, tiff).width) show_picture(&span, &before),   \
        PARAMS(void *tiff), ARGS(tiff))
FLUSH_DIRECTORY(TIFFRewriteDirectory)
FLUSH_DIRECTORY(TIFFFlush)

#define EITHER(id, attrs)                                                                          \
    {                                                                                              \
#id, id##_thunks, (void **)id##_real, id##_names, 2, HOOK_SHAPE | HOOK_ATTR(DTYPE) | attrs \
    }
#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    EITHER(TIFFOpen, 0),
    EITHER(TIFFOpenExt, 0),
    EITHER(TIFFFdOpen, 0),
    EITHER(TIFFFdOpenExt, 0),
    EITHER(TIFFClientOpen, 0),
    EITHER(TIFFClientOpenExt, 0),
    EITHER(TIFFClose, HOOK_ATTR(ELAPSED)),
    LINE(TIFFReadDirectory, HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(ELAPSED)),
    LINE(TIFFSetDirectory, HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(ELAPSED)),
    LINE(TIFFSetSubDirectory, HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(ELAPSED)),
    LINE(TIFFReadScanline, 0),
    LINE(TIFFReadEncodedStrip, HOOK_BYTES),
    LINE(TIFFReadEncodedTile, HOOK_BYTES),
    LINE(TIFFReadRawStrip, HOOK_BYTES),
    LINE(TIFFReadRawTile, HOOK_BYTES),
    LINE(TIFFReadTile, HOOK_BYTES),
    LINE(TIFFReadFromUserBuffer, HOOK_BYTES),
    LINE(TIFFReadRGBAImage, HOOK_SHAPE | HOOK_SOURCE | HOOK_ATTR(DTYPE)),
    LINE(TIFFReadRGBAImageOriented, HOOK_SHAPE | HOOK_SOURCE | HOOK_ATTR(DTYPE)),
    LINE(TIFFRGBAImageGet, HOOK_SHAPE),
    LINE(TIFFRGBAImageBegin, 0),
    LINE(TIFFReadRGBAStrip, 0),
    LINE(TIFFReadRGBAStripExt, 0),
    LINE(TIFFReadRGBATile, 0),
    LINE(TIFFReadRGBATileExt, 0),
    LINE(TIFFWriteScanline, 0),
    LINE(TIFFWriteEncodedStrip, HOOK_BYTES),
    LINE(TIFFWriteEncodedTile, HOOK_BYTES),
    LINE(TIFFWriteRawStrip, HOOK_BYTES),
    LINE(TIFFWriteRawTile, HOOK_BYTES),
    LINE(TIFFWriteTile, HOOK_BYTES),
    LINE(TIFFWriteDirectory, HOOK_SHAPE | HOOK_ATTR(DTYPE)),
    LINE(TIFFCheckpointDirectory, 0),
    LINE(TIFFRewriteDirectory, HOOK_SHAPE | HOOK_ATTR(DTYPE)),
    LINE(TIFFFlush, HOOK_SHAPE | HOOK_ATTR(DTYPE)),
    LINE(TIFFFlushData, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libtiff.so", NULL};

const struct hook_set hook_libtiff = {
    .name = "libtiff",
    .help = "TIFF decoding and encoding with libtiff",
    .libraries = libraries,
    .functions = functions,
};
