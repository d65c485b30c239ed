// SPDX-License-Identifier: Apache-2.0
// Fuzzes what reads a trace: the reader, the records, the checker and the dump, on any bytes. With
// a repaired copy too: block headers get right sums, so that what lies behind the sums is reached.
// Built with libFuzzer (option `fuzz`) or with corpus_main.c. Threads: one.
#include "repair.h"

#include "trace/check.h"
#include "trace/dump.h"
#include "trace/planes.h"
#include "trace/reader.h"
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length_bytes);

static int drop_text(void *context, const char *text, size_t length_bytes)
{
    size_t *left_bytes = context;
    (void)text;
    *left_bytes -= length_bytes < *left_bytes ? length_bytes : *left_bytes;
    return *left_bytes == 0;
}

static void read_all(const uint8_t *bytes, size_t length_bytes)
{
    struct err e = {0};
    struct trace_block_view block;
    struct trace_reader *r = trace_reader_open_bytes(bytes, length_bytes, "input", &e);
    if (!r) {
        if (!e.text[0])
            abort(); // a refusal without a message
        return;
    }
    while (trace_reader_next(r, &block)) {
        struct trace_cursor c = {.at = block.bytes, .length_bytes = block.length_bytes};
        struct trace_record record;
        char fault[128];
        int more;
        while ((more = trace_records_next(&c, &record)) > 0)
            if (record.kind == TRACE_TEXT)
                for (unsigned i = 0; i < 5; i++)
                    (void)trace_text_field(record.text, i);
        if (more < 0)
            trace_reader_report(r, c.offset_bytes, trace_records_fault(&c, fault, sizeof fault));
    }
    (void)trace_reader_damage_text(r);
    trace_reader_close(&r);
}

static void check_and_dump(const uint8_t *bytes, size_t length_bytes)
{
    const struct trace_dump_options options = {.record_limit = 1000};
    struct trace_check check;
    struct err e = {0};
    size_t left_bytes = 1u << 22;
    (void)trace_check_bytes(bytes, length_bytes, "input", &check, &e);
    trace_check_fini(&check);
    (void)trace_dump_bytes(bytes, length_bytes, "input", &options, drop_text, &left_bytes, &e);
}

// The bytes as records: what can be coded in planes must come back.
static void planes_check(const uint8_t *bytes, size_t length_bytes)
{
    struct planes *p = planes_new();
    struct planes_output out;
    uint8_t *records = malloc(length_bytes + 1), *copy = malloc(planes_limit_bytes(length_bytes));
    uint8_t *back = malloc(length_bytes + 1);
    memcpy(records, bytes, length_bytes);
    if (planes_encode(p, records, length_bytes, &out) == 1) {
        memcpy(copy, out.bytes, out.length_bytes);
        if (planes_decode(p, copy, out.length_bytes, back, length_bytes) < 0 ||
            memcmp(back, records, length_bytes) != 0)
            abort();
    }
    (void)planes_decode(p, bytes, length_bytes, back, length_bytes / 16 * 16);
    free(records);
    free(copy);
    free(back);
    planes_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length_bytes)
{
    uint8_t *copy = malloc(length_bytes + 1);
    read_all(bytes, length_bytes);
    memcpy(copy, bytes, length_bytes);
    repair_trace(copy, length_bytes);
    check_and_dump(copy, length_bytes);
    free(copy);
    planes_check(bytes, length_bytes);
    return 0;
}
