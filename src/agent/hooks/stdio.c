// SPDX-License-Identifier: Apache-2.0
// Hook set stdio: streams of libc that have a descriptor, which decides the stage. Calls that take
// a character from a buffer that has one, or put one where there is room, are let straight through:
// what counts is filling and emptying the buffer. The calls that read and write the descriptor
// happen within libc. Arguments, results and errno stay the host's. Threads: any; whether a buffer
// has something is looked at without the stream's lock, and only decides what is recorded.
#include "agent/descriptor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Macros of <stdio.h> that would hide the functions.
#undef fread_unlocked
#undef fwrite_unlocked

static int is_off;

// The stream's descriptor; -1: it has none (it lies in memory, or the program's own functions are
// behind it), and what it does is not I/O.
static int stream_fd(FILE *stream)
{
    const int saved_errno = errno, fd = fileno_unlocked(stream);
    errno = saved_errno;
    return fd;
}

static inline void stream_begin(
    struct descriptor_span *s, struct hook_name *names, FILE *stream, uintptr_t stack)
{
    const int fd = is_off ? -1 : stream_fd(stream);
    descriptor_begin(s, fd < 0, names, fd, DESCRIPTOR_AT_NONE, stack);
}

#define STREAM_SPAN(variable, names, stream)                                                       \
    __attribute__((cleanup(descriptor_end), unused)) struct descriptor_span variable;              \
    stream_begin(&variable, names, stream, SPAN_STACK)

// What the buffer holds that was read ahead, and what it holds that is yet to be written.
static inline int64_t ahead_bytes(const FILE *stream)
{
    return stream->_IO_read_end - stream->_IO_read_ptr;
}

static inline int64_t pending_bytes(const FILE *stream)
{
    return stream->_IO_write_ptr - stream->_IO_write_base;
}

static inline int has_room(const FILE *stream)
{
    return stream->_IO_write_ptr < stream->_IO_write_end;
}

// The functions have other names in C where <stdio.h> has macros or inline functions for them.
#define STREAM_CALL(ret, call, NAMES, is_quick, bytes, params, args)                               \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[DESCRIPTOR_KIND_COUNT] = NAMES(#call);                    \
    HOOK_EXPORT ret lm_##call(params) __asm__(#call);                                              \
    ret lm_##call(params)                                                                          \
    {                                                                                              \
        if (is_quick)                                                                              \
            return call##_next()(args);                                                            \
        STREAM_SPAN(s, call##_names, stream);                                                      \
        ret done = call##_next()(args);                                                            \
        descriptor_bytes(&s, (int64_t)(bytes));                                                    \
        return done;                                                                               \
    }

#define READ_CALL(ret, call, bytes, params, args)                                                  \
    STREAM_CALL(ret, call, DESCRIPTOR_READ_NAMES, 0, bytes, PARAMS(params), ARGS(args))
#define WRITE_CALL(ret, call, bytes, params, args)                                                 \
    STREAM_CALL(ret, call, DESCRIPTOR_WRITE_NAMES, 0, bytes, PARAMS(params), ARGS(args))

// ---- Blocks and lines. ----
READ_CALL(size_t, fread, done *size, PARAMS(void *to, size_t size, size_t n, FILE *stream),
    ARGS(to, size, n, stream))
READ_CALL(size_t, fread_unlocked, done *size, PARAMS(void *to, size_t size, size_t n, FILE *stream),
    ARGS(to, size, n, stream))
READ_CALL(size_t, __fread_chk, done *size,
    PARAMS(void *to, size_t room, size_t size, size_t n, FILE *stream),
    ARGS(to, room, size, n, stream))
READ_CALL(size_t, __fread_unlocked_chk, done *size,
    PARAMS(void *to, size_t room, size_t size, size_t n, FILE *stream),
    ARGS(to, room, size, n, stream))
READ_CALL(char *, fgets, done ? strlen(done) : 0, PARAMS(char *to, int n, FILE *stream),
    ARGS(to, n, stream))
READ_CALL(char *, fgets_unlocked, done ? strlen(done) : 0, PARAMS(char *to, int n, FILE *stream),
    ARGS(to, n, stream))
READ_CALL(char *, __fgets_chk, done ? strlen(done) : 0,
    PARAMS(char *to, size_t room, int n, FILE *stream), ARGS(to, room, n, stream))
READ_CALL(char *, __fgets_unlocked_chk, done ? strlen(done) : 0,
    PARAMS(char *to, size_t room, int n, FILE *stream), ARGS(to, room, n, stream))
READ_CALL(ssize_t, getline, done, PARAMS(char **line, size_t *room, FILE *stream),
    ARGS(line, room, stream))
READ_CALL(ssize_t, getdelim, done, PARAMS(char **line, size_t *room, int end, FILE *stream),
    ARGS(line, room, end, stream))
READ_CALL(ssize_t, __getdelim, done, PARAMS(char **line, size_t *room, int end, FILE *stream),
    ARGS(line, room, end, stream))

WRITE_CALL(size_t, fwrite, done *size,
    PARAMS(const void *from, size_t size, size_t n, FILE *stream), ARGS(from, size, n, stream))
WRITE_CALL(size_t, fwrite_unlocked, done *size,
    PARAMS(const void *from, size_t size, size_t n, FILE *stream), ARGS(from, size, n, stream))
WRITE_CALL(int, fputs, done < 0 ? 0 : strlen(text), PARAMS(const char *text, FILE *stream),
    ARGS(text, stream))
WRITE_CALL(int, fputs_unlocked, done < 0 ? 0 : strlen(text), PARAMS(const char *text, FILE *stream),
    ARGS(text, stream))

// ---- Characters: bytes are those that the buffer was filled with or emptied of. ----
#define FILLED (done < 0 ? 0 : ahead_bytes(stream) + 1)
#define GET_CALL(call)                                                                             \
    STREAM_CALL(int, call, DESCRIPTOR_READ_NAMES, ahead_bytes(stream) > 0, FILLED,                 \
        PARAMS(FILE * stream), ARGS(stream))
GET_CALL(getc)
GET_CALL(_IO_getc)
GET_CALL(fgetc)
GET_CALL(getc_unlocked)
GET_CALL(fgetc_unlocked)
GET_CALL(__uflow)

#define PUT_CALL(call, params, args)                                                               \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[DESCRIPTOR_KIND_COUNT] = DESCRIPTOR_WRITE_NAMES(#call);   \
    HOOK_EXPORT int lm_##call(params) __asm__(#call);                                              \
    int lm_##call(params)                                                                          \
    {                                                                                              \
        if (has_room(stream))                                                                      \
            return call##_next()(args);                                                            \
        STREAM_SPAN(s, call##_names, stream);                                                      \
        const int64_t before_bytes = pending_bytes(stream);                                        \
        const int done = call##_next()(args);                                                      \
        const int64_t emptied_bytes = before_bytes + 1 - pending_bytes(stream);                    \
        descriptor_bytes(&s, done < 0 ? 0 : emptied_bytes);                                        \
        return done;                                                                               \
    }
PUT_CALL(putc, PARAMS(int c, FILE *stream), ARGS(c, stream))
PUT_CALL(_IO_putc, PARAMS(int c, FILE *stream), ARGS(c, stream))
PUT_CALL(fputc, PARAMS(int c, FILE *stream), ARGS(c, stream))
PUT_CALL(putc_unlocked, PARAMS(int c, FILE *stream), ARGS(c, stream))
PUT_CALL(fputc_unlocked, PARAMS(int c, FILE *stream), ARGS(c, stream))
PUT_CALL(__overflow, PARAMS(FILE *stream, int c), ARGS(stream, c))

// ---- Formatted. What was read is not told; what was written is. ----
READ_CALL(int, vfscanf, 0, PARAMS(FILE *stream, const char *format, va_list list),
    ARGS(stream, format, list))
READ_CALL(int, __isoc99_vfscanf, 0, PARAMS(FILE *stream, const char *format, va_list list),
    ARGS(stream, format, list))
WRITE_CALL(int, vfprintf, done, PARAMS(FILE *stream, const char *format, va_list list),
    ARGS(stream, format, list))
WRITE_CALL(int, __vfprintf_chk, done,
    PARAMS(FILE *stream, int check, const char *format, va_list list),
    ARGS(stream, check, format, list))

// A call with `...` is the one with a list of them, in libc too.
#define LISTED_CALL(call, listed, NAMES, bytes, params, last, args)                                \
    static struct hook_name call##_names[DESCRIPTOR_KIND_COUNT] = NAMES(#call);                    \
    HOOK_EXPORT int lm_##call(params, ...) __asm__(#call);                                         \
    int lm_##call(params, ...)                                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        STREAM_SPAN(s, call##_names, stream);                                                      \
        va_start(list, last);                                                                      \
        const int done = listed##_next()(args, list);                                              \
        va_end(list);                                                                              \
        descriptor_bytes(&s, bytes);                                                               \
        return done;                                                                               \
    }
LISTED_CALL(fscanf, vfscanf, DESCRIPTOR_READ_NAMES, 0, PARAMS(FILE *stream, const char *format),
    format, ARGS(stream, format))
LISTED_CALL(__isoc99_fscanf, __isoc99_vfscanf, DESCRIPTOR_READ_NAMES, 0,
    PARAMS(FILE *stream, const char *format), format, ARGS(stream, format))
LISTED_CALL(fprintf, vfprintf, DESCRIPTOR_WRITE_NAMES, done,
    PARAMS(FILE *stream, const char *format), format, ARGS(stream, format))
LISTED_CALL(__fprintf_chk, __vfprintf_chk, DESCRIPTOR_WRITE_NAMES, done,
    PARAMS(FILE *stream, int check, const char *format), format, ARGS(stream, check, format))

// ---- Opening. Which file it is comes with it. ----
enum { OPEN_TO_LOAD, OPEN_TO_SAVE, OPEN_COUNT };

static int open_kind(const char *mode)
{
    return mode && (*mode == 'w' || *mode == 'a') ? OPEN_TO_SAVE : OPEN_TO_LOAD;
}

#define OPEN_CALL(call, before, params, args)                                                      \
    HOOK_NEXT(FILE *, call, NULL, PARAMS(params))                                                  \
    static struct hook_name call##_names[OPEN_COUNT] = {                                           \
        {#call, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                      \
        {#call, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0}};                                     \
    HOOK_EXPORT FILE *lm_##call(params) __asm__(#call);                                            \
    FILE *lm_##call(params)                                                                        \
    {                                                                                              \
        HOOK_SPAN_UNLESS(is_off, span, &call##_names[open_kind(mode)]);                            \
        before;                                                                                    \
        FILE *opened = call##_next()(args);                                                        \
        if (opened)                                                                                \
            descriptor_opened(span.token, stream_fd(opened), open_kind(mode) == OPEN_TO_LOAD);     \
        return opened;                                                                             \
    }
OPEN_CALL(fopen, (void)0, PARAMS(const char *path, const char *mode), ARGS(path, mode))
OPEN_CALL(fopen64, (void)0, PARAMS(const char *path, const char *mode), ARGS(path, mode))
// The stream's number is closed first, also where there is nothing to be opened then.
OPEN_CALL(freopen, descriptor_forget(stream_fd(stream)),
    PARAMS(const char *path, const char *mode, FILE *stream), ARGS(path, mode, stream))
OPEN_CALL(freopen64, descriptor_forget(stream_fd(stream)),
    PARAMS(const char *path, const char *mode, FILE *stream), ARGS(path, mode, stream))

// ---- Emptying the buffer, and moving in the file: what is pending is written, else it is read.
// ----
static struct hook_name *moved_name(FILE *stream, struct hook_name *names)
{
    const int is_write = stream && pending_bytes(stream) > 0;
    return names + (is_write ? DESCRIPTOR_KIND_COUNT : 0) +
           (stream ? descriptor_kind(stream_fd(stream)) : DESCRIPTOR_FILE);
}

#define MOVED_NAMES(call)                                                                          \
    static struct hook_name call##_names[2 * DESCRIPTOR_KIND_COUNT] = {                            \
        DESCRIPTOR_READ_ROWS(#call), DESCRIPTOR_WRITE_ROWS(#call)};

// `stream` NULL: all that are open for writing.
#define FLUSH_CALL(call)                                                                           \
    HOOK_NEXT(int, call, NULL, PARAMS(FILE *stream))                                               \
    MOVED_NAMES(call)                                                                              \
    HOOK_EXPORT int lm_##call(FILE *stream) __asm__(#call);                                        \
    int lm_##call(FILE *stream)                                                                    \
    {                                                                                              \
        if (is_off || (stream && stream_fd(stream) < 0))                                           \
            return call##_next()(stream);                                                          \
        HOOK_SPAN_UNLESS(0, span,                                                                  \
            stream ? moved_name(stream, call##_names) : &call##_names[DESCRIPTOR_KIND_COUNT]);     \
        return call##_next()(stream);                                                              \
    }
FLUSH_CALL(fflush)
FLUSH_CALL(fflush_unlocked)

// Its number is free before it returns.
HOOK_NEXT(int, fclose, NULL, PARAMS(FILE *stream))
MOVED_NAMES(fclose)
HOOK_EXPORT int fclose(FILE *stream)
{
    const int fd = stream_fd(stream);
    if (is_off || fd < 0) {
        descriptor_forget(fd);
        return fclose_next()(stream);
    }
    HOOK_SPAN_UNLESS(0, span, moved_name(stream, fclose_names));
    descriptor_forget(fd);
    return fclose_next()(stream);
}

#define SEEK_CALL(ret, call, params, args)                                                         \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    MOVED_NAMES(call)                                                                              \
    HOOK_EXPORT ret lm_##call(params) __asm__(#call);                                              \
    ret lm_##call(params)                                                                          \
    {                                                                                              \
        if (is_off || stream_fd(stream) < 0)                                                       \
            return call##_next()(args);                                                            \
        HOOK_SPAN_UNLESS(0, span, moved_name(stream, call##_names));                               \
        return call##_next()(args);                                                                \
    }
SEEK_CALL(int, fseek, PARAMS(FILE *stream, long at, int from), ARGS(stream, at, from))
SEEK_CALL(int, fseeko, PARAMS(FILE *stream, off_t at, int from), ARGS(stream, at, from))
SEEK_CALL(int, fseeko64, PARAMS(FILE *stream, off64_t at, int from), ARGS(stream, at, from))
SEEK_CALL(void, rewind, PARAMS(FILE *stream), ARGS(stream))
SEEK_CALL(int, fsetpos, PARAMS(FILE *stream, const fpos_t *at), ARGS(stream, at))
SEEK_CALL(int, fsetpos64, PARAMS(FILE *stream, const fpos64_t *at), ARGS(stream, at))

#define LINE(call) HOOK_LINE_LIBC(#call, call##_names, DESCRIPTOR_KIND_COUNT, MOVED)
#define LINE_MOVED(call) HOOK_LINE_LIBC(#call, call##_names, 2 * DESCRIPTOR_KIND_COUNT, 0)
#define LINE_OPEN(call)                                                                            \
    HOOK_LINE_LIBC(#call, call##_names, OPEN_COUNT, HOOK_ATTR(FILE) | HOOK_ATTR(RESIDENT))
#define MOVED (HOOK_BYTES | HOOK_ATTR(FILE))
static const struct hook_function functions[] = {
    LINE(fread),
    LINE(fread_unlocked),
    LINE(__fread_chk),
    LINE(__fread_unlocked_chk),
    LINE(fgets),
    LINE(fgets_unlocked),
    LINE(__fgets_chk),
    LINE(__fgets_unlocked_chk),
    LINE(getline),
    LINE(getdelim),
    LINE(__getdelim),
    LINE(fwrite),
    LINE(fwrite_unlocked),
    LINE(fputs),
    LINE(fputs_unlocked),
    LINE(getc),
    LINE(_IO_getc),
    LINE(fgetc),
    LINE(getc_unlocked),
    LINE(fgetc_unlocked),
    LINE(__uflow),
    LINE(putc),
    LINE(_IO_putc),
    LINE(fputc),
    LINE(putc_unlocked),
    LINE(fputc_unlocked),
    LINE(__overflow),
    HOOK_LINE_LIBC("vfscanf", vfscanf_names, DESCRIPTOR_KIND_COUNT, 0),
    HOOK_LINE_LIBC("__isoc99_vfscanf", __isoc99_vfscanf_names, DESCRIPTOR_KIND_COUNT, 0),
    HOOK_LINE_LIBC("fscanf", fscanf_names, DESCRIPTOR_KIND_COUNT, 0),
    HOOK_LINE_LIBC("__isoc99_fscanf", __isoc99_fscanf_names, DESCRIPTOR_KIND_COUNT, 0),
    LINE(vfprintf),
    LINE(__vfprintf_chk),
    LINE(fprintf),
    LINE(__fprintf_chk),
    LINE_OPEN(fopen),
    LINE_OPEN(fopen64),
    LINE_OPEN(freopen),
    LINE_OPEN(freopen64),
    LINE_MOVED(fflush),
    LINE_MOVED(fflush_unlocked),
    LINE_MOVED(fclose),
    LINE_MOVED(fseek),
    LINE_MOVED(fseeko),
    LINE_MOVED(fseeko64),
    LINE_MOVED(rewind),
    LINE_MOVED(fsetpos),
    LINE_MOVED(fsetpos64),
    HOOK_END,
};

const struct hook_set hook_stdio = {
    .name = "stdio",
    .help = "libc's streams: fread, fwrite, fgets, fprintf, ...",
    .functions = functions,
    .is_off = &is_off,
};
