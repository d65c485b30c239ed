// SPDX-License-Identifier: Apache-2.0
// Finds text in photographs: read, decode, resize and normalise, run the network, turn its map into
// boxes, print. One photograph after the other, as such programs are written first. An ordinary
// program: it knows nothing of Lightmeter. Threads: its own code runs on one.
#include "base/err.h"
#include "ocr/boxes.h"
#include "ocr/detector.h"
#include "ocr/lines.h"
#include "ocr/options.h"
#include "ocr/prepare.h"
#include "photo/photo.h"

#include <errno.h>
#include <stdio.h>

// Nothing could be done; photographs were skipped.
enum { EXIT_UNUSABLE = 2, EXIT_SKIPPED = 1 };

static int detect(struct detector *detector, struct tensor *input, const struct photo_image *photo,
    const struct options *options, const char *path, struct err *e)
{
    struct text_map map;
    struct box_list list;
    if (prepare_photo(input, photo, options->limit_side_px, e) < 0 ||
        detector_run(detector, input, &map, e) < 0 ||
        boxes_find(&list, &map, photo->width_px, photo->height_px, e) < 0)
        return -1;
    lines_print(stdout, path, photo, &list);
    boxes_fini(&list);
    return 0;
}

// -1: this photograph is skipped, with a message. -2: the run cannot go on.
static int do_photo(struct detector *detector, struct tensor *input, const struct options *options,
    const char *path, struct err *e)
{
    struct photo_bytes bytes;
    struct photo_image photo;
    if (photo_bytes_read(&bytes, path, e) < 0)
        return -1;
    int result = photo_image_decode(&photo, &bytes, path, e);
    photo_bytes_fini(&bytes);
    if (result < 0)
        return -1;
    result = detect(detector, input, &photo, options, path, e) < 0 ? -2 : 0;
    photo_image_fini(&photo);
    return result;
}

// Returns how many photographs were skipped, or -1 when the run could not go on.
static long do_all(struct detector *detector, const struct options *options, struct err *e)
{
    struct tensor input = {0};
    long skipped = 0;
    int result = 0;
    for (uint32_t pass = 0; pass < options->repeat && result > -2; pass++) {
        for (size_t i = 0; i < options->photos.count && result > -2; i++) {
            result = do_photo(detector, &input, options, options->photos.paths[i], e);
            if (result == -1) {
                fprintf(stderr, "ocr: skipped: %s\n", err_text(e));
                skipped++;
            }
        }
    }
    prepare_fini(&input);
    if (result > -2 && (fflush(stdout) != 0 || ferror(stdout))) {
        err_set_errno(e, errno, "cannot write the output; is the disk full?");
        return -1;
    }
    return result == -2 ? -1 : skipped;
}

static int run(const struct options *options, struct err *e)
{
    struct detector_options wanted = {
        .library_path = options->library_path,
        .model_path = options->model_path,
        .threads = options->threads,
    };
    struct detector *detector = detector_open(&wanted, e);
    if (!detector)
        return EXIT_UNUSABLE;
    long skipped = do_all(detector, options, e);
    detector_close(&detector);
    if (skipped > 0)
        fprintf(stderr, "ocr: %ld of %zu photographs were skipped; they are listed above\n",
            skipped, options->photos.count * options->repeat);
    return skipped < 0 ? EXIT_UNUSABLE : skipped > 0 ? EXIT_SKIPPED : 0;
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
        fprintf(stderr, "ocr: %s\n", err_text(&e));
    options_fini(&options);
    return status;
}
