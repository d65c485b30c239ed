// SPDX-License-Identifier: Apache-2.0
// Small pictures of photographs, by a pipeline of threads and bounded queues that carries
// Lightmeter's marks. It runs the same without Lightmeter: the marks then do nothing.
// Threads: see pipeline.c.
#include "base/err.h"
#include "threads/options.h"
#include "threads/pipeline.h"

#include <errno.h>
#include <stdio.h>

// Nothing could be done; photographs were skipped.
enum { EXIT_UNUSABLE = 2, EXIT_SKIPPED = 1 };

static int run(const struct options *options, struct err *e)
{
    long skipped = pipeline_run(options, e);
    if (skipped < 0)
        return EXIT_UNUSABLE;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        err_set_errno(e, errno, "cannot write the output; is the disk full?");
        return EXIT_UNUSABLE;
    }
    if (skipped > 0)
        fprintf(stderr, "threads: %ld of %zu photographs were skipped; they are listed above\n",
            skipped, options->photos.count * options->repeat);
    return skipped > 0 ? EXIT_SKIPPED : 0;
}

int main(int argc, char **argv)
{
    struct err e = {{0}};
    struct options options;
    int status = EXIT_UNUSABLE;
    if (options_parse(&options, argc, argv, &e) == 0) {
        if (options.help) {
            fputs(options_usage, stdout);
            status = 0;
        } else {
            status = run(&options, &e);
        }
    }
    if (status == EXIT_UNUSABLE)
        fprintf(stderr, "threads: %s\n", err_text(&e));
    options_fini(&options);
    return status;
}
