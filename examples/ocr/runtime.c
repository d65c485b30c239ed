// SPDX-License-Identifier: Apache-2.0
// Opens ONNX Runtime with dlopen, so that one build runs with any release that has the interface of
// its header, a CUDA build as well as a CPU build. Called by detector.c. Does not make sessions.
// Threads: call from one.
#include "ocr/runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef OCR_ONNXRUNTIME_LIBRARY
#define OCR_ONNXRUNTIME_LIBRARY "libonnxruntime.so.1"
#endif

#define HOW_TO_NAME                                                                                \
    "name the library with --onnxruntime PATH or in the environment variable "                     \
    "LIGHTMETER_ONNXRUNTIME"

static const char *named_path(const char *path)
{
    if (path)
        return path;
    const char *named = getenv("LIGHTMETER_ONNXRUNTIME");
    return named && named[0] ? named : OCR_ONNXRUNTIME_LIBRARY;
}

// Writes the library's path into `out`. A name without a slash is left to the system's search.
static int library_path(char out[PATH_MAX], const char *path, struct err *e)
{
    static const char *const inside[] = {"libonnxruntime.so.1", "libonnxruntime.so",
        "lib/libonnxruntime.so.1", "lib/libonnxruntime.so"};
    struct stat info;
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode)) {
        if (snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
            return err_set(e, "the path of ONNX Runtime is too long; " HOW_TO_NAME);
        return 0;
    }
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        if (snprintf(out, PATH_MAX, "%s/%s", path, inside[i]) < PATH_MAX && access(out, R_OK) == 0)
            return 0;
    return err_set(e, "no libonnxruntime.so in %s or its lib folder; " HOW_TO_NAME, path);
}

const OrtApi *runtime_api_open(const char *path, struct err *e)
{
    char library[PATH_MAX];
    if (library_path(library, named_path(path), e) < 0)
        return NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        err_set(e, "cannot open ONNX Runtime: %s; " HOW_TO_NAME, dlerror());
        return NULL;
    }
    const OrtApiBase *(*get_base)(void);
    *(void **)&get_base = dlsym(handle, "OrtGetApiBase");
    if (!get_base) {
        err_set(e, "%s is not ONNX Runtime: it has no OrtGetApiBase; " HOW_TO_NAME, library);
        return NULL;
    }
    const OrtApi *api = get_base()->GetApi(ORT_API_VERSION);
    if (!api)
        err_set(e,
            "%s is ONNX Runtime %s, older than the interface %d this program was built against; "
            "name a newer one with --onnxruntime PATH",
            library, get_base()->GetVersionString(), ORT_API_VERSION);
    return api;
}
