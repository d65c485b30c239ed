// SPDX-License-Identifier: Apache-2.0
// Stacks out of memory that is laid out as each release has it, in this very process; then the same
// with bytes of it changed by chance: whatever is read, it ends, and nothing wrong is believed.
#include "collect/python_remote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#define BLOCK_BYTES 8192
#define BLOCKS 24
#define FRAMES 3
#define CHANGES 20000

// Every object has a block of its own.
struct image {
    const struct python_layout *layout;
    uint8_t blocks[BLOCKS][BLOCK_BYTES];
    size_t count;
};

static uint8_t *block(struct image *m)
{
    assert_true(m->count < BLOCKS);
    return m->blocks[m->count++];
}

static void put_word(uint8_t *at, size_t offset, uint64_t value)
{
    memcpy(at + offset, &value, sizeof value);
}

static void put_pointer(uint8_t *at, size_t offset, const void *to)
{
    put_word(at, offset, (uint64_t)(uintptr_t)to);
}

static uint8_t *add_text(struct image *m, const char *text)
{
    uint8_t *o = block(m);
    const uint32_t state = 1u << 2 | 1u << 5 | 1u << 6; // one byte each, compact, ASCII
    put_word(o, 16, strlen(text));
    memcpy(o + 32, &state, sizeof state);
    memcpy(o + m->layout->text_data, text, strlen(text));
    return o;
}

static uint8_t *add_wide_text(struct image *m, const uint16_t *text, size_t length)
{
    uint8_t *o = block(m);
    const uint32_t state = 2u << 2 | 1u << 5; // two bytes each, compact
    put_word(o, 16, length);
    memcpy(o + 32, &state, sizeof state);
    memcpy(o + m->layout->text_wide, text, length * 2);
    return o;
}

// Two lines of code: 4 bytes of the first line, then another one.
static uint8_t *add_table(struct image *m)
{
    static const uint8_t pairs[] = {4, 1}, ranges[] = {4, 0, 40, 1},
                         places[] = {0x80 | 13 << 3 | 1, 0, 0x80 | 13 << 3 | 7, 2};
    uint8_t *o = block(m);
    const enum python_lines_kind kind = m->layout->lines;
    const uint8_t *table = kind == PYTHON_LINES_PAIRS    ? pairs
                           : kind == PYTHON_LINES_RANGES ? ranges
                                                         : places;
    const size_t bytes = kind == PYTHON_LINES_PAIRS ? sizeof pairs : sizeof ranges;
    put_word(o, 16, bytes);
    memcpy(o + 32, table, bytes);
    return o;
}

static uint8_t *add_code(struct image *m, uint8_t *name, uint8_t *file, int32_t line)
{
    const struct python_layout *l = m->layout;
    uint8_t *o = block(m);
    memcpy(o + l->code_line, &line, sizeof line);
    put_pointer(o, l->code_file, file);
    put_pointer(o, l->code_name, name);
    put_pointer(o, l->code_lines, add_table(m));
    return o;
}

static uint8_t *add_frame(struct image *m, const uint8_t *code, uint8_t *back, uint32_t at_bytes)
{
    const struct python_layout *l = m->layout;
    uint8_t *o = block(m);
    put_pointer(o, l->frame_code, code);
    put_pointer(o, l->frame_back, back);
    if (l->at_is_address) {
        put_pointer(o, l->frame_at, code + l->code_start + at_bytes);
    } else {
        const int32_t index = (int32_t)(at_bytes / l->at_unit);
        memcpy(o + l->frame_at, &index, sizeof index);
    }
    return o;
}

// main -> (a frame of C, where there are such) -> naïve -> inner; the runtime.
static uint8_t *make_image(struct image *m, const struct python_layout *l)
{
    static const uint16_t naive[] = {'n', 'a', 0xef, 'v', 'e', 0x4e2d, 0xd800};
    memset(m, 0, sizeof *m);
    m->layout = l;
    uint8_t *runtime = block(m), *interpreter = block(m), *tstate = block(m), *kept = block(m);
    uint8_t *file = add_text(m, "/home/me/a.py");
    uint8_t *frame = add_frame(m, add_code(m, add_text(m, "main"), file, 10), NULL, 6);
    if (l->frame_owner) {
        frame = add_frame(m, runtime, frame, 0);
        frame[l->frame_owner] = 3;
    }
    frame = add_frame(m, add_code(m, add_wide_text(m, naive, 7), file, 20), frame, 0);
    frame = add_frame(m, add_code(m, add_text(m, "inner"), file, 30), frame, 4);
    put_pointer(runtime, l->interpreters, interpreter);
    put_pointer(interpreter, l->interpreter_tstate, tstate);
    put_word(tstate, l->tstate_thread, (uint64_t)pthread_self());
    if (l->tstate_native)
        put_word(tstate, l->tstate_native, (uint64_t)gettid());
    if (l->frame_is_kept)
        put_pointer(kept, l->kept_frame, frame);
    put_pointer(tstate, l->tstate_frame, l->frame_is_kept ? kept : frame);
    return runtime;
}

struct seen {
    int count;
    struct python_stack last;
};

static void take(void *context, const struct python_stack *stack)
{
    struct seen *s = context;
    s->count++;
    s->last = *stack;
}

static void test_each_release(void **state)
{
    (void)state;
    struct image *m = malloc(sizeof *m);
    assert_non_null(m);
    for (uint64_t minor = 8; minor <= 13; minor++) {
        const struct python_layout *l = python_layout_find(0x03000000 | minor << 16);
        uint8_t *runtime = make_image(m, l);
        struct seen *s = calloc(1, sizeof *s);
        assert_non_null(s);
        struct python_remote *r = python_remote_new(getpid(), (uint64_t)(uintptr_t)runtime, l);
        for (int round = 1; round <= 3; round++) {
            assert_int_equal(python_remote_stacks(r, take, s), 0);
            assert_int_equal(s->count, round);
            assert_int_equal(s->last.tid, gettid());
            assert_int_equal(s->last.count, FRAMES);
            static const char *const names[] = {
                "inner", "na\xc3\xafve\xe4\xb8\xad\xef\xbf\xbd", "main"};
            static const int32_t lines[] = {31, 20, 11};
            for (int i = 0; i < FRAMES; i++) {
                const struct python_frame *f = &s->last.frames[i];
                assert_string_equal(python_remote_function(r, f->code), names[i]);
                assert_string_equal(python_remote_file(r, f->code), "/home/me/a.py");
                assert_int_equal(f->line, lines[i]);
            }
        }
        python_remote_free(&r);
        assert_null(r);
        free(s);
    }
    free(m);
}

// Another code at the address of one that is known.
static void test_a_code_is_replaced(void **state)
{
    (void)state;
    struct image *m = malloc(sizeof *m);
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(m);
    assert_non_null(s);
    const struct python_layout *l = python_layout_find(0x030c0000);
    uint8_t *runtime = make_image(m, l);
    struct python_remote *r = python_remote_new(getpid(), (uint64_t)(uintptr_t)runtime, l);
    assert_int_equal(python_remote_stacks(r, take, s), 0);
    const uint32_t before = s->last.frames[0].code;
    for (size_t i = 0; i < m->count; i++) {
        int32_t line;
        memcpy(&line, m->blocks[i] + l->code_line, sizeof line);
        if (line != 30)
            continue;
        put_pointer(m->blocks[i], l->code_file, add_text(m, "/home/me/b.py"));
        break;
    }
    assert_int_equal(python_remote_stacks(r, take, s), 0);
    assert_int_not_equal(s->last.frames[0].code, before);
    assert_string_equal(python_remote_file(r, s->last.frames[0].code), "/home/me/b.py");
    assert_string_equal(python_remote_file(r, before), "/home/me/a.py");
    python_remote_free(&r);
    free(s);
    free(m);
}

static void test_anything(void **state)
{
    (void)state;
    uint32_t dice = 7;
    struct image *m = malloc(sizeof *m);
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(m);
    assert_non_null(s);
    for (int round = 0; round < CHANGES; round++) {
        const struct python_layout *l =
            python_layout_find(0x03000000 | (uint64_t)(8 + round % 6) << 16);
        uint8_t *runtime = make_image(m, l);
        for (int i = 0; i < 1 + round % 5; i++) {
            dice = dice * 1664525u + 1013904223u;
            uint8_t *b = m->blocks[(dice >> 8) % m->count];
            // Near the beginning, where all fields are, or a pointer to another object.
            if (dice >> 31)
                b[(dice >> 16) % 256] ^= (uint8_t)(dice >> 3);
            else
                put_pointer(b, (dice >> 16) % 32 * 8, m->blocks[(dice >> 4) % m->count]);
        }
        struct python_remote *r = python_remote_new(getpid(), (uint64_t)(uintptr_t)runtime, l);
        (void)python_remote_stacks(r, take, s);
        assert_true(s->last.count <= PYTHON_FRAMES_MOST);
        python_remote_free(&r);
    }
    free(s);
    free(m);
}

static void test_no_such_process(void **state)
{
    (void)state;
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const struct python_layout *l = python_layout_find(0x030b0000);
    struct python_remote *r = python_remote_new(0x3fffffff, 4096, l);
    assert_int_equal(python_remote_stacks(r, take, s), -1);
    assert_int_equal(s->count, 0);
    python_remote_free(&r);
    r = python_remote_new(getpid(), 16, l); // nothing is there
    assert_int_equal(python_remote_stacks(r, take, s), -1);
    python_remote_free(&r);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_release),
        cmocka_unit_test(test_a_code_is_replaced),
        cmocka_unit_test(test_anything),
        cmocka_unit_test(test_no_such_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
