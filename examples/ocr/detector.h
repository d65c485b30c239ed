// SPDX-License-Identifier: Apache-2.0
// The text detection network, run by ONNX Runtime: a prepared photograph in, a map out that tells
// how sure the network is of each pixel that it belongs to text.
// Used by main.c. Does not interpret the map: boxes.c does. Threads: one at a time.
#ifndef EXAMPLES_OCR_DETECTOR_H
#define EXAMPLES_OCR_DETECTOR_H

#include "base/err.h"
#include "ocr/prepare.h"

struct detector; // a session

struct detector_options {
    const char *library_path; // of ONNX Runtime; NULL: see runtime.h
    const char *model_path;
    int threads; // that the network computes on; 0: as many as ONNX Runtime thinks right
};

struct text_map {
    const float *values; // height_px rows of width_px values from 0 to 1; the detector's
    uint32_t width_px;
    uint32_t height_px;
};

// NULL with a message when the library or the model cannot be had, or the model is no text detector
// (one image of three planes in any multiple of 32, one map out). The caller owns the result.
struct detector *detector_open(const struct detector_options *options, struct err *e);

// Runs the network. `out` stays valid until the next run or the close.
int detector_run(
    struct detector *detector, struct tensor *input, struct text_map *out, struct err *e);

void detector_close(struct detector **detector); // accepts NULL

#endif
