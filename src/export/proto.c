// SPDX-License-Identifier: Apache-2.0
// Protocol-buffer fields. Called by the Perfetto exporter. Threads: one owner.
#include "export/proto.h"

#include "base/utf8.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_varint(struct buf *b, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
        count++;
    } while (value);
    buf_add(b, bytes, count);
}

static void put_tag(struct buf *b, uint32_t field, enum wire wire)
{
    put_varint(b, (uint64_t)field << 3 | (uint64_t)wire);
}

void proto_varint(struct buf *b, uint32_t field, uint64_t value)
{
    put_tag(b, field, WIRE_VARINT);
    put_varint(b, value);
}

void proto_fixed64(struct buf *b, uint32_t field, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    put_tag(b, field, WIRE_FIXED64);
    buf_add(b, bytes, sizeof bytes);
}

void proto_double(struct buf *b, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_fixed64(b, field, bits);
}

void proto_bytes(struct buf *b, uint32_t field, const void *bytes, size_t length_bytes)
{
    put_tag(b, field, WIRE_BYTES);
    put_varint(b, length_bytes);
    buf_add(b, bytes, length_bytes);
}

void proto_text(struct buf *b, uint32_t field, const char *text)
{
    const size_t length_bytes = strlen(text);
    struct buf repaired = {0};
    if (utf8_is_valid(text, length_bytes)) {
        proto_bytes(b, field, text, length_bytes);
        return;
    }
    utf8_repair(text, length_bytes, &repaired);
    proto_bytes(b, field, buf_text(&repaired), repaired.length_bytes);
    buf_fini(&repaired);
}

void proto_message(struct buf *b, uint32_t field, struct buf *message)
{
    proto_bytes(b, field, message->at, message->length_bytes);
    message->length_bytes = 0;
}
