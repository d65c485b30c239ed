// SPDX-License-Identifier: Apache-2.0
// Reading small kernel files and picking values from them. Called by os_host.c, os_cgroup.c and
// os_process.c. Does not report errors: absence is ordinary there. Threads: no shared state.
#include "base/os_text.h"

#include "base/file.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MOST (4u << 20)

int os_text_read(const char *root, const char *path, struct buf *out)
{
    struct buf whole = {0};
    out->length_bytes = 0;
    if (out->at)
        out->at[0] = 0;
    buf_puts(&whole, root);
    buf_puts(&whole, path);
    int result = file_read(buf_text(&whole), FILE_BYTES_MOST, out, NULL);
    buf_fini(&whole);
    return result;
}

// Copies up to the end of the line, without blanks around it.
static void copy_line(const char *from, char *out, size_t out_bytes)
{
    from += strspn(from, " \t");
    size_t length = strcspn(from, "\n");
    while (length && (from[length - 1] == ' ' || from[length - 1] == '\t'))
        length--;
    length = length < out_bytes ? length : out_bytes - 1;
    memcpy(out, from, length);
    out[length] = 0;
}

void os_text_line(const char *root, const char *path, char *out, size_t out_bytes)
{
    struct buf text = {0};
    os_text_read(root, path, &text);
    copy_line(buf_text(&text), out, out_bytes);
    buf_fini(&text);
}

int os_text_field(const char *text, const char *key, char *out, size_t out_bytes)
{
    size_t length = strlen(key);
    out[0] = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at == ':')
            at++;
        else if (at == line + length)
            continue; // a longer key
        copy_line(at, out, out_bytes);
        return 0;
    }
    return -1;
}

int os_text_number(const char *text, const char *key, uint64_t *value)
{
    char field[64];
    if (os_text_field(text, key, field, sizeof field) != 0)
        return -1;
    field[strcspn(field, " \t")] = 0;
    return number_parse_uint(field, value);
}

int os_text_numbers(const char *text, uint64_t *values, int most)
{
    int count = 0;
    while (count < most) {
        char word[32];
        text += strspn(text, " \t\n");
        size_t length = strcspn(text, " \t\n");
        if (!length || length >= sizeof word)
            break;
        memcpy(word, text, length);
        word[length] = 0;
        if (number_parse_uint(word, &values[count]) != 0)
            break;
        text += length;
        count++;
    }
    return count;
}
