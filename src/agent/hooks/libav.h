// SPDX-License-Identifier: Apache-2.0
// What the hook sets for FFmpeg's libraries share: which major version a hooked function is of,
// options of a context read through the library's own accessors, a small table of what is known of
// contexts, and the attributes of packets and frames (libav_abi.h). With a major version that is
// not known, calls are timed and nothing is read. Allocates nothing. Threads: any.
#ifndef LIGHTMETER_AGENT_HOOKS_LIBAV_H
#define LIGHTMETER_AGENT_HOOKS_LIBAV_H

#include "agent/elf_object.h"
#include "agent/hook.h"
#include "agent/hooks/libav_abi.h"
#include "agent/library.h"

#include <errno.h>

#define LIBAV_NO_PTS INT64_MIN

// ---- Which library a function is in. ----

// The set's functions: the library's version, and perhaps one that the set calls.
enum { LIBAV_VERSION, LIBAV_EXTRA };

struct libav_set {
    unsigned major_low, major_high;
    struct library_table library;
};

typedef unsigned libav_version_fn(void);

static inline int libav_version_of(void *const *at, const char *file_name)
{
    (void)file_name;
    return at[LIBAV_VERSION] ? (int)(((libav_version_fn *)at[LIBAV_VERSION])() >> 16) : 0;
}

// NULL: of no version that is known.
static inline const struct library *libav_library_of(struct libav_set *set, void *function)
{
    const struct library *l = library_of(&set->library, (uintptr_t)function);
    const unsigned major = l ? (unsigned)l->version : 0;
    return major >= set->major_low && major <= set->major_high ? l : NULL;
}

static inline unsigned libav_major(struct libav_set *set, const struct hook_span *s, void *function)
{
    const struct library *l = s->token ? libav_library_of(set, function) : NULL;
    return l ? (unsigned)l->version : 0;
}

// ---- Options of a context: asked of the one libavutil of the process, at rare calls only. ----

typedef int libav_get_int_fn(void *object, const char *name, int flags, int64_t *value);
typedef int libav_get_ratio_fn(
    void *object, const char *name, int flags, struct libav_ratio *value);

struct libav_options {
    uintptr_t get_int, get_ratio; // both 0 when there is no telling
    int count;
};

static inline int libav_search_options(struct dl_phdr_info *info, size_t length, void *context)
{
    struct libav_options *found = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
        return 0;
    const uintptr_t get_int = elf_object_find(&o, "av_opt_get_int");
    const uintptr_t get_ratio = elf_object_find(&o, "av_opt_get_q");
    if (get_int && get_ratio)
        *found = (struct libav_options){get_int, get_ratio, found->count + 1};
    return 0;
}

// With two libavutils there is no telling whose the context is.
static inline struct libav_options libav_options_find(void)
{
    struct libav_options found = {0};
    const int saved_errno = errno;
    dl_iterate_phdr(libav_search_options, &found);
    errno = saved_errno;
    return found.count == 1 ? found : (struct libav_options){0};
}

static inline int64_t libav_option(const struct libav_options *o, void *object, const char *name)
{
    int64_t value = 0;
    if (!o->get_int || ((libav_get_int_fn *)o->get_int)(object, name, 0, &value) < 0)
        return -1;
    return value;
}

static inline struct libav_ratio libav_option_ratio(
    const struct libav_options *o, void *object, const char *name)
{
    struct libav_ratio value = {0, 0};
    if (!o->get_ratio || ((libav_get_ratio_fn *)o->get_ratio)(object, name, 0, &value) < 0)
        return (struct libav_ratio){0, 0};
    return value;
}

// ---- What is known of contexts, from when they were opened until they are freed. A context is
// used after it was opened, and by one thread at a time: the rule of the libraries. ----

#define LIBAV_CONTEXTS 128u
#define LIBAV_CONTEXT_WAYS 8u

struct libav_context {
    _Atomic(const void *) key; // NULL: free
    int32_t in_width, in_height, in_format, out_width, out_height, out_format, flags;
    struct libav_ratio time_base;
};

static inline struct libav_context *libav_context_at(
    struct libav_context *table, const void *key, unsigned way)
{
    const uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u >> 40;
    return &table[(hash + way) % LIBAV_CONTEXTS];
}

static inline struct libav_context *libav_context_find(struct libav_context *table, const void *key)
{
    for (unsigned way = 0; key && way < LIBAV_CONTEXT_WAYS; way++) {
        struct libav_context *c = libav_context_at(table, key, way);
        if (atomic_load_explicit(&c->key, memory_order_acquire) == key)
            return c;
    }
    return NULL;
}

// The context's place, taken if need be; NULL when there is none.
static inline struct libav_context *libav_context_take(struct libav_context *table, const void *key)
{
    struct libav_context *c = libav_context_find(table, key);
    for (unsigned way = 0; !c && key && way < LIBAV_CONTEXT_WAYS; way++) {
        const void *expected = NULL;
        struct libav_context *free = libav_context_at(table, key, way);
        if (atomic_compare_exchange_strong(&free->key, &expected, key))
            c = free;
    }
    return c;
}

static inline void libav_context_forget(struct libav_context *table, const void *key)
{
    struct libav_context *c = libav_context_find(table, key);
    if (c)
        atomic_store_explicit(&c->key, NULL, memory_order_release);
}

// ---- Attributes. ----

static inline void libav_note_pts(const struct hook_span *s, int64_t pts, struct libav_ratio base)
{
    if (pts == LIBAV_NO_PTS || base.num <= 0 || base.den <= 0)
        return;
    const double us = (double)pts * 1e6 * (double)base.num / (double)base.den;
    if (us > -9e18 && us < 9e18)
        span_value(s->token, TRACE_ATTR_PTS, (uint64_t)(int64_t)(us < 0 ? us - 0.5 : us + 0.5));
}

static inline int32_t libav_dtype(int32_t sample_format)
{
    // U8 S16 S32 FLT DBL, the same as planes, S64 and that as planes.
    static const uint8_t types[] = {TRACE_DTYPE_U8, TRACE_DTYPE_I16, TRACE_DTYPE_I32,
        TRACE_DTYPE_F32, TRACE_DTYPE_F64, TRACE_DTYPE_U8, TRACE_DTYPE_I16, TRACE_DTYPE_I32,
        TRACE_DTYPE_F32, TRACE_DTYPE_F64, TRACE_DTYPE_I64, TRACE_DTYPE_I64};
    return sample_format >= 0 && (size_t)sample_format < sizeof types ? types[sample_format]
                                                                      : TRACE_DTYPE_UNKNOWN;
}

// In the time base `base`; where that is not known, in the packet's own, which libavcodec has from
// its major version 59 on.
static inline void libav_note_packet(const struct hook_span *s, const struct libav_packet *p,
    unsigned major, struct libav_ratio base)
{
    if (!p || !p->data || p->length_bytes <= 0)
        return;
    span_bytes(s->token, (uint64_t)p->length_bytes);
    libav_note_pts(s, p->pts, base.den <= 0 && major >= 59 ? p->time_base : base);
}

enum libav_kind { LIBAV_NOTHING, LIBAV_PICTURE, LIBAV_SOUND };

static inline enum libav_kind libav_kind_of(const struct libav_frame *f)
{
    if (!f || !f->data[0])
        return LIBAV_NOTHING;
    if (f->width > 0 && f->height > 0)
        return LIBAV_PICTURE;
    return f->samples > 0 ? LIBAV_SOUND : LIBAV_NOTHING;
}

// A call that gave a picture is recorded by itself, however short it was: it is an item, with its
// attributes. (It has one by now, without which its end would not take the path that this needs.)
static inline void libav_keep(const struct hook_span *s)
{
    struct agent_frame *f = span_frame(s->token);
    if (f && f->what.attr_bits)
        f->what.flags &= (uint8_t)~AGENT_FOLD_SHORT;
}

// Pixel formats and shape, or samples; `side` is TRACE_ATTR_INPUT or TRACE_ATTR_OUTPUT.
static inline void libav_note_frame(const struct hook_span *s, const struct libav_frame *f,
    enum trace_attr_key side, struct libav_ratio base)
{
    const enum libav_kind kind = libav_kind_of(f);
    if (kind == LIBAV_NOTHING)
        return;
    if (kind == LIBAV_PICTURE) {
        span_shape(s->token, (uint32_t)f->width, (uint32_t)f->height, 0, 0);
        if (f->format >= 0)
            span_value(s->token, TRACE_ATTR_COLOUR, (uint64_t)f->format);
    } else {
        span_value(s->token, TRACE_ATTR_ELEMENTS, (uint64_t)f->samples);
        span_value(s->token, TRACE_ATTR_DTYPE, (uint64_t)libav_dtype(f->format));
    }
    span_value(s->token, side, (uint64_t)(uintptr_t)f->data[0]);
    libav_note_pts(s, f->pts, base);
}

#define LIBAV_NOTHING_TO_DO ((void)0)

// A hook with something before and after the call; the latter has its `result`.
#define LIBAV_CALL(type, id, stage, cause, flags, before, after, params, args)                     \
    HOOK_TYPE(type, id, PARAMS(params))                                                            \
    HOOK_NAME(id, #id, stage, cause, flags);                                                       \
    static inline type id##_body(id##_fn *real, params)                                            \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        before;                                                                                    \
        type result = real(args);                                                                  \
        after;                                                                                     \
        return result;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(type, id, PARAMS(params), ARGS(args))

#endif
