// SPDX-License-Identifier: Apache-2.0
// JSON lines, written directly: the numbers are few and plain.
// Called by main.c for each photograph. Does not flush and does not look at errors of the stream.
// Threads: one at a time per stream.
#include "ocr/lines.h"

// The length of the UTF-8 sequence at `text`, 0 when it is none. Takes the shape of a sequence for
// good, but for the overlong ones of two bytes.
static size_t sequence_bytes(const unsigned char *text)
{
    size_t length_bytes = text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    if (text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length_bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length_bytes;
}

static void print_string(FILE *out, const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    putc('"', out);
    while (*text) {
        size_t length_bytes = *text < 0x80 ? 1 : sequence_bytes(text);
        if (length_bytes == 0)
            fputs("\\ufffd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            fwrite(text, 1, length_bytes, out);
        text += length_bytes ? length_bytes : 1;
    }
    putc('"', out);
}

void lines_print(
    FILE *out, const char *path, const struct photo_image *photo, const struct box_list *list)
{
    fputs("{\"photo\":", out);
    print_string(out, path);
    fprintf(out, ",\"width\":%u,\"height\":%u,\"boxes\":[", photo->width_px, photo->height_px);
    for (size_t i = 0; i < list->count; i++) {
        const struct box *box = &list->boxes[i];
        fprintf(out, "%s{\"score\":%.3f,\"points\":[", i ? "," : "", (double)box->score);
        for (size_t k = 0; k < 4; k++)
            fprintf(out, "%s[%d,%d]", k ? "," : "", box->x_px[k], box->y_px[k]);
        fputs("]}", out);
    }
    fputs("]}\n", out);
}
