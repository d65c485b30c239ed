// SPDX-License-Identifier: Apache-2.0
// A stand-in for TensorFlow Lite's C library, which Debian does not have: the functions of its
// c_api.h that the hook set follows or asks, with its signatures. A model adds up its input. Built
// as a shared library for hooks_tflite.c.
#include "tflite_stand_in.h"

#include <stdlib.h>
#include <string.h>

struct TfLiteModel {
    size_t length_bytes;
};
struct TfLiteInterpreterOptions {
    int32_t threads;
};
struct TfLiteTensor {
    int32_t extents[4];
    int is_output;
    float data[2 * 8 * 16 * 3];
};
struct TfLiteInterpreter {
    struct TfLiteTensor in, out;
};

struct TfLiteModel *TfLiteModelCreate(const void *data, size_t n)
{
    struct TfLiteModel *m = data && n ? malloc(sizeof *m) : NULL;
    if (m)
        m->length_bytes = n;
    return m;
}

struct TfLiteModel *TfLiteModelCreateFromFile(const char *path)
{
    return TfLiteModelCreate(path, strlen(path));
}

void TfLiteModelDelete(struct TfLiteModel *m)
{
    free(m);
}

struct TfLiteInterpreterOptions *TfLiteInterpreterOptionsCreate(void)
{
    return calloc(1, sizeof(struct TfLiteInterpreterOptions));
}

void TfLiteInterpreterOptionsSetNumThreads(struct TfLiteInterpreterOptions *o, int32_t threads)
{
    o->threads = threads;
}

void TfLiteInterpreterOptionsDelete(struct TfLiteInterpreterOptions *o)
{
    free(o);
}

struct TfLiteInterpreter *TfLiteInterpreterCreate(
    const struct TfLiteModel *m, const struct TfLiteInterpreterOptions *o)
{
    struct TfLiteInterpreter *i = m ? calloc(1, sizeof *i) : NULL;
    if (!i)
        return NULL;
    i->in = (struct TfLiteTensor){.extents = {2, 8, 16, 3}};
    i->out = (struct TfLiteTensor){.extents = {1, 1, 1, 1}, .is_output = 1};
    i->out.data[0] = o ? (float)o->threads : 0;
    return i;
}

void TfLiteInterpreterDelete(struct TfLiteInterpreter *i)
{
    free(i);
}

TfLiteStatus TfLiteInterpreterAllocateTensors(struct TfLiteInterpreter *i)
{
    return i ? kTfLiteOk : kTfLiteError;
}

struct TfLiteTensor *TfLiteInterpreterGetInputTensor(
    const struct TfLiteInterpreter *i, int32_t index)
{
    return index ? NULL : (struct TfLiteTensor *)&((struct TfLiteInterpreter *)(uintptr_t)i)->in;
}

const struct TfLiteTensor *TfLiteInterpreterGetOutputTensor(
    const struct TfLiteInterpreter *i, int32_t index)
{
    return index ? NULL : &i->out;
}

TfLiteType TfLiteTensorType(const struct TfLiteTensor *t)
{
    (void)t;
    return kTfLiteFloat32;
}

int32_t TfLiteTensorNumDims(const struct TfLiteTensor *t)
{
    (void)t;
    return 4;
}

int32_t TfLiteTensorDim(const struct TfLiteTensor *t, int32_t index)
{
    return t->extents[index];
}

size_t TfLiteTensorByteSize(const struct TfLiteTensor *t)
{
    return t->is_output ? sizeof t->data[0] : sizeof t->data;
}

void *TfLiteTensorData(const struct TfLiteTensor *t)
{
    return (void *)(uintptr_t)t->data;
}

TfLiteStatus TfLiteTensorCopyFromBuffer(struct TfLiteTensor *t, const void *from, size_t n)
{
    if (n != TfLiteTensorByteSize(t))
        return kTfLiteError;
    memcpy(t->data, from, n);
    return kTfLiteOk;
}

TfLiteStatus TfLiteTensorCopyToBuffer(const struct TfLiteTensor *t, void *to, size_t n)
{
    if (n != TfLiteTensorByteSize(t))
        return kTfLiteError;
    memcpy(to, t->data, n);
    return kTfLiteOk;
}

TfLiteStatus TfLiteInterpreterInvoke(struct TfLiteInterpreter *i)
{
    for (size_t k = 0; k < sizeof i->in.data / sizeof i->in.data[0]; k++)
        i->out.data[0] += i->in.data[k];
    return i->in.data[0] < 0 ? kTfLiteError : kTfLiteOk;
}
