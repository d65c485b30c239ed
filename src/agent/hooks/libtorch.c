// SPDX-License-Identifier: Apache-2.0
// Hook set libtorch: PyTorch's C++ library, as libtorch_python (the eager calls of Python) and C++
// programs reach it: loaded TorchScript models as a whole, and the operators that take time in
// networks. The names are those of 1.13, whose headers the signatures were checked with; those
// without optionals and symbolic sizes are the same in 2.x. A returned tensor, value or module
// comes by a hidden first pointer on x86-64; on AArch64 it comes in x8, which C cannot name, and
// those functions are left out there. No object of libtorch is read. Threads: any.
#include "agent/hook.h"

#define INFER(ret, id, text, params, args)                                                         \
    HOOK_CALL(ret, id, text, "infer", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT | AGENT_GROUP_INFER,     \
        PARAMS(params), ARGS(args))
#define LOAD(id, text, params, args)                                                               \
    HOOK_CALL(void *, id, text, "load", TRACE_CAUSE_OTHER, AGENT_GROUP_INFER, PARAMS(params),      \
        ARGS(args))

// ---- TorchScript: a graph from its start to its end. ----
INFER(void, executor_run, "torch::jit::GraphExecutor::run", PARAMS(void *executor, void *stack),
    ARGS(executor, stack))
INFER(void, interpreter_run, "torch::jit::InterpreterState::run",
    PARAMS(void *interpreter, void *stack), ARGS(interpreter, stack))

// ---- Operators on a tensor in place. ----
#define IN_PLACE(id, text) INFER(void *, id, text, PARAMS(void *tensor), ARGS(tensor))
IN_PLACE(relu_in_place, "at::relu_")
IN_PLACE(silu_in_place, "at::silu_")
IN_PLACE(hardswish_in_place, "at::hardswish_")

#if defined(__x86_64__)
INFER(void *, method_call, "torch::jit::Method::operator()",
    PARAMS(void *result, const void *method, void *stack, const void *named),
    ARGS(result, method, stack, named))
INFER(void *, mobile_call, "torch::jit::mobile::Method::operator()",
    PARAMS(void *result, const void *method, void *stack), ARGS(result, method, stack))

// ---- Models from files and streams. A c10::optional<Device> is a small struct in a register. ----
LOAD(load, "torch::jit::load", PARAMS(void *result, const void *from, uint64_t device),
    ARGS(result, from, device))
LOAD(load_stream, "torch::jit::load", PARAMS(void *result, void *from, uint64_t device),
    ARGS(result, from, device))
LOAD(load_reader, "torch::jit::load", PARAMS(void *result, void *from, uint64_t device),
    ARGS(result, from, device))
LOAD(load_files, "torch::jit::load",
    PARAMS(void *result, const void *from, uint64_t device, void *files),
    ARGS(result, from, device, files))
LOAD(load_stream_files, "torch::jit::load",
    PARAMS(void *result, void *from, uint64_t device, void *files),
    ARGS(result, from, device, files))
LOAD(load_reader_files, "torch::jit::load",
    PARAMS(void *result, void *from, uint64_t device, void *files),
    ARGS(result, from, device, files))
LOAD(import_file, "torch::jit::import_ir_module",
    PARAMS(void *result, void *unit, const void *from, uint64_t device, void *files),
    ARGS(result, unit, from, device, files))
LOAD(import_stream, "torch::jit::import_ir_module",
    PARAMS(void *result, void *unit, void *from, uint64_t device, void *files),
    ARGS(result, unit, from, device, files))
LOAD(load_mobile, "torch::jit::_load_for_mobile",
    PARAMS(void *result, const void *from, uint64_t device), ARGS(result, from, device))

// ---- Operators. ----
// c10::ArrayRef<T>, by value: two registers, or its place on the stack.
struct array_ref {
    const void *at;
    size_t count;
};

#define TENSOR void *result, const void *tensor
#define ONE(id, text) INFER(void *, id, text, PARAMS(TENSOR), ARGS(result, tensor))
#define TWO(id, text)                                                                              \
    INFER(void *, id, text, PARAMS(TENSOR, const void *other), ARGS(result, tensor, other))
ONE(relu, "at::relu")
ONE(relu6, "at::relu6")
ONE(sigmoid, "at::sigmoid")
ONE(silu, "at::silu")
ONE(hardswish, "at::hardswish")
ONE(hardsigmoid, "at::hardsigmoid")
TWO(mm, "at::mm")
TWO(bmm, "at::bmm")
TWO(matmul, "at::matmul")
TWO(prelu, "at::prelu")
TWO(leaky_relu, "at::leaky_relu")

INFER(void *, linear, "at::linear", PARAMS(TENSOR, const void *weight, const void *bias),
    ARGS(result, tensor, weight, bias))
INFER(void *, addmm, "at::addmm",
    PARAMS(TENSOR, const void *a, const void *b, const void *beta, const void *alpha),
    ARGS(result, tensor, a, b, beta, alpha))
INFER(void *, gelu, "at::gelu", PARAMS(TENSOR, struct array_ref how), ARGS(result, tensor, how))

#define CONV(id, text)                                                                             \
    INFER(void *, id, text,                                                                        \
        PARAMS(TENSOR, const void *weight, const void *bias, struct array_ref stride,              \
            struct array_ref padding, struct array_ref dilation, int64_t groups),                  \
        ARGS(result, tensor, weight, bias, stride, padding, dilation, groups))
CONV(conv1d, "at::conv1d")
CONV(conv2d, "at::conv2d")
CONV(conv3d, "at::conv3d")
CONV(conv2d_padding, "at::conv2d")
INFER(void *, conv_transpose2d, "at::conv_transpose2d",
    PARAMS(TENSOR, const void *weight, const void *bias, struct array_ref stride,
        struct array_ref padding, struct array_ref more, int64_t groups, struct array_ref dilation),
    ARGS(result, tensor, weight, bias, stride, padding, more, groups, dilation))
INFER(void *, convolution, "at::convolution",
    PARAMS(TENSOR, const void *weight, const void *bias, struct array_ref stride,
        struct array_ref padding, struct array_ref dilation, _Bool transposed,
        struct array_ref more, int64_t groups),
    ARGS(result, tensor, weight, bias, stride, padding, dilation, transposed, more, groups))

INFER(void *, batch_norm, "at::batch_norm",
    PARAMS(TENSOR, const void *weight, const void *bias, const void *mean, const void *variance,
        _Bool training, double momentum, double least, _Bool cudnn),
    ARGS(result, tensor, weight, bias, mean, variance, training, momentum, least, cudnn))
INFER(void *, layer_norm, "at::layer_norm",
    PARAMS(TENSOR, struct array_ref extents, const void *weight, const void *bias, double least,
        _Bool cudnn),
    ARGS(result, tensor, extents, weight, bias, least, cudnn))
INFER(void *, group_norm, "at::group_norm",
    PARAMS(TENSOR, int64_t groups, const void *weight, const void *bias, double least, _Bool cudnn),
    ARGS(result, tensor, groups, weight, bias, least, cudnn))
INFER(void *, max_pool2d, "at::max_pool2d",
    PARAMS(TENSOR, struct array_ref kernel, struct array_ref stride, struct array_ref padding,
        struct array_ref dilation, _Bool is_ceiling),
    ARGS(result, tensor, kernel, stride, padding, dilation, is_ceiling))
INFER(void *, adaptive_avg_pool2d, "at::adaptive_avg_pool2d",
    PARAMS(TENSOR, struct array_ref extents), ARGS(result, tensor, extents))
// A c10::optional<ScalarType> is a small struct in a register.
INFER(void *, softmax, "at::softmax", PARAMS(TENSOR, int64_t dimension, uint64_t dtype),
    ARGS(result, tensor, dimension, dtype))
INFER(void *, log_softmax, "at::log_softmax", PARAMS(TENSOR, int64_t dimension, uint64_t dtype),
    ARGS(result, tensor, dimension, dtype))
#endif

#define OP(id, name) HOOK_LINE(id, "_ZN2at4_ops" name, 0)
#define CALL "4callERKNS_6TensorE"
#define OPTIONAL "RKN3c108optionalIS2_EE"
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define IVALUES "St6vectorIN3c106IValueESaIS"
#define CONVOLUTION "4callERKNS_6TensorES4_" OPTIONAL "NS5_8ArrayRefIlEESB_SB_"

static const struct hook_function functions[] = {
    HOOK_LINE(executor_run, "_ZN5torch3jit13GraphExecutor3runER" IVALUES "4_EE", 0),
    HOOK_LINE(interpreter_run, "_ZN5torch3jit16InterpreterState3runER" IVALUES "4_EE", 0),
    OP(relu_in_place, "5relu_4callERNS_6TensorE"),
    OP(silu_in_place, "5silu_4callERNS_6TensorE"),
    OP(hardswish_in_place, "10hardswish_4callERNS_6TensorE"),
#if defined(__x86_64__)
    HOOK_LINE(method_call,
        "_ZNK5torch3jit6MethodclE" IVALUES "4_EERKSt13unordered_mapI" STRING
        "S4_St4hashISD_ESt8equal_toISD_ESaISt4pairIKSD_S4_EEE",
        0),
    HOOK_LINE(mobile_call, "_ZNK5torch3jit6mobile6MethodclE" IVALUES "5_EE", 0),
    HOOK_LINE(load, "_ZN5torch3jit4loadERK" STRING "N3c108optionalINS9_6DeviceEEE", 0),
    HOOK_LINE(load_stream, "_ZN5torch3jit4loadERSiN3c108optionalINS2_6DeviceEEE", 0),
    HOOK_LINE(load_reader,
        "_ZN5torch3jit4loadESt10shared_ptrIN6caffe29serialize20ReadAdapterInterfaceEEN3c10"
        "8optionalINS6_6DeviceEEE",
        0),
    HOOK_LINE(load_files,
        "_ZN5torch3jit4loadERK" STRING "N3c108optionalINS9_6DeviceEEERSt13unordered_mapIS6_S6_"
        "St4hashIS6_ESt8equal_toIS6_ESaISt4pairIS7_S6_EEE",
        0),
    HOOK_LINE(load_stream_files,
        "_ZN5torch3jit4loadERSiN3c108optionalINS2_6DeviceEEERSt13unordered_mapI" STRING
        "SC_St4hashISC_ESt8equal_toISC_ESaISt4pairIKSC_SC_EEE",
        0),
    HOOK_LINE(load_reader_files,
        "_ZN5torch3jit4loadESt10shared_ptrIN6caffe29serialize20ReadAdapterInterfaceEEN3c10"
        "8optionalINS6_6DeviceEEERSt13unordered_mapI" STRING
        "SG_St4hashISG_ESt8equal_toISG_ESaISt4pairIKSG_SG_EEE",
        0),
    HOOK_LINE(import_file,
        "_ZN5torch3jit16import_ir_moduleESt10shared_ptrINS0_15CompilationUnitEERK" STRING
        "N3c108optionalINSC_6DeviceEEERSt13unordered_mapIS9_S9_St4hashIS9_ESt8equal_toIS9_E"
        "SaISt4pairISA_S9_EEE",
        0),
    HOOK_LINE(import_stream,
        "_ZN5torch3jit16import_ir_moduleESt10shared_ptrINS0_15CompilationUnitEERSiN3c10"
        "8optionalINS5_6DeviceEEERSt13unordered_mapI" STRING
        "SF_St4hashISF_ESt8equal_toISF_ESaISt4pairIKSF_SF_EEE",
        0),
    HOOK_LINE(load_mobile,
        "_ZN5torch3jit16_load_for_mobileERK" STRING "N3c108optionalINS9_6DeviceEEE", 0),
    OP(relu, "4relu" CALL),
    OP(relu6, "5relu6" CALL),
    OP(sigmoid, "7sigmoid" CALL),
    OP(silu, "4silu" CALL),
    OP(hardswish, "9hardswish" CALL),
    OP(hardsigmoid, "11hardsigmoid" CALL),
    OP(mm, "2mm" CALL "S4_"),
    OP(bmm, "3bmm" CALL "S4_"),
    OP(matmul, "6matmul" CALL "S4_"),
    OP(prelu, "5prelu" CALL "S4_"),
    OP(leaky_relu, "10leaky_relu" CALL "RKN3c106ScalarE"),
    OP(linear, "6linear" CALL "S4_" OPTIONAL),
    OP(addmm, "5addmm" CALL "S4_S4_RKN3c106ScalarES8_"),
    OP(gelu, "4gelu" CALL "N3c1017basic_string_viewIcEE"),
    OP(conv1d, "6conv1d" CONVOLUTION "l"),
    OP(conv2d, "6conv2d" CONVOLUTION "l"),
    OP(conv3d, "6conv3d" CONVOLUTION "l"),
    OP(conv2d_padding,
        "14conv2d_padding" CALL "S4_" OPTIONAL "NS5_8ArrayRefIlEENS5_17basic_string_viewIcEESB_l"),
    OP(conv_transpose2d, "22conv_transpose2d_input" CONVOLUTION "lSB_"),
    OP(convolution, "11convolution" CONVOLUTION "bSB_l"),
    OP(batch_norm, "10batch_norm" CALL OPTIONAL "S9_S9_S9_bddb"),
    OP(layer_norm, "10layer_norm" CALL "N3c108ArrayRefIlEERKNS5_8optionalIS2_EESB_db"),
    OP(group_norm, "10group_norm" CALL "l" OPTIONAL "S9_db"),
    OP(max_pool2d, "10max_pool2d" CALL "N3c108ArrayRefIlEES7_S7_S7_b"),
    OP(adaptive_avg_pool2d, "19adaptive_avg_pool2d" CALL "N3c108ArrayRefINS5_6SymIntEEE"),
    OP(softmax, "11softmax_int" CALL "lN3c108optionalINS5_10ScalarTypeEEE"),
    OP(log_softmax, "15log_softmax_int" CALL "lN3c108optionalINS5_10ScalarTypeEEE"),
#endif
    HOOK_END,
};

static const char *const libraries[] = {"libtorch_cpu.so", NULL};

const struct hook_set hook_libtorch = {
    .name = "libtorch",
    .help = "PyTorch: TorchScript models and the operators of networks",
    .libraries = libraries,
    .functions = functions,
};
