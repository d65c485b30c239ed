// SPDX-License-Identifier: Apache-2.0
// JSON lines, written directly: the numbers are few and plain.
// Called by main.c for each photograph. Does not flush and does not look at errors of the stream.
// Threads: one at a time per stream.
#include "ocr/lines.h"

#include "base/utf8.h"

#include <string.h>

static void print_string(FILE *out, const char *string)
{
    size_t left_bytes = strlen(string);
    putc('"', out);
    while (left_bytes > 0) {
        uint32_t point = 0;
        size_t length_bytes = utf8_decode(string, left_bytes, &point);
        if (length_bytes == 0)
            fputs("\\ufffd", out);
        else if (point == '"' || point == '\\')
            fprintf(out, "\\%c", (int)point);
        else if (point < 0x20)
            fprintf(out, "\\u%04x", point);
        else
            fwrite(string, 1, length_bytes, out);
        string += length_bytes ? length_bytes : 1;
        left_bytes -= length_bytes ? length_bytes : 1;
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
