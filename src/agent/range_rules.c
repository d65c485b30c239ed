// SPDX-License-Identifier: Apache-2.0
// Chooses what a named range is, see range_rules.h. Called when a name is seen first. Allocates
// nothing. Threads: no shared state.
#include "agent/range_rules.h"

#include "agent/config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// Words that a name may be or begin with, and the stage that it then is.
static const struct word {
    const char *text, *stage;
} words[] = {
    {"load", "load"},
    {"loading", "load"},
    {"receive", "receive"},
    {"receiving", "receive"},
    {"decode", "decode"},
    {"decoding", "decode"},
    {"convert", "convert"},
    {"converting", "convert"},
    {"preprocess", "preprocess"},
    {"preprocessing", "preprocess"},
    {"pre-process", "preprocess"},
    {"preproc", "preprocess"},
    {"transfer", "transfer"},
    {"infer", "infer"},
    {"inference", "infer"},
    {"postprocess", "postprocess"},
    {"postprocessing", "postprocess"},
    {"post-process", "postprocess"},
    {"postproc", "postprocess"},
    {"track", "track"},
    {"tracking", "track"},
    {"draw", "draw"},
    {"drawing", "draw"},
    {"encode", "encode"},
    {"encoding", "encode"},
    {"save", "save"},
    {"saving", "save"},
    {"send", "send"},
    {"sending", "send"},
    {"wait", "wait"},
    {"waiting", "wait"},
};

// Domains in which a library tells of its own insides begin so: that is not a step of the program.
static const char *const insides[] = {"NCCL", "cuDNN", "libcudnn", "cuBLAS", "cuBLASLt",
    "libcublas", "cuFFT", "cuSPARSE", "cuSOLVER", "cuRAND", "CUB", "CCCL", "Thrust", "libcudf",
    "librmm", "oneDNN", "dnnl", "tbb", "ittmessage", "Kokkos", "MKL", "OpenMP", "func$omp"};

// OpenCV's functions that are stages, as the hook sets have it; the others are part of what called
// them.
static const char opencv_domain[] = "OpenCVTrace";
static const struct word opencv[] = {
    {"cv::imread", "decode"},
    {"cv::imreadmulti", "decode"},
    {"cv::imdecode", "decode"},
    {"cv::imdecodemulti", "decode"},
    {"cv::imwrite", "encode"},
    {"cv::imwritemulti", "encode"},
    {"cv::imencode", "encode"},
    {"cv::cvtColor", "convert"},
    {"cv::cvtColorTwoPlane", "convert"},
    {"cv::resize", "preprocess"},
    {"cv::warpAffine", "preprocess"},
    {"cv::warpPerspective", "preprocess"},
    {"cv::remap", "preprocess"},
    {"cv::copyMakeBorder", "preprocess"},
    {"cv::GaussianBlur", "preprocess"},
    {"cv::medianBlur", "preprocess"},
    {"cv::bilateralFilter", "preprocess"},
    {"cv::equalizeHist", "preprocess"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

// Whether `text` is `word` or begins with it, in any case: "Decode", "decode image #".
static int begins(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncasecmp(text, word, length) == 0 && !is_letter(text[length]);
}

static const char *stage_of_word(const char *text)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (begins(text, words[i].text))
            return words[i].stage;
    return NULL;
}

static int is_inside(const char *domain)
{
    for (size_t i = 0; i < COUNT(insides); i++)
        if (begins(domain, insides[i]))
            return 1;
    return 0;
}

static struct range_choice as_stage(const char *stage, int is_own_name)
{
    return (struct range_choice){RANGE_STAGE, stage, is_own_name};
}

static struct range_choice as_rule(const char *word)
{
    if (strcmp(word, "ignore") == 0)
        return (struct range_choice){RANGE_IGNORE, "", 0};
    if (strcmp(word, "item") == 0)
        return (struct range_choice){RANGE_ITEM, "", 0};
    return as_stage(word, 0);
}

static struct range_choice of_opencv(const char *text)
{
    for (size_t i = 0; i < COUNT(opencv); i++)
        if (strcmp(text, opencv[i].text) == 0)
            return as_stage(opencv[i].stage, 0);
    return (struct range_choice){RANGE_IGNORE, "", 0};
}

struct range_choice range_rules_choose(const char *domain, const char *text)
{
    char full[2 * RANGE_TEXT_BYTES + 2];
    snprintf(full, sizeof full, "%s%s%s", domain, *domain ? ":" : "", text);
    for (int i = 0; i < config.range_count; i++) {
        const struct config_range *r = &config.ranges[i];
        if (config_matches(r->pattern, full) || config_matches(r->pattern, text))
            return as_rule(r->word);
    }
    if (strcmp(domain, opencv_domain) == 0)
        return of_opencv(text);
    const char *stage = is_inside(domain) ? NULL : stage_of_word(text);
    if (stage)
        return as_stage(stage, 0);
    // Names of functions, as frameworks give them, are steps of theirs. A frame is all that is done
    // for it.
    if (is_inside(domain) || !*text || strcmp(text, "frame") == 0 || strstr(text, "::") ||
        strchr(text, '('))
        return (struct range_choice){RANGE_IGNORE, "", 0};
    return as_stage(text, 1);
}

void range_rules_shorten(char *text)
{
    char *end = strchr(text, '('), *start = end;
    if (!end || end == text || !strstr(text, "::"))
        return;
    while (start > text && start[-1] != ' ')
        start--;
    const size_t length = (size_t)(end - start);
    if (!length)
        return;
    memmove(text, start, length);
    text[length] = 0;
}
