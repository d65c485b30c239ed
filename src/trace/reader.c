// SPDX-License-Identifier: Apache-2.0
// The reader of packed traces: walks block headers in a mapping, verifies sums, decodes, and finds
// its way again behind damage. Called by everything that reads a trace. Does not look into records.
// Threads: one owner.
#include "trace/reader.h"

#include "trace/codec.h"
#include "trace/hash.h"
#include "trace/planes.h"
#include "trace/reader_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// More than the longest content can take: a header that says more is wrong.
#define STORED_LIMIT_BYTES (TRACE_BLOCK_RAW_LIMIT_BYTES + (1u << 20))

static int file_header_check(struct trace_reader *r, struct err *e)
{
    const char *name = buf_text(&r->name);
    if (r->length_bytes == 0)
        return err_set(e, "%s is empty: no trace was written to it; record the run again", name);
    if (r->length_bytes >= 8)
        memcpy(&r->file.magic, r->bytes, 8);
    if (r->file.magic != TRACE_FILE_MAGIC)
        return err_set(e,
            "%s is not a Lightmeter trace (its first bytes are not those of one); "
            "give a file that `lightmeter run -o FILE` wrote",
            name);
    if (r->length_bytes < sizeof r->file)
        return err_set(e,
            "%s is cut at byte %zu, inside its header: nothing can be read from it; "
            "record the run again",
            name, r->length_bytes);
    memcpy(&r->file, r->bytes, sizeof r->file);
    if (r->file.version > TRACE_FILE_VERSION)
        return err_set(e,
            "%s was written by a newer Lightmeter (trace version %u, this one reads "
            "versions up to %u); read it with the Lightmeter that wrote it, or "
            "install a newer one",
            name, r->file.version, TRACE_FILE_VERSION);
    if (r->file.version == 0)
        return err_set(
            e, "%s is damaged at byte 8: there is no trace version 0; record the run again", name);
    if (r->file.features)
        return err_set(e,
            "%s needs features that this Lightmeter does not have (bits 0x%x of "
            "trace version %u); read it with the Lightmeter that wrote it, or "
            "install a newer one",
            name, r->file.features, r->file.version);
    return 0;
}

// Checks the header and gets the decoders ready; consumes `r` on failure.
static struct trace_reader *begin(struct trace_reader *r, struct err *e)
{
    if (file_header_check(r, e) < 0) {
        trace_reader_close(&r);
        return NULL;
    }
    r->codec = codec_new();
    r->planes = planes_new();
    if (!r->codec || !r->planes) {
        err_set(e, "out of memory while opening %s; close other programs", buf_text(&r->name));
        trace_reader_close(&r);
        return NULL;
    }
    r->types = ~0u;
    trace_reader_rewind(r);
    return r;
}

static struct trace_reader *make(const char *name, struct err *e)
{
    struct trace_reader *r = calloc(1, sizeof *r);
    if (!r)
        err_set(e, "out of memory while opening %s; close other programs", name);
    else
        buf_puts(&r->name, name);
    return r;
}

struct trace_reader *trace_reader_open(const char *path, struct err *e)
{
    struct trace_reader *r = make(path, e);
    if (!r)
        return NULL;
    if (file_map_open(path, &r->map, e) < 0) {
        trace_reader_close(&r);
        return NULL;
    }
    r->is_mapped = 1;
    r->bytes = r->map.at;
    r->length_bytes = r->map.length_bytes;
    return begin(r, e);
}

struct trace_reader *trace_reader_open_bytes(
    const void *bytes, size_t length_bytes, const char *name, struct err *e)
{
    struct trace_reader *r = make(name, e);
    if (!r)
        return NULL;
    r->bytes = bytes;
    r->length_bytes = length_bytes;
    return begin(r, e);
}

void trace_reader_close(struct trace_reader **r)
{
    if (!r || !*r)
        return;
    trace_reader_damage_clear(*r);
    codec_free(&(*r)->codec);
    planes_free(&(*r)->planes);
    if ((*r)->is_mapped)
        file_map_close(&(*r)->map);
    free((*r)->raw);
    free((*r)->coded);
    buf_fini(&(*r)->name);
    free(*r);
    *r = NULL;
}

void trace_reader_rewind(struct trace_reader *r)
{
    trace_reader_damage_clear(r);
    r->offset_bytes = sizeof r->file;
    r->next_index = 0;
    r->has_summary = 0;
}

void trace_reader_select(struct trace_reader *r, unsigned types)
{
    r->types = types;
}

// The block header at `offset`, if one is there whole and right.
static int header_read(const struct trace_reader *r, size_t offset_bytes, struct trace_block *h)
{
    if (r->length_bytes - offset_bytes < sizeof *h)
        return -1;
    memcpy(h, r->bytes + offset_bytes, sizeof *h);
    if (h->magic != TRACE_BLOCK_MAGIC ||
        h->header_hash != trace_hash(h, offsetof(struct trace_block, header_hash)))
        return -1;
    if (h->raw_bytes > TRACE_BLOCK_RAW_LIMIT_BYTES || h->stored_bytes > STORED_LIMIT_BYTES)
        return -1;
    return 0;
}

// Where the next right header begins, behind `offset`; the end of the file when there is none.
static size_t header_search(const struct trace_reader *r, size_t offset_bytes)
{
    const uint32_t magic = TRACE_BLOCK_MAGIC;
    struct trace_block h;
    size_t at = offset_bytes;
    while (at < r->length_bytes) {
        const uint8_t *hit = memmem(r->bytes + at, r->length_bytes - at, &magic, sizeof magic);
        if (!hit)
            break;
        at = (size_t)(hit - r->bytes);
        if (header_read(r, at, &h) == 0)
            return at;
        at++;
    }
    return r->length_bytes;
}

// A buffer of at least `length_bytes`, aligned to 16.
static void *room_get(void **room, size_t *room_bytes, size_t length_bytes)
{
    if (*room && length_bytes <= *room_bytes)
        return *room;
    free(*room);
    *room_bytes = length_bytes + 64;
    *room = malloc(*room_bytes);
    return *room;
}

// Decodes the stored bytes into r->raw. NULL, or what is wrong with them.
static const char *content_decode(
    struct trace_reader *r, const struct trace_block *h, const uint8_t *stored)
{
    if (trace_hash(stored, h->stored_bytes) != h->payload_hash)
        return "its checksum is wrong";
    if (h->coding != TRACE_CODING_ZSTD && h->coding != TRACE_CODING_PLANES_ZSTD)
        return "its coding is unknown: a newer Lightmeter may have written it";
    void *raw = room_get(&r->raw, &r->raw_room_bytes, h->raw_bytes);
    if (!raw)
        return "memory is out";
    if (h->coding == TRACE_CODING_ZSTD)
        return codec_decompress(r->codec, stored, h->stored_bytes, raw, h->raw_bytes) ==
                       (int64_t)h->raw_bytes
                   ? NULL
                   : "it does not decompress";
    const size_t limit_bytes = planes_limit_bytes(h->raw_bytes);
    void *coded = room_get(&r->coded, &r->coded_room_bytes, limit_bytes);
    if (!coded)
        return "memory is out";
    const int64_t coded_bytes =
        codec_decompress(r->codec, stored, h->stored_bytes, coded, limit_bytes);
    if (coded_bytes < 0)
        return "it does not decompress";
    if (planes_decode(r->planes, coded, (size_t)coded_bytes, raw, h->raw_bytes) < 0)
        return "its columns do not make records";
    return NULL;
}

static void view_fill(
    struct trace_reader *r, const struct trace_block *h, struct trace_block_view *block)
{
    *block = (struct trace_block_view){
        .id = {.type = (enum trace_block_type)h->type,
            .pid = h->pid,
            .tid = h->tid,
            .image_ticks = h->image_ticks,
            .thread_seq = h->thread_seq,
            .segment_seq = h->segment_seq,
            .part = h->part},
        .bytes = r->raw,
        .length_bytes = h->raw_bytes,
        .index = r->next_index,
        .offset_bytes = r->offset_bytes,
        .stored = r->bytes + r->offset_bytes,
        .stored_bytes = sizeof *h + h->stored_bytes,
        .coding = (enum trace_block_coding)h->coding,
    };
    r->last_index = r->next_index;
    r->last_offset_bytes = r->offset_bytes;
}

// The block whose header begins at r->offset_bytes. 1 when it is given, 0 when it is passed over;
// moves on in both cases.
static int block_take(struct trace_reader *r, struct trace_block_view *block)
{
    struct trace_block h;
    const size_t left_bytes = r->length_bytes - r->offset_bytes;
    size_t whole_bytes = left_bytes;
    const char *wrong = NULL;
    int is_given = 0;
    if (header_read(r, r->offset_bytes, &h) < 0) {
        whole_bytes = header_search(r, r->offset_bytes + 1) - r->offset_bytes;
        wrong = left_bytes < sizeof h ? "the file ends inside its header" : "its header is wrong";
    } else if (h.stored_bytes > left_bytes - sizeof h) {
        wrong = "the file ends inside it";
    } else {
        whole_bytes = sizeof h + h.stored_bytes;
        if (h.type >= TRACE_BLOCK_META && h.type <= TRACE_BLOCK_SUMMARY &&
            (r->types >> h.type & 1u)) {
            wrong = content_decode(r, &h, r->bytes + r->offset_bytes + sizeof h);
            is_given = !wrong;
        }
    }
    if (wrong)
        trace_reader_damage_add(r, r->offset_bytes, whole_bytes, r->next_index, wrong);
    if (is_given)
        view_fill(r, &h, block);
    if (!wrong)
        r->has_summary |= h.type == TRACE_BLOCK_SUMMARY;
    r->offset_bytes += whole_bytes;
    r->next_index++;
    return is_given;
}

int trace_reader_next(struct trace_reader *r, struct trace_block_view *block)
{
    while (r->offset_bytes < r->length_bytes)
        if (block_take(r, block))
            return 1;
    return 0;
}

int trace_reader_is_cut(const struct trace_reader *r)
{
    return !r->has_summary;
}

const struct trace_file *trace_reader_file(const struct trace_reader *r)
{
    return &r->file;
}

uint64_t trace_reader_file_bytes(const struct trace_reader *r)
{
    return r->length_bytes;
}
