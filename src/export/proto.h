// SPDX-License-Identifier: Apache-2.0
// Protocol-buffer fields appended to a byte string: enough of the wire format to write messages,
// none of its libraries. Used by the Perfetto exporter. Threads: one owner.
#ifndef LIGHTMETER_EXPORT_PROTO_H
#define LIGHTMETER_EXPORT_PROTO_H

#include "base/buf.h"

#include <stdint.h>

void proto_varint(struct buf *b, uint32_t field, uint64_t value);
void proto_fixed64(struct buf *b, uint32_t field, uint64_t value);
void proto_double(struct buf *b, uint32_t field, double value);
void proto_bytes(struct buf *b, uint32_t field, const void *bytes, size_t length_bytes);
void proto_text(struct buf *b, uint32_t field, const char *text); // broken UTF-8 is repaired

// A message within a message: what is in `message`, which is emptied.
void proto_message(struct buf *b, uint32_t field, struct buf *message);

#endif
