// SPDX-License-Identifier: Apache-2.0
// Test host: compiles models of the stand-in for OpenVINO with none, few and many properties, runs
// one, and prints what came of it. Run by test_hooks_openvino.py with and without the preloaded
// library.
#include "openvino_stand_in.h"

#include <stdio.h>

#define COUNT 5000

int main(void)
{
    static float data[COUNT];
    struct ov_core *core = NULL;
    struct ov_model *model = NULL;
    struct ov_compiled_model *compiled = NULL;
    struct ov_infer_request *request = NULL;
    struct ov_tensor *tensor = NULL;
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(i % 9);
    printf("%d", ov_core_create(&core));
    printf(" %d", ov_core_read_model(core, "missing", NULL, &model));
    printf(" %d", ov_core_read_model(core, "model.xml", "model.bin", &model));
    printf(" %d", ov_core_compile_model(core, model, "ODD", 0, &compiled));
    printf(" %d", ov_core_compile_model(core, model, "CPU", 0, &compiled));
    printf(" '%s'\n", ov_stand_in_properties(compiled));
    printf("%d", ov_core_compile_model(core, model, "CPU", 2, &compiled, "HINT", "LATENCY"));
    printf(" '%s'\n", ov_stand_in_properties(compiled));
    printf("%d", ov_core_compile_model_from_file(core, "m", "CPU", 14, &compiled, "A", "1", "B",
                     "2", "C", "3", "D", "4", "E", "5", "F", "6", "G", "7"));
    printf(" '%s'\n", ov_stand_in_properties(compiled));
    printf("%d", ov_compiled_model_create_infer_request(compiled, &request));
    printf(" %d", ov_infer_request_infer(request));
    printf(" %d", ov_tensor_create(data, COUNT, &tensor));
    printf(" %d", ov_infer_request_set_input_tensor(request, NULL));
    printf(" %d", ov_infer_request_set_input_tensor(request, tensor));
    printf(" %d", ov_infer_request_infer(request));
    printf(" %d", ov_infer_request_infer(request));
    printf(" %d", ov_infer_request_start_async(request));
    printf(" %d", ov_infer_request_wait(request));
    printf(" %d %.1f\n", ov_infer_request_wait_for(request, INT64_C(0x123456789)),
        ov_stand_in_result(request));
    return 0;
}
