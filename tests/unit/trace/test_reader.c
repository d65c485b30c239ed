// SPDX-License-Identifier: Apache-2.0
// Tests of the packed file: written and read back, cut at every byte, every byte changed, and made
// by someone else. Memory is exactly as long as the file, so the sanitizers see a step outside.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/file.h"
#include "stream.h"
#include "trace/check.h"
#include "trace/hash.h"
#include "trace/reader.h"
#include "trace/records.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 7u

// The small trace, and where its blocks begin and end.
struct fixture {
    char folder[64], path[128];
    struct buf bytes;
    size_t begin[BLOCKS + 1];
    uint64_t hash[BLOCKS]; // of each block's content
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err e = {0};
    struct trace_block_view block;
    strcpy(f->folder, "/tmp/lightmeter-test-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/a.lmt", f->folder);
    if (stream_trace_write(f->path, &e) < 0 || file_read(f->path, 1u << 20, &f->bytes, &e) < 0)
        return -1;
    struct trace_reader *r = trace_reader_open(f->path, &e);
    for (size_t i = 0; r && trace_reader_next(r, &block) && i < BLOCKS; i++) {
        f->begin[i] = block.offset_bytes;
        f->hash[i] = trace_hash(block.bytes, block.length_bytes);
    }
    f->begin[BLOCKS] = f->bytes.length_bytes;
    trace_reader_close(&r);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    const int result = file_remove_tree(f->folder, NULL);
    buf_fini(&f->bytes);
    free(f);
    return result;
}

static uint8_t *copy_bytes(const struct buf *bytes, size_t length_bytes)
{
    uint8_t *copy = malloc(length_bytes ? length_bytes : 1);
    memcpy(copy, bytes->at, length_bytes);
    return copy;
}

static void test_a_whole_trace_is_read(void **state)
{
    const struct fixture *f = *state;
    static const enum trace_block_type types[BLOCKS] = {TRACE_BLOCK_META, TRACE_BLOCK_PROCESS,
        TRACE_BLOCK_SEGMENT, TRACE_BLOCK_SEGMENT, TRACE_BLOCK_SEGMENT, TRACE_BLOCK_SAMPLES,
        TRACE_BLOCK_SUMMARY};
    struct err e = {0};
    struct trace_block_view block;
    struct trace_reader *r = trace_reader_open(f->path, &e);
    assert_non_null(r);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            assert_int_equal(trace_reader_next(r, &block), 1);
            assert_int_equal(block.id.type, types[i]);
            assert_int_equal(block.index, i);
            assert_int_equal((uintptr_t)block.bytes % 16, 0);
        }
        assert_int_equal(trace_reader_next(r, &block), 0);
        assert_int_equal(trace_reader_is_cut(r), 0);
        assert_string_equal(trace_reader_damage_text(r), "");
        trace_reader_rewind(r);
    }
    assert_int_equal(trace_reader_file(r)->created_unix_ns, UINT64_C(1700000000000000000));
    assert_int_equal(trace_reader_file_bytes(r), f->bytes.length_bytes);
    trace_reader_close(&r);
    assert_null(r);
    trace_reader_close(&r);
}

// A segment's records come back as they were given, whether coded in planes or plainly.
static void test_records_come_back(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    char path[160];
    const struct trace_block_id id = {TRACE_BLOCK_SEGMENT, 1, 2, 3, 4, 5, 6};
    struct trace_block_view block;
    snprintf(path, sizeof path, "%s/records.lmt", f->folder);
    stream_thread(&s, 7, 300, 5);
    struct trace_pack *p = trace_pack_create(path, 1, &e);
    assert_int_equal(trace_pack_block(p, &id, s.bytes.at, s.bytes.length_bytes, &e), 0);
    s.bytes.at[3] = 1; // a reserved byte of THREAD: planes cannot hold it
    assert_int_equal(trace_pack_block(p, &id, s.bytes.at, s.bytes.length_bytes, &e), 0);
    assert_int_equal(trace_pack_block(p, &id, s.bytes.at, 0, &e), 0);
    assert_int_equal(trace_pack_block(p, &id, s.bytes.at, 64u << 21, &e), -1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(trace_pack_commit(&p, &e), 0);
    struct trace_reader *r = trace_reader_open(path, &e);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(trace_reader_next(r, &block), 1);
        assert_int_equal(block.coding, i ? TRACE_CODING_ZSTD : TRACE_CODING_PLANES_ZSTD);
        assert_int_equal(block.id.type, TRACE_BLOCK_SEGMENT);
        assert_int_equal(block.id.pid, 1);
        assert_int_equal(block.id.tid, 2);
        assert_int_equal(block.id.image_ticks, 3);
        assert_int_equal(block.id.thread_seq, 4);
        assert_int_equal(block.id.segment_seq, 5);
        assert_int_equal(block.id.part, 6);
        assert_int_equal(block.length_bytes, s.bytes.length_bytes);
        s.bytes.at[3] = (char)i;
        assert_memory_equal(block.bytes, s.bytes.at, s.bytes.length_bytes);
    }
    assert_int_equal(trace_reader_next(r, &block), 0);
    assert_int_equal(trace_reader_is_cut(r), 1);
    trace_reader_close(&r);
    buf_fini(&s.bytes);
}

// Reads all blocks; those of the original that came back, as bits.
static unsigned read_all(const struct fixture *f, struct trace_reader *r)
{
    struct trace_block_view block;
    unsigned found = 0;
    while (trace_reader_next(r, &block)) {
        struct trace_cursor c = {.at = block.bytes, .length_bytes = block.length_bytes};
        struct trace_record record;
        while (trace_records_next(&c, &record) > 0)
            ;
        for (size_t i = 0; i < BLOCKS; i++)
            if (block.offset_bytes == f->begin[i]) {
                assert_true(trace_hash(block.bytes, block.length_bytes) == f->hash[i]);
                found |= 1u << i;
            }
    }
    return found;
}

static void test_a_trace_cut_anywhere_is_read_up_to_there(void **state)
{
    const struct fixture *f = *state;
    for (size_t cut = 0; cut < f->bytes.length_bytes; cut++) {
        struct err e = {0};
        uint8_t *bytes = copy_bytes(&f->bytes, cut);
        struct trace_reader *r = trace_reader_open_bytes(bytes, cut, "cut.lmt", &e);
        if (cut < sizeof(struct trace_file)) {
            assert_null(r);
            assert_non_null(strstr(err_text(&e), "cut.lmt is "));
        } else {
            unsigned whole = 0;
            int is_boundary = 0;
            for (size_t i = 0; i < BLOCKS; i++) {
                whole |= f->begin[i + 1] <= cut ? 1u << i : 0;
                is_boundary |= f->begin[i] == cut;
            }
            assert_int_equal(read_all(f, r), whole);
            assert_int_equal(trace_reader_damage_count(r), !is_boundary);
            assert_int_equal(trace_reader_is_cut(r), 1);
            assert_non_null(strstr(trace_reader_damage_text(r), "no summary"));
            if (!is_boundary)
                assert_non_null(strstr(trace_reader_damage(r, 0).text, ": read up to there."));
        }
        trace_reader_close(&r);
        free(bytes);
    }
}

static void check_changed(const struct fixture *f, uint8_t *bytes, size_t at)
{
    struct err e = {0};
    size_t hit = 0;
    struct trace_reader *r =
        trace_reader_open_bytes(bytes, f->bytes.length_bytes, "changed.lmt", &e);
    while (hit < BLOCKS && f->begin[hit + 1] <= at)
        hit++;
    if (at < 16) {
        assert_null(r);
        assert_true(strstr(err_text(&e), "not a Lightmeter trace") ||
                    strstr(err_text(&e), "newer") || strstr(err_text(&e), "version 0"));
        return;
    }
    const unsigned all = (1u << BLOCKS) - 1;
    assert_int_equal(read_all(f, r), at < f->begin[0] ? all : all & ~(1u << hit));
    if (at >= f->begin[0]) {
        assert_int_equal(trace_reader_damage_count(r), 1);
        assert_int_equal(trace_reader_damage(r, 0).offset_bytes, f->begin[hit]);
        assert_int_equal(trace_reader_damage(r, 0).block, hit);
        assert_int_equal(
            trace_reader_damage(r, 0).skipped_bytes, f->begin[hit + 1] - f->begin[hit]);
    }
    trace_reader_close(&r);
}

static void test_any_changed_byte_costs_its_block_only(void **state)
{
    const struct fixture *f = *state;
    static const uint8_t flips[] = {1, 2, 0x10, 0x55, 0x80, 0xff};
    uint8_t *bytes = copy_bytes(&f->bytes, f->bytes.length_bytes);
    for (size_t at = 0; at < f->bytes.length_bytes; at++) {
        for (size_t i = 0; i < sizeof flips; i++) {
            bytes[at] ^= flips[i];
            check_changed(f, bytes, at);
            bytes[at] ^= flips[i];
        }
    }
    free(bytes);
}

static void check_refused(const struct fixture *f, size_t at, uint8_t value, const char *what)
{
    struct err e = {0};
    uint8_t *bytes = copy_bytes(&f->bytes, f->bytes.length_bytes);
    bytes[at] = value;
    assert_null(trace_reader_open_bytes(bytes, f->bytes.length_bytes, "x.lmt", &e));
    if (!strstr(err_text(&e), what))
        fail_msg("\"%s\" does not say \"%s\"", err_text(&e), what);
    free(bytes);
}

static void test_messages_say_what_to_do(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};
    check_refused(
        f, 8, 2, "x.lmt was written by a newer Lightmeter (trace version 2, this one reads");
    check_refused(f, 8, 0, "no trace version 0");
    check_refused(f, 13, 1, "needs features that this Lightmeter does not have (bits 0x100 of");
    check_refused(f, 0, 'X', "is not a Lightmeter trace");
    assert_null(trace_reader_open_bytes("", 0, "x.lmt", &e));
    assert_non_null(strstr(err_text(&e), "x.lmt is empty"));
    assert_null(trace_reader_open("/nonexistent/x.lmt", &e));
    assert_non_null(strstr(err_text(&e), "/nonexistent/x.lmt"));
    assert_null(trace_reader_open(f->folder, &e));
}

// Changes a field of a block's header and makes the header right again.
static void header_change(uint8_t *block, size_t at, uint64_t value, size_t width_bytes)
{
    memcpy(block + at, &value, width_bytes);
    const uint64_t hash = trace_hash(block, offsetof(struct trace_block, header_hash));
    memcpy(block + offsetof(struct trace_block, header_hash), &hash, sizeof hash);
}

static void test_lying_headers_are_caught(void **state)
{
    const struct fixture *f = *state;
    const struct {
        size_t at, width_bytes;
        uint64_t value;
        const char *what; // NULL: no damage, the block is passed over
    } cases[] = {
        {offsetof(struct trace_block, type), 2, 77, NULL},
        {offsetof(struct trace_block, coding), 2, 9, "coding is unknown"},
        {offsetof(struct trace_block, coding), 2, 1, "does not decompress"},
        {offsetof(struct trace_block, raw_bytes), 4, UINT32_MAX, "header is wrong"},
        {offsetof(struct trace_block, raw_bytes), 4, 16, "does not decompress"},
        {offsetof(struct trace_block, raw_bytes), 4, 32u << 20, "columns do not make records"},
        {offsetof(struct trace_block, stored_bytes), 4, 1u << 20, "the file ends inside it"},
        {offsetof(struct trace_block, stored_bytes), 4, 8, "checksum is wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *bytes = copy_bytes(&f->bytes, f->bytes.length_bytes);
        header_change(bytes + f->begin[2], cases[i].at, cases[i].value, cases[i].width_bytes);
        struct trace_reader *r =
            trace_reader_open_bytes(bytes, f->bytes.length_bytes, "lie.lmt", NULL);
        assert_int_equal(read_all(f, r) & 1u << 2, 0);
        if (!cases[i].what)
            assert_int_equal(trace_reader_damage_count(r), 0);
        else if (!strstr(trace_reader_damage(r, 0).text, cases[i].what))
            fail_msg("case %zu: %s", i, trace_reader_damage(r, 0).text);
        trace_reader_close(&r);
        free(bytes);
    }
}

static void test_a_file_of_damage_stays_bounded(void **state)
{
    (void)state;
    const size_t length_bytes = 300000;
    uint8_t *bytes = calloc(1, length_bytes);
    const struct trace_file file = {.magic = TRACE_FILE_MAGIC, .version = TRACE_FILE_VERSION};
    struct trace_block_view block;
    memcpy(bytes, &file, sizeof file);
    for (size_t at = sizeof file; at + 64 <= length_bytes; at += 64) {
        const struct trace_block h = {
            .magic = TRACE_BLOCK_MAGIC, .type = 1, .coding = 1, .raw_bytes = 5};
        memcpy(bytes + at, &h, sizeof h);
        header_change(bytes + at, offsetof(struct trace_block, pid), at, 4);
    }
    struct trace_reader *r = trace_reader_open_bytes(bytes, length_bytes, "noise.lmt", NULL);
    assert_int_equal(trace_reader_next(r, &block), 0);
    assert_int_equal(trace_reader_damage_count(r), 1000);
    assert_non_null(strstr(trace_reader_damage_text(r), "4684 more places"));
    trace_reader_close(&r);
    free(bytes);
}

static void test_selected_types_only(void **state)
{
    const struct fixture *f = *state;
    struct trace_block_view block;
    struct trace_reader *r = trace_reader_open(f->path, NULL);
    trace_reader_select(r, 1u << TRACE_BLOCK_PROCESS);
    assert_int_equal(trace_reader_next(r, &block), 1);
    assert_int_equal(block.id.type, TRACE_BLOCK_PROCESS);
    assert_int_equal(trace_reader_next(r, &block), 0);
    assert_int_equal(trace_reader_is_cut(r), 0);
    trace_reader_close(&r);
}

// In a child process, because the limit cannot be taken back: a file that may not grow is like a
// full disk. The block that did not fit leaves nothing, and a smaller one fits.
static int full_disk_child(const char *path)
{
    struct err e = {0};
    struct stream s = {.now_ticks = STREAM_START_TICKS};
    struct trace_block_view block;
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT, .pid = 1};
    const struct rlimit limit = {20000, 20000};
    struct trace_pack *p = stream_trace_begin(path, &e);
    signal(SIGXFSZ, SIG_IGN);
    stream_thread(&s, 7, 5000, 5);
    if (!p || setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 1;
    const uint64_t before_bytes = trace_pack_file_bytes(p);
    if (trace_pack_block(p, &id, s.bytes.at, s.bytes.length_bytes, &e) == 0 ||
        !strstr(err_text(&e), "free some space"))
        return 2;
    struct stat st;
    if (stat(trace_pack_part_path(p), &st) < 0 || (uint64_t)st.st_size != before_bytes)
        return 3;
    if (trace_pack_block(p, &id, s.bytes.at, 32, &e) < 0 || trace_pack_commit(&p, &e) < 0)
        return 4;
    struct trace_reader *r = trace_reader_open(path, &e);
    unsigned blocks = 0;
    while (r && trace_reader_next(r, &block))
        blocks++;
    const int is_right = r && blocks == 3 && trace_reader_damage_count(r) == 0;
    trace_reader_close(&r);
    buf_fini(&s.bytes);
    return is_right ? 0 : 5;
}

static void test_a_full_disk_leaves_whole_blocks(void **state)
{
    const struct fixture *f = *state;
    char path[160];
    int status;
    snprintf(path, sizeof path, "%s/full.lmt", f->folder);
    const pid_t child = fork();
    if (child == 0)
        _exit(full_disk_child(path));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_places_that_cannot_be_written(void **state)
{
    const struct fixture *f = *state;
    struct err e = {0};
    char path[160];
    assert_null(trace_pack_create("/nonexistent/folder/a.lmt", 0, &e));
    assert_non_null(strstr(err_text(&e), "/nonexistent/folder/a.lmt.part-"));
    assert_null(trace_pack_create(f->folder, 0, &e));
    assert_non_null(strstr(err_text(&e), "no file"));
    // The part of a killed run with the same pid is not overwritten.
    snprintf(path, sizeof path, "%s/two.lmt", f->folder);
    struct trace_pack *first = trace_pack_create(path, 0, &e);
    struct trace_pack *second = trace_pack_create(path, 0, &e);
    assert_non_null(first);
    assert_non_null(second);
    assert_string_not_equal(trace_pack_part_path(first), trace_pack_part_path(second));
    trace_pack_abort(&first);
    trace_pack_abort(&second);
    assert_null(second);
    assert_int_equal(access(path, F_OK), -1);
}

// The trace that the first version wrote stays readable for ever.
static void test_the_trace_of_version_1_is_read(void **state)
{
    (void)state;
    struct err e = {0};
    struct trace_check check;
    if (trace_check_file(TESTS_SOURCE_DIR "/fixtures/trace-v1.lmt", &check, &e) < 0)
        fail_msg("%s", err_text(&e));
    assert_string_equal(buf_text(&check.text), "");
    assert_int_equal(check.findings, 0);
    assert_int_equal(check.blocks, 7);
    assert_int_equal(check.processes, 1);
    assert_int_equal(check.threads, 2);
    assert_int_equal(check.spans, 49);
    assert_int_equal(check.folds, 1);
    assert_int_equal(check.samples, 30);
    assert_int_equal(check.dropped_records, 4);
    assert_int_equal(check.is_cut, 0);
    trace_check_fini(&check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_trace_is_read),
        cmocka_unit_test(test_records_come_back),
        cmocka_unit_test(test_a_trace_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(test_any_changed_byte_costs_its_block_only),
        cmocka_unit_test(test_messages_say_what_to_do),
        cmocka_unit_test(test_lying_headers_are_caught),
        cmocka_unit_test(test_a_file_of_damage_stays_bounded),
        cmocka_unit_test(test_selected_types_only),
        cmocka_unit_test(test_a_full_disk_leaves_whole_blocks),
        cmocka_unit_test(test_places_that_cannot_be_written),
        cmocka_unit_test(test_the_trace_of_version_1_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
