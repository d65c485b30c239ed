// SPDX-License-Identifier: Apache-2.0
// Hook set libpng: reading and writing PNG with libpng 1.6, both its usual calls and the simplified
// ones (png_image_...). A row at a time is folded. Shapes come from the library's own accessors,
// found in the object that the hooked function is in; no struct of libpng is read. Calls that have
// no info struct (png_read_image) take the shape that the thread last saw for the same png struct.
// An error that leaves by longjmp past these functions is fine: the span stack drops what it
// skipped, at the latest where the png struct is destroyed. Threads: any.
#include "agent/elf_object.h"
#include "agent/hook.h"

#include <errno.h>

// ---- The accessors of the library that a function is in. ----

typedef uint32_t get_pixels_fn(const void *png, const void *info);
typedef uint8_t get_channels_fn(const void *png, const void *info);

struct accessors {
    _Atomic uintptr_t function; // hooked function of the same library; 0: free, 1: being filled
    get_pixels_fn *width, *height;
    get_channels_fn *channels; // all three, or none
};
#define ACCESSORS 32 // five functions take an info struct, each in up to HOOK_VARIANTS libraries
static struct accessors known[ACCESSORS];

struct search {
    uintptr_t function;
    struct accessors found;
};

static int search_object(struct dl_phdr_info *info, size_t length, void *context)
{
    struct search *s = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
        s->function < o.low || s->function >= o.high)
        return 0;
    uintptr_t width = elf_object_find(&o, "png_get_image_width");
    uintptr_t height = elf_object_find(&o, "png_get_image_height");
    uintptr_t channels = elf_object_find(&o, "png_get_channels");
    if (width && height && channels) {
        s->found.width = (get_pixels_fn *)width;
        s->found.height = (get_pixels_fn *)height;
        s->found.channels = (get_channels_fn *)channels;
    }
    return 1;
}

static void fill(struct accessors *a, uintptr_t function)
{
    struct search s = {.function = function};
    int saved_errno = errno;
    dl_iterate_phdr(search_object, &s);
    errno = saved_errno;
    a->width = s.found.width;
    a->height = s.found.height;
    a->channels = s.found.channels;
    atomic_store_explicit(&a->function, function, memory_order_release);
}

// NULL when the library has none, or there are more libraries than room for them.
static const struct accessors *accessors_of(uintptr_t function)
{
    for (size_t i = 0; i < ACCESSORS; i++) {
        struct accessors *a = &known[i];
        uintptr_t seen = atomic_load_explicit(&a->function, memory_order_acquire);
        if (!seen && atomic_compare_exchange_strong(&a->function, &seen, 1)) {
            fill(a, function);
            seen = function;
        }
        if (seen == function)
            return a->width ? a : NULL;
    }
    return NULL;
}

// ---- Shapes. ----

// The picture whose header the thread met last.
static __thread struct {
    const void *png; // NULL: none
    uint32_t width, height, channels;
} met __attribute__((tls_model("initial-exec")));

static void note_header(
    const struct hook_span *s, void *function, const void *png, const void *info)
{
    const struct accessors *a = s->token && png ? accessors_of((uintptr_t)function) : NULL;
    if (!a)
        return;
    met.png = png;
    met.width = a->width(png, info);
    met.height = a->height(png, info);
    met.channels = a->channels(png, info);
    if (met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
}

static void note_pixels(const struct hook_span *s, const void *png)
{
    if (s->token && png && met.png == png && met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
}

// The png struct goes away: another picture's may be made at its address.
static void forget(void *const *png)
{
    if (png && *png == met.png)
        met.png = NULL;
}

// Bytes that were made; the caller's number was written by a call that succeeded.
static void note_made(
    const struct hook_span *s, uintptr_t result, const void *memory, const size_t *length_bytes)
{
    if (s->token && (int)result && memory && length_bytes)
        span_bytes(s->token, *length_bytes);
}

#define PNG_CALL(id, stage, flags, before, after, params, args)                                    \
    HOOK_TYPE(uintptr_t, id, PARAMS(params))                                                       \
    static inline uintptr_t id##_body(id##_fn *real, params)                                       \
    {                                                                                              \
        HOOK_SPAN_OUTER(span, #id, stage, (flags) | AGENT_GROUP_LIBPNG);                           \
        before;                                                                                    \
        uintptr_t done = real(args);                                                               \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(params), ARGS(args))

#define NOTHING ((void)0)
#define HEADER note_header(&span, (void *)real, png, info)
#define PIXELS note_pixels(&span, png)

// ---- Reading. ----
PNG_CALL(
    png_read_info, "decode", 0, NOTHING, HEADER, PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_read_update_info, "decode", AGENT_FOLD_SHORT, NOTHING, HEADER,
    PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_read_row, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *row, void *display), ARGS(png, row, display))
PNG_CALL(png_read_rows, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *rows, void *display, uint32_t n), ARGS(png, rows, display, n))
PNG_CALL(
    png_read_image, "decode", 0, PIXELS, NOTHING, PARAMS(void *png, void *rows), ARGS(png, rows))
PNG_CALL(png_read_png, "decode", 0, NOTHING, HEADER,
    PARAMS(void *png, void *info, int transforms, void *unused),
    ARGS(png, info, transforms, unused))
PNG_CALL(png_read_end, "decode", AGENT_FOLD_SHORT, NOTHING, NOTHING, PARAMS(void *png, void *info),
    ARGS(png, info))
PNG_CALL(png_destroy_read_struct, "decode", AGENT_FOLD_SHORT, forget(png), NOTHING,
    PARAMS(void **png, void *info, void *end), ARGS(png, info, end))
PNG_CALL(png_image_begin_read_from_file, "decode", AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *image, const char *path), ARGS(image, path))
PNG_CALL(png_image_begin_read_from_stdio, "decode", AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *image, void *file), ARGS(image, file))
PNG_CALL(png_image_begin_read_from_memory, "decode", AGENT_FOLD_SHORT, span_bytes(span.token, n),
    NOTHING, PARAMS(void *image, const void *memory, size_t n), ARGS(image, memory, n))
PNG_CALL(png_image_finish_read, "decode", 0, NOTHING, NOTHING,
    PARAMS(void *image, const void *background, void *out, int32_t stride, void *colours),
    ARGS(image, background, out, stride, colours))

// ---- Writing. ----
PNG_CALL(
    png_write_info, "encode", 0, HEADER, NOTHING, PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_write_row, "encode", AGENT_FOLD, NOTHING, NOTHING, PARAMS(void *png, const void *row),
    ARGS(png, row))
PNG_CALL(png_write_rows, "encode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *rows, uint32_t n), ARGS(png, rows, n))
PNG_CALL(
    png_write_image, "encode", 0, PIXELS, NOTHING, PARAMS(void *png, void *rows), ARGS(png, rows))
PNG_CALL(png_write_png, "encode", 0, HEADER, NOTHING,
    PARAMS(void *png, void *info, int transforms, void *unused),
    ARGS(png, info, transforms, unused))
PNG_CALL(png_write_end, "encode", AGENT_FOLD_SHORT, NOTHING, NOTHING, PARAMS(void *png, void *info),
    ARGS(png, info))
PNG_CALL(png_destroy_write_struct, "encode", AGENT_FOLD_SHORT, forget(png), NOTHING,
    PARAMS(void **png, void *info), ARGS(png, info))
PNG_CALL(png_image_write_to_file, "encode", 0, NOTHING, NOTHING,
    PARAMS(void *image, const char *path, int to_8bit, const void *in, int32_t stride,
        const void *colours),
    ARGS(image, path, to_8bit, in, stride, colours))
PNG_CALL(png_image_write_to_stdio, "encode", 0, NOTHING, NOTHING,
    PARAMS(
        void *image, void *file, int to_8bit, const void *in, int32_t stride, const void *colours),
    ARGS(image, file, to_8bit, in, stride, colours))
PNG_CALL(png_image_write_to_memory, "encode", 0, NOTHING, note_made(&span, done, memory, n),
    PARAMS(void *image, void *memory, size_t *n, int to_8bit, const void *in, int32_t stride,
        const void *colours),
    ARGS(image, memory, n, to_8bit, in, stride, colours))

#define ROW(id) HOOK_ROW(id, #id)
static const struct hook_function functions[] = {
    ROW(png_read_info),
    ROW(png_read_update_info),
    ROW(png_read_row),
    ROW(png_read_rows),
    ROW(png_read_image),
    ROW(png_read_png),
    ROW(png_read_end),
    ROW(png_destroy_read_struct),
    ROW(png_image_begin_read_from_file),
    ROW(png_image_begin_read_from_stdio),
    ROW(png_image_begin_read_from_memory),
    ROW(png_image_finish_read),
    ROW(png_write_info),
    ROW(png_write_row),
    ROW(png_write_rows),
    ROW(png_write_image),
    ROW(png_write_png),
    ROW(png_write_end),
    ROW(png_destroy_write_struct),
    ROW(png_image_write_to_file),
    ROW(png_image_write_to_stdio),
    ROW(png_image_write_to_memory),
    HOOK_END,
};

static const char *const libraries[] = {"libpng16.so", NULL};

const struct hook_set hook_libpng = {
    .name = "libpng",
    .help = "PNG decoding and encoding with libpng",
    .libraries = libraries,
    .functions = functions,
};
