// SPDX-License-Identifier: Apache-2.0
// See python_remote.h. Frames are followed one by one; the codes of a stack are looked at in one
// call of the kernel, to see that each is still the one that is known by its address. Threads: one
// owner.
#include "collect/python_remote.h"

#include "base/buf.h"
#include "base/heap.h"
#include "base/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define INTERPRETERS_MOST 64
#define THREADS_MOST 4096
#define CODES_MOST 100000u
#define TEXT_MOST_BYTES 4096u
#define TABLE_MOST_BYTES (1u << 18)
#define FRAME_MOST_BYTES 128
#define HEAD_MOST_BYTES 160 // of a code object, from its first line to its tables
#define OWNED_BY_C 3
#define THREAD_SCAN_BYTES 2048 // of a pthread_t's memory, where its number is

// A bytes object and the head of a text.
#define BYTES_LENGTH 16
#define BYTES_DATA 32
#define TEXT_LENGTH 16
#define TEXT_STATE 32

struct code {
    uint64_t address;
    uint64_t file_at, lines_at; // what tells it from another at the same address
    int32_t first_line;
    char *function, *file;
    uint8_t *table;
    size_t table_bytes;
};

struct python_remote {
    pid_t pid;
    uint64_t runtime;
    const struct python_layout *layout;
    VEC(struct code) codes;
    uint32_t *slots; // index + 1, by address
    size_t slot_count;
};

struct raw_frame {
    uint64_t code, at;
};

// ---- Memory. ----------------------------------------------------------------------------------

// 0, or -1 with errno: not all of it could be read.
static int read_at(const struct python_remote *r, uint64_t address, void *out, size_t bytes)
{
    const struct iovec local = {out, bytes}, remote = {(void *)(uintptr_t)address, bytes};
    if (!address) {
        errno = EFAULT;
        return -1;
    }
    const ssize_t n = process_vm_readv(r->pid, &local, 1, &remote, 1, 0);
    if (n >= 0 && (size_t)n < bytes)
        errno = EFAULT;
    return n == (ssize_t)bytes ? 0 : -1;
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static int32_t int_at(const uint8_t *bytes, size_t offset)
{
    int32_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static uint64_t read_word(const struct python_remote *r, uint64_t address)
{
    uint64_t value = 0;
    return read_at(r, address, &value, sizeof value) == 0 ? value : 0;
}

static void add_character(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_putc(out, (char)(c < ' ' ? '?' : c));
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xc0 | c >> 6));
        buf_putc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd; // half of a pair: a byte of a file name that is no text
        buf_putc(out, (char)(0xe0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_putc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x110000) {
        buf_putc(out, (char)(0xf0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_putc(out, (char)(0x80 | (c & 63)));
    }
}

// A str of Python in a new string of UTF-8; NULL: it is none.
static char *read_text(const struct python_remote *r, uint64_t address)
{
    uint8_t head[TEXT_STATE + 4], data[TEXT_MOST_BYTES];
    if (read_at(r, address, head, sizeof head) < 0)
        return NULL;
    const uint64_t length = word_at(head, TEXT_LENGTH);
    const uint32_t state = (uint32_t)int_at(head, TEXT_STATE);
    // Two bits of interning come first.
    const uint32_t kind = state >> 2 & 7, is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    if ((kind != 1 && kind != 2 && kind != 4) || !is_compact || length > TEXT_MOST_BYTES / kind)
        return NULL;
    const uint64_t at = address + (is_ascii ? r->layout->text_data : r->layout->text_wide);
    if (length && read_at(r, at, data, length * kind) < 0)
        return NULL;
    struct buf out = {0};
    for (size_t i = 0; i < length; i++) {
        uint32_t c = 0;
        memcpy(&c, data + i * kind, kind);
        add_character(&out, c);
    }
    char *text = strdup(buf_text(&out));
    buf_fini(&out);
    return text;
}

// A bytes object in new memory; NULL: it is none.
static uint8_t *read_bytes(const struct python_remote *r, uint64_t address, size_t *length_bytes)
{
    const uint64_t length = read_word(r, address ? address + BYTES_LENGTH : 0);
    if (!length || length > TABLE_MOST_BYTES)
        return NULL;
    uint8_t *bytes = heap_alloc(length, 1);
    if (read_at(r, address + BYTES_DATA, bytes, length) < 0) {
        free(bytes);
        return NULL;
    }
    *length_bytes = length;
    return bytes;
}

// ---- Codes. -----------------------------------------------------------------------------------

static void code_fini(struct code *c)
{
    free(c->function);
    free(c->file);
    free(c->table);
}

static size_t place_of(const struct python_remote *r, uint64_t address)
{
    size_t at = (size_t)(address >> 4) * 0x9e3779b97f4a7c15u >> 20 & (r->slot_count - 1);
    while (r->slots[at] && r->codes.at[r->slots[at] - 1].address != address)
        at = (at + 1) & (r->slot_count - 1);
    return at;
}

static void make_room(struct python_remote *r)
{
    if (r->codes.count * 2 + 2 < r->slot_count)
        return;
    free(r->slots);
    r->slot_count = r->slot_count ? r->slot_count * 2 : 1024;
    r->slots = heap_alloc(r->slot_count, sizeof *r->slots);
    for (size_t i = 0; i < r->codes.count; i++)
        r->slots[place_of(r, r->codes.at[i].address)] = (uint32_t)i + 1; // the last one counts
}

// `head`: of the code object, from code_line on. The index of the code, or UINT32_MAX.
static uint32_t code_of(struct python_remote *r, uint64_t address, const uint8_t *head)
{
    const struct python_layout *l = r->layout;
    const int32_t first_line = int_at(head, 0);
    const uint64_t file_at = word_at(head, (size_t)(l->code_file - l->code_line));
    const uint64_t name_at = word_at(head, (size_t)(l->code_name - l->code_line));
    const uint64_t lines_at = word_at(head, (size_t)(l->code_lines - l->code_line));
    make_room(r);
    const size_t place = place_of(r, address);
    if (r->slots[place]) {
        const struct code *known = &r->codes.at[r->slots[place] - 1];
        if (known->file_at == file_at && known->lines_at == lines_at &&
            known->first_line == first_line)
            return r->slots[place] - 1;
    }
    if (first_line < 0 || r->codes.count >= CODES_MOST)
        return UINT32_MAX;
    struct code c = {address, file_at, lines_at, first_line, read_text(r, name_at),
        read_text(r, file_at), NULL, 0};
    c.table = read_bytes(r, lines_at, &c.table_bytes);
    if (!c.function || !c.file || !*c.function) {
        code_fini(&c);
        return UINT32_MAX;
    }
    *vec_push(&r->codes) = c;
    r->slots[place] = (uint32_t)r->codes.count;
    return (uint32_t)r->codes.count - 1;
}

static int32_t line_of(
    const struct python_remote *r, const struct code *c, const struct raw_frame *f)
{
    const struct python_layout *l = r->layout;
    const int64_t at = l->at_is_address ? (int64_t)(f->at - f->code - l->code_start)
                                        : (int64_t)(int32_t)f->at * l->at_unit;
    return python_lines_find(l->lines, c->table, c->table_bytes, c->first_line, at);
}

// ---- Stacks. ----------------------------------------------------------------------------------

// Follows the frames from the innermost on; their number.
static size_t read_frames(const struct python_remote *r, uint64_t frame, struct raw_frame *out)
{
    const struct python_layout *l = r->layout;
    uint8_t bytes[FRAME_MOST_BYTES];
    size_t count = 0;
    for (int steps = 0; frame && count < PYTHON_FRAMES_MOST && steps < 2 * PYTHON_FRAMES_MOST;
         steps++) {
        if (read_at(r, frame, bytes, l->frame_bytes) < 0)
            break;
        frame = word_at(bytes, l->frame_back);
        if (l->frame_owner && bytes[l->frame_owner] == OWNED_BY_C)
            continue;
        out[count].code = word_at(bytes, l->frame_code);
        out[count++].at = l->at_is_address ? word_at(bytes, l->frame_at)
                                           : (uint64_t)(uint32_t)int_at(bytes, l->frame_at);
    }
    return count;
}

// The heads of all their codes at once; how many were read.
static size_t read_heads(const struct python_remote *r, const struct raw_frame *raw, size_t count,
    uint8_t *heads, size_t head_bytes)
{
    struct iovec local = {heads, count * head_bytes}, remote[PYTHON_FRAMES_MOST];
    for (size_t i = 0; i < count; i++)
        remote[i] =
            (struct iovec){(void *)(uintptr_t)(raw[i].code + r->layout->code_line), head_bytes};
    const ssize_t n = process_vm_readv(r->pid, &local, 1, remote, count, 0);
    return n < 0 ? 0 : (size_t)n / head_bytes;
}

// 0: there is none, or it made no sense.
static int read_stack(struct python_remote *r, uint64_t frame, struct python_stack *out)
{
    const struct python_layout *l = r->layout;
    const size_t head_bytes = (size_t)(l->code_lines - l->code_line) + 8;
    uint8_t heads[PYTHON_FRAMES_MOST * HEAD_MOST_BYTES];
    struct raw_frame raw[PYTHON_FRAMES_MOST];
    const size_t count = read_frames(r, frame, raw);
    if (!count || read_heads(r, raw, count, heads, head_bytes) != count)
        return 0;
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = code_of(r, raw[i].code, heads + i * head_bytes);
        if (code == UINT32_MAX)
            return 0;
        out->frames[out->count++] =
            (struct python_frame){code, line_of(r, &r->codes.at[code], &raw[i])};
    }
    return 1;
}

// Where glibc keeps a thread's number in its pthread_t: as in our own.
static size_t number_offset(void)
{
    static size_t offset;
    const uint8_t *own = (const uint8_t *)pthread_self();
    for (size_t at = 0; !offset && at < THREAD_SCAN_BYTES; at += 4)
        if (int_at(own, at) == gettid())
            offset = at;
    return offset;
}

static uint32_t thread_number(const struct python_remote *r, const uint8_t *tstate)
{
    const struct python_layout *l = r->layout;
    int32_t tid = 0;
    if (l->tstate_native)
        return (uint32_t)word_at(tstate, l->tstate_native);
    const size_t offset = number_offset();
    const uint64_t thread = word_at(tstate, l->tstate_thread);
    return offset && thread && read_at(r, thread + offset, &tid, sizeof tid) == 0 ? (uint32_t)tid
                                                                                  : 0;
}

// The thread whose state is at `address`; the address of the next.
static uint64_t read_thread(
    struct python_remote *r, uint64_t address, struct python_stack *out, int *is_there)
{
    const struct python_layout *l = r->layout;
    uint8_t tstate[192];
    *is_there = 0;
    if (read_at(r, address, tstate, sizeof tstate) < 0)
        return 0;
    uint64_t frame = word_at(tstate, l->tstate_frame);
    if (l->frame_is_kept)
        frame = read_word(r, frame ? frame + l->kept_frame : 0);
    out->tid = thread_number(r, tstate);
    *is_there = out->tid && frame && read_stack(r, frame, out);
    return word_at(tstate, l->tstate_next);
}

int python_remote_stacks(struct python_remote *r,
    void (*stack_fn)(void *context, const struct python_stack *stack), void *context)
{
    const struct python_layout *l = r->layout;
    uint64_t interpreter;
    struct python_stack stack;
    int threads = THREADS_MOST, is_there;
    if (read_at(r, r->runtime + l->interpreters, &interpreter, sizeof interpreter) < 0)
        return -1;
    for (int i = 0; interpreter && i < INTERPRETERS_MOST; i++) {
        uint64_t tstate = read_word(r, interpreter + l->interpreter_tstate);
        while (tstate && threads-- > 0) {
            tstate = read_thread(r, tstate, &stack, &is_there);
            if (is_there)
                stack_fn(context, &stack);
        }
        interpreter = read_word(r, interpreter + l->interpreter_next);
    }
    return 0;
}

// ---- Life. ------------------------------------------------------------------------------------

struct python_remote *python_remote_new(
    pid_t pid, uint64_t runtime, const struct python_layout *layout)
{
    struct python_remote *r = heap_alloc(1, sizeof *r);
    r->pid = pid;
    r->runtime = runtime;
    r->layout = layout;
    return r;
}

void python_remote_free(struct python_remote **r)
{
    if (!r || !*r)
        return;
    for (size_t i = 0; i < (*r)->codes.count; i++)
        code_fini(&(*r)->codes.at[i]);
    vec_fini(&(*r)->codes);
    free((*r)->slots);
    free(*r);
    *r = NULL;
}

const char *python_remote_function(const struct python_remote *r, uint32_t code)
{
    return r->codes.at[code].function;
}

const char *python_remote_file(const struct python_remote *r, uint32_t code)
{
    return r->codes.at[code].file;
}
