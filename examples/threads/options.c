// SPDX-License-Identifier: Apache-2.0
// Parses the command line with getopt_long. Called by main.c at the start.
// Does not open the photographs; looks whether the folder to write to is one.
// Threads: getopt keeps its state in globals; call once.
#include "threads/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>

const char options_usage[] =
    "usage: threads [--decoders N] [--queue N] [--side N] [--repeat N] [--out FOLDER]\n"
    "               PHOTO...|FOLDER...\n"
    "Makes small pictures of JPEG photographs: prints each one's sizes and checksum.\n"
    "  --decoders N   decoder threads, 1 to 256 (2)\n"
    "  --queue N      photographs that each queue holds, 1 to 4096 (4)\n"
    "  --side N       longer side of the small pictures, 1 to 4096 (320)\n"
    "  --repeat N     go through the photographs N times (1)\n"
    "  --out FOLDER   also write the small pictures there, as PPM\n"
    "Exit status: 0, 1 when photographs were skipped, 2 when nothing could be done.\n";

static int parse_number(uint32_t *out, const char *option, uint32_t high, struct err *e)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(optarg, &end, 10);
    if (errno || end == optarg || *end || optarg[0] == '-' || value < 1 || value > high)
        return err_set(e, "%s %s: give a whole number from 1 to %u", option, optarg, high);
    *out = (uint32_t)value;
    return 0;
}

static int parse_size(size_t *out, const char *option, uint32_t high, struct err *e)
{
    uint32_t value = 0;
    int result = parse_number(&value, option, high, e);
    *out = value;
    return result;
}

static int parse_folder(const char **out, struct err *e)
{
    struct stat info;
    if (stat(optarg, &info) < 0)
        return err_set_errno(e, errno, "--out %s: make that folder first", optarg);
    if (!S_ISDIR(info.st_mode))
        return err_set(e, "--out %s: that is no folder; name one", optarg);
    *out = optarg;
    return 0;
}

static int parse_option(struct options *options, int option, struct err *e)
{
    switch (option) {
    case 'd':
        return parse_size(&options->decoders, "--decoders", 256, e);
    case 'q':
        return parse_size(&options->queue, "--queue", 4096, e);
    case 's':
        return parse_number(&options->side_px, "--side", 4096, e);
    case 'r':
        return parse_number(&options->repeat, "--repeat", 1000000, e);
    case 'o':
        return parse_folder(&options->out_folder, e);
    case 'h':
        options->help = 1;
        return 0;
    default:
        return err_set(e, "that command line is not understood; see threads --help");
    }
}

int options_parse(struct options *options, int argc, char **argv, struct err *e)
{
    static const struct option known[] = {
        {"decoders", required_argument, NULL, 'd'},
        {"queue", required_argument, NULL, 'q'},
        {"side", required_argument, NULL, 's'},
        {"repeat", required_argument, NULL, 'r'},
        {"out", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){.decoders = 2, .queue = 4, .side_px = 320, .repeat = 1};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1)
        if (parse_option(options, option, e) < 0 || options->help)
            return options->help ? 0 : -1;
    if (optind == argc)
        return err_set(e, "name at least one photograph or folder; see threads --help");
    for (int i = optind; i < argc; i++)
        if (photo_list_add(&options->photos, argv[i], e) < 0)
            return -1;
    return 0;
}

void options_fini(struct options *options)
{
    photo_list_fini(&options->photos);
}
