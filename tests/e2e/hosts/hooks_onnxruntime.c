// SPDX-License-Identifier: Apache-2.0
// Test host: runs a text detection model through ONNX Runtime's C API in each way there is, and
// prints sums of what comes out. usage: hooks_onnxruntime LIBRARY MODEL. Run by
// test_hooks_onnxruntime.py.
#include <dlfcn.h>
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include <onnxruntime_c_api.h>

#define SIDE 64
#define ASYNC_RUNS 3

static const OrtApi *api;
static const char *const inputs[] = {"x"};
static char *output_name;

static void must(OrtStatus *status, const char *what)
{
    if (!status)
        return;
    printf("%s: %s\n", what, api->GetErrorMessage(status));
    exit(1);
}

static void print_sum(const char *what, const OrtValue *value)
{
    float *numbers = NULL;
    size_t count = 0;
    OrtTensorTypeAndShapeInfo *shape = NULL;
    must(api->GetTensorMutableData((OrtValue *)value, (void **)&numbers), "data");
    must(api->GetTensorTypeAndShape(value, &shape), "shape");
    must(api->GetTensorShapeElementCount(shape, &count), "count");
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    printf("%s: %zu numbers, %.6g\n", what, count, sum);
    api->ReleaseTensorTypeAndShapeInfo(shape);
}

static OrtValue *make_input(OrtMemoryInfo *memory, float *pixels, int64_t batch)
{
    int64_t dimensions[] = {batch, 3, SIDE, 2 * SIDE};
    OrtValue *value = NULL;
    must(api->CreateTensorWithDataAsOrtValue(memory, pixels,
             (size_t)batch * 3 * SIDE * 2 * SIDE * sizeof *pixels, dimensions, 4,
             ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value),
        "input");
    return value;
}

static void run(OrtSession *session, const OrtValue *input, const char *what)
{
    OrtValue *output = NULL;
    must(api->Run(session, NULL, inputs, &input, 1, (const char *const *)&output_name, 1, &output),
        what);
    print_sum(what, output);
    api->ReleaseValue(output);
}

static void run_bound(OrtSession *session, OrtMemoryInfo *memory, const OrtValue *input)
{
    OrtIoBinding *binding = NULL;
    OrtAllocator *allocator = NULL;
    OrtValue **outputs = NULL;
    size_t count = 0;
    must(api->GetAllocatorWithDefaultOptions(&allocator), "allocator");
    must(api->CreateIoBinding(session, &binding), "binding");
    must(api->BindInput(binding, inputs[0], input), "bind");
    must(api->BindOutputToDevice(binding, output_name, memory), "bind");
    must(api->RunWithBinding(session, NULL, binding), "bound");
    must(api->GetBoundOutputValues(binding, allocator, &outputs, &count), "outputs");
    print_sum("bound", outputs[0]);
    api->ReleaseValue(outputs[0]);
    must(api->AllocatorFree(allocator, outputs), "free");
    api->ReleaseIoBinding(binding);
}

struct ending {
    sem_t done;
    OrtValue *output;
};

static void end(void *data, OrtValue **outputs, size_t count, OrtStatusPtr status)
{
    struct ending *e = data;
    must(status, "asynchronous");
    e->output = count == 1 ? outputs[0] : NULL;
    sem_post(&e->done);
}

static void run_async(OrtSession *session, const OrtValue *input)
{
    struct ending endings[ASYNC_RUNS];
    OrtValue *outputs[ASYNC_RUNS] = {NULL};
    for (int i = 0; i < ASYNC_RUNS; i++) {
        sem_init(&endings[i].done, 0, 0);
        must(api->RunAsync(session, NULL, inputs, &input, 1, (const char *const *)&output_name, 1,
                 &outputs[i], end, &endings[i]),
            "start");
    }
    for (int i = 0; i < ASYNC_RUNS; i++) {
        sem_wait(&endings[i].done);
        print_sum("asynchronous", endings[i].output);
        api->ReleaseValue(endings[i].output);
        sem_destroy(&endings[i].done);
    }
}

// Errors come back as they are, and the callback is not called.
static void fail(OrtSession *session, const OrtValue *input)
{
    const char *const wrong[] = {"no such input"};
    OrtValue *output = NULL;
    OrtStatus *status =
        api->Run(session, NULL, wrong, &input, 1, (const char *const *)&output_name, 1, &output);
    printf("%s\n", status ? api->GetErrorMessage(status) : "no error");
    api->ReleaseStatus(status);
    status = api->Run(session, NULL, NULL, NULL, 0, NULL, 0, NULL);
    printf("%d\n", status != NULL);
    api->ReleaseStatus(status);
}

static void *read_all(const char *path, size_t *length_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        exit(1);
    *length_bytes = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*length_bytes);
    if (!bytes || fread(bytes, 1, *length_bytes, file) != *length_bytes)
        exit(1);
    fclose(file);
    return bytes;
}

static void use(const char *model)
{
    static float pixels[2 * 3 * SIDE * 2 * SIDE];
    OrtEnv *env = NULL;
    OrtSessionOptions *options = NULL;
    OrtSession *session = NULL, *second = NULL;
    OrtMemoryInfo *memory = NULL;
    OrtAllocator *allocator = NULL;
    size_t length_bytes;
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        pixels[i] = (float)sin((double)i / 50);
    must(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "host", &env), "environment");
    must(api->CreateSessionOptions(&options), "options");
    must(api->SetIntraOpNumThreads(options, 2), "threads");
    must(api->CreateSession(env, model, options, &session), "session");
    void *bytes = read_all(model, &length_bytes);
    must(api->CreateSessionFromArray(env, bytes, length_bytes, options, &second), "session");
    printf("%zu bytes\n", length_bytes);
    must(api->GetAllocatorWithDefaultOptions(&allocator), "allocator");
    must(api->SessionGetOutputName(session, 0, allocator, &output_name), "output");
    must(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory), "memory");
    OrtValue *one = make_input(memory, pixels, 1), *two = make_input(memory, pixels, 2);
    run(session, one, "one");
    run(second, two, "two");
    run_bound(session, memory, one);
    run_async(session, two);
    fail(session, one);
    api->ReleaseValue(one);
    api->ReleaseValue(two);
    must(api->AllocatorFree(allocator, output_name), "free");
    api->ReleaseSession(session);
    api->ReleaseSession(second);
    api->ReleaseSessionOptions(options);
    api->ReleaseMemoryInfo(memory);
    api->ReleaseEnv(env);
    free(bytes);
}

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 2;
    const OrtApiBase *(*get_base)(void);
    *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    api = get_base()->GetApi(17);
    // A second look at the table changes nothing.
    if (get_base()->GetApi(8) == NULL)
        return 3;
    use(argv[2]);
    return 0;
}
