// SPDX-License-Identifier: Apache-2.0
// Test host: runs a model of the stand-in for TensorFlow Lite and prints what came of it. Run by
// test_hooks_tflite.py with and without the preloaded library.
#include "tflite_stand_in.h"

#include <errno.h>
#include <stdio.h>

#define COUNT ((size_t)2 * 8 * 16 * 3)

int main(void)
{
    static float from[COUNT], to;
    struct TfLiteModel *model = TfLiteModelCreateFromFile("some.tflite"), *other;
    struct TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, 3);
    struct TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    errno = 42;
    printf("%d\n", (int)TfLiteInterpreterAllocateTensors(interpreter));
    struct TfLiteTensor *in = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const struct TfLiteTensor *out = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    for (int run = 0; run < 4; run++) {
        for (size_t i = 0; i < COUNT; i++)
            from[i] = (float)(i % 5) + (float)run;
        from[0] = run == 3 ? -1 : 1;
        int status[3];
        status[0] = (int)TfLiteTensorCopyFromBuffer(in, from, sizeof from);
        status[1] = (int)TfLiteInterpreterInvoke(interpreter);
        status[2] = (int)TfLiteTensorCopyToBuffer(out, &to, sizeof to);
        printf("%d %d %d: %.1f\n", status[0], status[1], status[2], (double)to);
    }
    printf("%d, errno %d\n", (int)TfLiteTensorCopyFromBuffer(in, from, 1), errno);
    other = TfLiteModelCreate(from, 100);
    printf("%d\n", TfLiteInterpreterCreate(NULL, NULL) == NULL);
    TfLiteModelDelete(other);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return 0;
}
