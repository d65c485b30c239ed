// SPDX-License-Identifier: Apache-2.0
// Writes the small trace of the tests to a file, or all fuzz seeds into a folder. Run by hand when
// the format changes: the fixture of an old version is never written again. Threads: one.
#include "stream.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

// Writes a damaged variant of the trace: `cut_bytes` of it, the byte at `change` flipped.
static int variant_write(const struct buf *trace, const char *folder, const char *name,
    size_t cut_bytes, size_t change, struct err *e)
{
    struct buf path = {0}, copy = {0};
    buf_printf(&path, "%s/%s.lmt", folder, name);
    buf_add(&copy, trace->at, cut_bytes);
    if (change < copy.length_bytes)
        copy.at[change] = (char)(copy.at[change] ^ 0x55);
    const int result = file_write(buf_text(&path), copy.at, copy.length_bytes, e);
    buf_fini(&path);
    buf_fini(&copy);
    return result;
}

static int seeds_write(const char *folder, struct err *e)
{
    struct buf path = {0}, trace = {0};
    buf_printf(&path, "%s/whole.lmt", folder);
    int result = stream_trace_write(buf_text(&path), e);
    if (result == 0)
        result = file_read(buf_text(&path), 1u << 20, &trace, e);
    const size_t all_bytes = trace.length_bytes;
    if (result == 0)
        result = variant_write(&trace, folder, "header-only", 32, all_bytes, e) |
                 variant_write(&trace, folder, "cut", all_bytes / 2, all_bytes, e) |
                 variant_write(&trace, folder, "version", all_bytes, 8, e) |
                 variant_write(&trace, folder, "block-header", all_bytes, 40, e) |
                 variant_write(&trace, folder, "payload", all_bytes, all_bytes / 2, e);
    buf_fini(&path);
    buf_fini(&trace);
    return result;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc == 3 && strcmp(argv[1], "seeds") == 0 && seeds_write(argv[2], &e) == 0)
        return 0;
    if (argc == 3 && strcmp(argv[1], "trace") == 0 && stream_trace_write(argv[2], &e) == 0)
        return 0;
    fprintf(stderr, "%s\nusage: make_trace trace FILE | make_trace seeds FOLDER\n", err_text(&e));
    return 2;
}
