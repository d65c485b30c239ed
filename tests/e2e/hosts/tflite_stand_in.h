// SPDX-License-Identifier: Apache-2.0
// The part of TensorFlow Lite's C API that tflite_stand_in.c has: names, signatures and numbers of
// its c_api.h and c_api_types.h.
#ifndef LIGHTMETER_TESTS_TFLITE_STAND_IN_H
#define LIGHTMETER_TESTS_TFLITE_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
typedef enum { kTfLiteOk = 0, kTfLiteError = 1 } TfLiteStatus;
typedef enum { kTfLiteNoType = 0, kTfLiteFloat32 = 1 } TfLiteType;
struct TfLiteModel;
struct TfLiteInterpreterOptions;
struct TfLiteInterpreter;
struct TfLiteTensor;

struct TfLiteModel *TfLiteModelCreate(const void *data, size_t n);
struct TfLiteModel *TfLiteModelCreateFromFile(const char *path);
void TfLiteModelDelete(struct TfLiteModel *m);
struct TfLiteInterpreterOptions *TfLiteInterpreterOptionsCreate(void);
void TfLiteInterpreterOptionsSetNumThreads(struct TfLiteInterpreterOptions *o, int32_t threads);
void TfLiteInterpreterOptionsDelete(struct TfLiteInterpreterOptions *o);
struct TfLiteInterpreter *TfLiteInterpreterCreate(
    const struct TfLiteModel *m, const struct TfLiteInterpreterOptions *o);
void TfLiteInterpreterDelete(struct TfLiteInterpreter *i);
TfLiteStatus TfLiteInterpreterAllocateTensors(struct TfLiteInterpreter *i);
struct TfLiteTensor *TfLiteInterpreterGetInputTensor(
    const struct TfLiteInterpreter *i, int32_t index);
const struct TfLiteTensor *TfLiteInterpreterGetOutputTensor(
    const struct TfLiteInterpreter *i, int32_t index);
TfLiteType TfLiteTensorType(const struct TfLiteTensor *t);
int32_t TfLiteTensorNumDims(const struct TfLiteTensor *t);
int32_t TfLiteTensorDim(const struct TfLiteTensor *t, int32_t index);
size_t TfLiteTensorByteSize(const struct TfLiteTensor *t);
void *TfLiteTensorData(const struct TfLiteTensor *t);
TfLiteStatus TfLiteTensorCopyFromBuffer(struct TfLiteTensor *t, const void *from, size_t n);
TfLiteStatus TfLiteTensorCopyToBuffer(const struct TfLiteTensor *t, void *to, size_t n);
TfLiteStatus TfLiteInterpreterInvoke(struct TfLiteInterpreter *i);
#pragma GCC visibility pop

#endif
