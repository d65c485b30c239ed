// SPDX-License-Identifier: Apache-2.0
// Finds ONNX Runtime's library, opens it while the program runs, and asks it for the C interface
// this program was built against. Used by detector.c only. The library stays open until the process
// ends: its own threads and exit handlers may outlive the last session. Threads: call from one.
#ifndef EXAMPLES_OCR_RUNTIME_H
#define EXAMPLES_OCR_RUNTIME_H

#include "base/err.h"

#include <onnxruntime_c_api.h>

// `path` is the library, or a folder that holds it or holds lib/ with it; NULL: what the
// environment variable LIGHTMETER_ONNXRUNTIME names, else the library given at build time, else the
// system's. NULL with a message when there is none, it is no ONNX Runtime, or it is older than the
// header.
const OrtApi *runtime_api_open(const char *path, struct err *e);

#endif
