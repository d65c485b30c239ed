// SPDX-License-Identifier: Apache-2.0
// Hook set libvips: operations being built, and pixels being made. libvips computes late: an
// operation that is called only says how its image is made; the work is done when a region of it is
// asked for, mostly on threads of a pool. So both are followed: what each image is made by is noted
// when it is told, and a region's time is that operation's. The calls that users write
// (vips_resize, ...) have variable arguments and pass through these. Threads: any; no locks.
#include "agent/hook.h"
#include "agent/library.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// ---- The heads of public structs: the same in libvips 8.0 to 8.18 (libvips.so.42). ----

struct vips_class {
    uintptr_t type; // GType
};

struct vips_object {
    const struct vips_class *class;
    uint32_t reference_count;
    void *data;
    int32_t is_constructed, is_static;
    void *arguments;
    char *nickname, *description;
    int32_t is_preclosed, is_closed, is_postclosed;
    size_t local_memory;
};
static_assert(sizeof(struct vips_object) == 80, "VipsObject");

struct vips_image {
    struct vips_object object;
    int32_t width, height, bands, format; // VipsBandFormat
};

struct vips_rect {
    int32_t left, top, width, height;
};

struct vips_region {
    struct vips_object object;
    const struct vips_image *image;
};

// ---- What operations are recorded as. ----

#define FLAGS (AGENT_FOLD_SHORT | AGENT_GROUP_VIPS)

// By kind of operation, the last of them also where the operation is not known; then what else the
// kinds are recorded as, for the table. A * stands for any part of a nickname.
static struct hook_name operation_names[] = {
    {"vips_*load*", "decode", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_*save*", "encode", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_draw_*", "draw", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_colourspace", "convert", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_operation", "preprocess", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_text", "draw", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_cast*", "convert", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_icc_*", "convert", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_*2*", "convert", TRACE_CAUSE_OTHER, FLAGS, 0},
    {"vips_*", "preprocess", TRACE_CAUSE_OTHER, FLAGS, 0},
};
enum kind { KIND_LOAD, KIND_SAVE, KIND_DRAW, KIND_COLOUR, KIND_OTHER };
#define NAME_COUNT (sizeof operation_names / sizeof *operation_names)

static int begins_with_any(const char *text, const char *const *heads)
{
    for (; *heads; heads++) {
        if (strncmp(text, *heads, strlen(*heads)) == 0)
            return 1;
    }
    return 0;
}

// Conversions of colour are named FROM2TO: Lab2XYZ, sRGB2HSV.
static int is_between_spaces(const char *name)
{
    static const char *const others[] = {
        "colourspace", "icc_", "cast", "rad2float", "float2rad", NULL};
    const char *two = strchr(name, '2');
    return begins_with_any(name, others) || (two && two[1] >= 'A' && two[1] <= 'Z');
}

static enum kind kind_of(const char *nickname)
{
    static const char *const drawing[] = {"draw_", "text", NULL};
    if (strstr(nickname, "load"))
        return KIND_LOAD;
    if (strstr(nickname, "save"))
        return KIND_SAVE;
    if (begins_with_any(nickname, drawing))
        return KIND_DRAW;
    return is_between_spaces(nickname) ? KIND_COLOUR : KIND_OTHER;
}

// Objects that are no operations: their making takes no time to speak of.
static int is_operation(const char *nickname)
{
    static const char *const others[] = {"image", "region", "source", "target", "connection",
        "interpolate", "nearest", "bilinear", "bicubic", "lbb", "nohalo", "vsqbs", "sbuf", "object",
        NULL};
    return !strstr(nickname, "threadstate") && !begins_with_any(nickname, others);
}

// ---- From types of objects to names, found once for each type. ----

#define OPERATIONS 512u // a power of two; libvips has about 350 types
#define NOT_TIMED UINT32_MAX
static struct operation {
    _Atomic uintptr_t type;
    // Names for building it, for its first pixels and for all others: the same but for loaders,
    // where building reads the header and the first region is what counts as an image decoded.
    _Atomic uint32_t build, first, rest; // `build` 0: not known yet
} operations[OPERATIONS];

typedef const char *nickname_find_fn(uintptr_t type);

enum { NICKNAME_FIND, VERSION };
typedef int version_fn(int part); // 0: the major version

static int version_of(void *const *at, const char *file_name)
{
    (void)file_name;
    return at[VERSION] ? ((version_fn *)at[VERSION])(0) : 0;
}

static struct library_table library = {
    .names = {"vips_nickname_find", "vips_version"}, .version = version_of};

// Whether the structs are those above. `inside`: an address in the library.
static int is_known(uintptr_t inside)
{
    return library_version(&library, inside) == 8;
}

static const char *nickname_of(uintptr_t type, uintptr_t inside)
{
    void *const *at = library_functions(&library, inside);
    return at ? ((nickname_find_fn *)at[NICKNAME_FIND])(type) : NULL;
}

static uint16_t name_part(const char *nickname, const char *part)
{
    char text[80];
    snprintf(text, sizeof text, "vips_%s%s", nickname, part);
    return names_intern(text, operation_names[kind_of(nickname)].stage, TRACE_CAUSE_OTHER);
}

// Two threads that come here at once find the same.
static void name_operation(struct operation *o, uintptr_t type, uintptr_t inside)
{
    const int saved_errno = errno;
    const char *nickname = nickname_of(type, inside);
    const int is_load = nickname && kind_of(nickname) == KIND_LOAD;
    uint32_t build = NOT_TIMED;
    if (!nickname || is_operation(nickname)) {
        const char *name = nickname ? nickname : "operation";
        atomic_store(&o->first, name_part(name, ""));
        atomic_store(&o->rest, name_part(name, is_load ? "_rows" : ""));
        build = name_part(name, is_load ? "_header" : "");
    }
    atomic_store_explicit(&o->build, build, memory_order_release);
    errno = saved_errno;
}

// NULL: not to be recorded. `inside`: an address in the library.
static struct operation *operation_of(const struct vips_object *object, uintptr_t inside)
{
    const uintptr_t type = object && is_known(inside) && object->class ? object->class->type : 0;
    for (uint32_t i = 0; type && i < 8; i++) {
        const uint32_t at = (uint32_t)(((type >> 4) * 0x9e3779b97f4a7c15u >> 32) + i) % OPERATIONS;
        struct operation *o = &operations[at];
        uintptr_t expected = 0;
        if (!atomic_compare_exchange_strong(&o->type, &expected, type) && expected != type)
            continue;
        if (!atomic_load_explicit(&o->build, memory_order_acquire)) {
            if (!agent_thread_open())
                return NULL;
            name_operation(o, type, inside);
        }
        return atomic_load_explicit(&o->build, memory_order_acquire) == NOT_TIMED ? NULL : o;
    }
    return NULL;
}

// Not recorded where the innermost open span has the name already: one call passes through several
// functions here, and one operation makes its image of several.
static struct hook_span begin_as(uint16_t id, uint8_t flags, uintptr_t stack)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *top = &t->frames[t->depth];
    if (!id || (t->depth && top->what.name == id && stack < top->stack))
        return (struct hook_span){0, stack};
    return (struct hook_span){span_begin(id, TRACE_CAUSE_OTHER, flags, stack), stack};
}

static struct hook_span begin_build(
    const struct vips_object *object, uintptr_t inside, uintptr_t stack)
{
    const struct operation *o = operation_of(object, inside);
    return begin_as(o ? (uint16_t)atomic_load(&o->build) : 0, FLAGS, stack);
}

// ---- Which operation makes an image: noted by the image's address, the latest of a slot wins.
// ----

#define MAKERS 4096u
static _Atomic uint64_t makers[MAKERS]; // address >> 4 << 20 | IS_BEGUN | place in operations + 1
#define IS_BEGUN (1u << 16)

static _Atomic uint64_t *maker_slot(uintptr_t image)
{
    return &makers[((image >> 4) * 0x9e3779b97f4a7c15u >> 32) % MAKERS];
}

// The place of the operation that has the name, and IS_BEGUN if that is not the name for building
// it: what a loader makes once it works is part of the image that it told of when it was built.
static uint64_t place_of(uint16_t name)
{
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &operations[i];
        if (atomic_load_explicit(&o->build, memory_order_acquire) == name)
            return i + 1;
        if (atomic_load_explicit(&o->first, memory_order_relaxed) == name ||
            atomic_load_explicit(&o->rest, memory_order_relaxed) == name)
            return (i + 1) | IS_BEGUN;
    }
    return 0;
}

// The image is being told how it is made, in the call whose span is the innermost.
static void note_maker(uintptr_t image)
{
    const struct agent_thread *t = agent_self;
    const union agent_what what = t->frames[t->depth].what;
    const int is_ours = t->depth && (what.flags & AGENT_GROUP) == AGENT_GROUP_VIPS;
    atomic_store_explicit(maker_slot(image),
        (uint64_t)image >> 4 << 20 | (is_ours ? place_of(what.name) : 0), memory_order_relaxed);
}

static struct hook_span begin_pixels(uintptr_t image, uintptr_t stack)
{
    _Atomic uint64_t *slot = maker_slot(image);
    uint64_t found = atomic_load_explicit(slot, memory_order_relaxed);
    const uint64_t place = found & (IS_BEGUN - 1);
    if (found >> 20 != (uint64_t)image >> 4 || !place)
        return begin_as(hook_id(&operation_names[KIND_OTHER]), FLAGS, stack);
    const struct operation *o = &operations[place - 1];
    const uint16_t first = (uint16_t)atomic_load_explicit(&o->first, memory_order_relaxed);
    const uint16_t rest = (uint16_t)atomic_load_explicit(&o->rest, memory_order_relaxed);
    if (first != rest && !(found & IS_BEGUN) &&
        atomic_compare_exchange_strong(slot, &found, found | IS_BEGUN))
        return begin_as(first, AGENT_GROUP_VIPS, stack);
    return begin_as(rest, FLAGS, stack);
}

#define BUILD_SPAN(variable, object, inside)                                                       \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        begin_build(object, inside, SPAN_STACK)
#define PIXELS_SPAN(variable, image)                                                               \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        begin_pixels((uintptr_t)(image), SPAN_STACK)
#define NAMED_SPAN(variable, id)                                                                   \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        begin_as(id, FLAGS, SPAN_STACK)

// ---- Attributes. ----

// By VipsBandFormat: uchar char ushort short uint int float complex double dpcomplex.
static enum trace_dtype dtype_of(int32_t format)
{
    static const uint8_t dtypes[] = {TRACE_DTYPE_U8, TRACE_DTYPE_I8, TRACE_DTYPE_U16,
        TRACE_DTYPE_I16, TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_I32, TRACE_DTYPE_F32, TRACE_DTYPE_UNKNOWN,
        TRACE_DTYPE_F64, TRACE_DTYPE_UNKNOWN};
    return format >= 0 && (size_t)format < sizeof dtypes ? dtypes[format] : TRACE_DTYPE_UNKNOWN;
}

static void note_pixels(
    const struct hook_span *s, const struct vips_image *image, int32_t width, int32_t height)
{
    if (!s->token || width <= 0 || height <= 0)
        return;
    span_shape(s->token, (uint32_t)width, (uint32_t)height,
        image->bands > 0 ? (uint32_t)image->bands : 0, 0);
    span_value(s->token, TRACE_ATTR_DTYPE, dtype_of(image->format));
}

static void note_image(const struct hook_span *s, const struct vips_image *image)
{
    if (image)
        note_pixels(s, image, image->width, image->height);
}

// ---- Operations: each is built once, by way of the cache or not. ----

HOOK_TYPE(int, object_build, PARAMS(struct vips_object *object))
static inline int object_build_body(object_build_fn *real, struct vips_object *object)
{
    BUILD_SPAN(span, object, (uintptr_t)real);
    return real(object);
}
HOOK_THUNKS(int, object_build, PARAMS(struct vips_object *object), ARGS(object))

HOOK_TYPE(void *, cache_build, PARAMS(struct vips_object *operation))
static inline void *cache_build_body(cache_build_fn *real, struct vips_object *operation)
{
    BUILD_SPAN(span, operation, (uintptr_t)real);
    return real(operation);
}
HOOK_THUNKS(void *, cache_build, PARAMS(struct vips_object *operation), ARGS(operation))

HOOK_TYPE(int, cache_buildp, PARAMS(struct vips_object **operation))
static inline int cache_buildp_body(cache_buildp_fn *real, struct vips_object **operation)
{
    BUILD_SPAN(span, operation ? *operation : NULL, (uintptr_t)real);
    return real(operation);
}
HOOK_THUNKS(int, cache_buildp, PARAMS(struct vips_object **operation), ARGS(operation))

// ---- How an image is made; no time to speak of. ----

HOOK_TYPE(int, image_generate,
    PARAMS(struct vips_image *image, void *start, void *make, void *stop, void *a, void *b))
static inline int image_generate_body(image_generate_fn *real, struct vips_image *image,
    void *start, void *make, void *stop, void *a, void *b)
{
    note_maker((uintptr_t)image);
    return real(image, start, make, stop, a, b);
}
HOOK_THUNKS(int, image_generate,
    PARAMS(struct vips_image *image, void *start, void *make, void *stop, void *a, void *b),
    ARGS(image, start, make, stop, a, b))

// ---- Pixels of a region: the operation that makes its image works, and asks others in turn. ----

#define REGION_CALL(id, params, args)                                                              \
    HOOK_TYPE(int, id, PARAMS(params))                                                             \
    static inline int id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        const int is_read = region && is_known((uintptr_t)real);                                   \
        PIXELS_SPAN(span, is_read ? region->image : NULL);                                         \
        if (is_read && span.token && rect)                                                         \
            note_pixels(&span, region->image, rect->width, rect->height);                          \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(params), ARGS(args))

REGION_CALL(region_prepare, PARAMS(struct vips_region *region, const struct vips_rect *rect),
    ARGS(region, rect))
REGION_CALL(region_prepare_to,
    PARAMS(struct vips_region *region, struct vips_region *to, const struct vips_rect *rect, int x,
        int y),
    ARGS(region, to, rect, x, y))

// ---- Calls that make all pixels of an image, or wait for those who do. ----

#define WHOLE_CALL(ret, id, text, params, args)                                                    \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, text, "preprocess", TRACE_CAUSE_OTHER, FLAGS);                                   \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        NAMED_SPAN(span, hook_id(&id##_name));                                                     \
        if (is_known((uintptr_t)real))                                                             \
            note_image(&span, image);                                                              \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

WHOLE_CALL(void *, write_to_memory, "vips_image_write_to_memory",
    PARAMS(struct vips_image *image, size_t *length_bytes), ARGS(image, length_bytes))
WHOLE_CALL(
    void *, copy_memory, "vips_image_copy_memory", PARAMS(struct vips_image *image), ARGS(image))
WHOLE_CALL(int, wio_input, "vips_image_wio_input", PARAMS(struct vips_image *image), ARGS(image))
// The caller's thread waits for the pool.
HOOK_TYPE(int, pool_run,
    PARAMS(
        struct vips_image *image, void *start, void *allocate, void *work, void *progress, void *a))
HOOK_NAME(pool_run, "vips_threadpool_run", "wait", TRACE_CAUSE_LOCK, 0);
static inline int pool_run_body(pool_run_fn *real, struct vips_image *image, void *start,
    void *allocate, void *work, void *progress, void *a)
{
    HOOK_WAIT_UNLESS(0, span, &pool_run_name);
    return real(image, start, allocate, work, progress, a);
}
HOOK_THUNKS(int, pool_run,
    PARAMS(
        struct vips_image *image, void *start, void *allocate, void *work, void *progress, void *a),
    ARGS(image, start, allocate, work, progress, a))

// ---- Files: which loader fits. And the library's own start, with its modules. ----

#define FIND_CALL(id, params, args)                                                                \
    HOOK_CALL(void *, id, "vips_" #id, "load", TRACE_CAUSE_OTHER, FLAGS, PARAMS(params), ARGS(args))
FIND_CALL(foreign_find_load, PARAMS(const char *name), ARGS(name))
FIND_CALL(foreign_find_load_buffer, PARAMS(const void *bytes, size_t n), ARGS(bytes, n))
FIND_CALL(foreign_find_load_source, PARAMS(void *source), ARGS(source))
HOOK_CALL(int, init, "vips_init", "load", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT,
    PARAMS(const char *program), ARGS(program))

#define OPERATION_LINE(id, symbol, attrs)                                                          \
    {                                                                                              \
        symbol, id##_thunks, (void **)id##_real, operation_names, NAME_COUNT, attrs                \
    }
// Kernels of resampling are in private structs, and are not known.
#define PIXELS (HOOK_SHAPE | HOOK_ATTR(DTYPE))

static const struct hook_function functions[] = {
    OPERATION_LINE(object_build, "vips_object_build", 0),
    OPERATION_LINE(cache_build, "vips_cache_operation_build", 0),
    OPERATION_LINE(cache_buildp, "vips_cache_operation_buildp", 0),
    HOOK_LINE_UNTIMED(image_generate, "vips_image_generate"),
    OPERATION_LINE(region_prepare, "vips_region_prepare", PIXELS),
    OPERATION_LINE(region_prepare_to, "vips_region_prepare_to", PIXELS),
    HOOK_LINE(write_to_memory, "vips_image_write_to_memory", PIXELS),
    HOOK_LINE(copy_memory, "vips_image_copy_memory", PIXELS),
    HOOK_LINE(wio_input, "vips_image_wio_input", PIXELS),
    HOOK_LINE(pool_run, "vips_threadpool_run", 0),
    HOOK_LINE(foreign_find_load, "vips_foreign_find_load", 0),
    HOOK_LINE(foreign_find_load_buffer, "vips_foreign_find_load_buffer", 0),
    HOOK_LINE(foreign_find_load_source, "vips_foreign_find_load_source", 0),
    HOOK_LINE(init, "vips_init", 0),
    HOOK_END,
};

static const char *const libraries[] = {"libvips.so", "libvips-cpp.so", NULL};

const struct hook_set hook_libvips = {
    .name = "libvips",
    .help = "operations of libvips, where they are built and where they make pixels",
    .libraries = libraries,
    .functions = functions,
};
