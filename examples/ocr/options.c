// SPDX-License-Identifier: Apache-2.0
// Parses the command line with getopt_long. Called by main.c at the start.
// Does not open the model or the photographs.
// Threads: getopt keeps its state in globals; call once.
#include "ocr/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

const char options_usage[] =
    "usage: ocr [--limit-side N] [--threads N] [--repeat N] [--onnxruntime PATH]\n"
    "           MODEL.onnx PHOTO...|FOLDER...\n"
    "Finds text in JPEG photographs: prints one line of JSON with its boxes for each of them.\n"
    "  --limit-side N      longest side given to the network, 32 to 4096 (736)\n"
    "  --threads N         threads the network computes on, 1 to 256 (ONNX Runtime's choice)\n"
    "  --repeat N          go through the photographs N times (1)\n"
    "  --onnxruntime PATH  ONNX Runtime's library, or the folder it is in\n"
    "Exit status: 0, 1 when photographs were skipped, 2 when nothing could be done.\n";

// Every number it takes begins at a minimum above 0.
static int parse_number(
    uint32_t *out, const char *option, const char *text, uint32_t low, uint32_t high, struct err *e)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < low || value > high)
        return err_set(e, "%s %s: give a whole number from %u to %u", option, text, low, high);
    *out = (uint32_t)value;
    return 0;
}

static int parse_option(struct options *options, int option, struct err *e)
{
    uint32_t threads = 0;
    switch (option) {
    case 'l':
        return parse_number(&options->limit_side_px, "--limit-side", optarg, 32, 4096, e);
    case 't':
        if (parse_number(&threads, "--threads", optarg, 1, 256, e) < 0)
            return -1;
        options->threads = (int)threads;
        return 0;
    case 'r':
        return parse_number(&options->repeat, "--repeat", optarg, 1, 1000000, e);
    case 'o':
        options->library_path = optarg;
        return 0;
    case 'h':
        options->help = 1;
        return 0;
    default:
        return err_set(e, "that command line is not understood; see ocr --help");
    }
}

int options_parse(struct options *options, int argc, char **argv, struct err *e)
{
    static const struct option known[] = {
        {"limit-side", required_argument, NULL, 'l'},
        {"threads", required_argument, NULL, 't'},
        {"repeat", required_argument, NULL, 'r'},
        {"onnxruntime", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){.limit_side_px = 736, .repeat = 1};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1)
        if (parse_option(options, option, e) < 0 || options->help)
            return options->help ? 0 : -1;
    if (argc - optind < 2)
        return err_set(e, "name a model and at least one photograph or folder; see ocr --help");
    options->model_path = argv[optind];
    for (int i = optind + 1; i < argc; i++)
        if (photo_list_add(&options->photos, argv[i], e) < 0)
            return -1;
    return 0;
}

void options_fini(struct options *options)
{
    photo_list_fini(&options->photos);
}
