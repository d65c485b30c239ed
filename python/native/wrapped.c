// SPDX-License-Identifier: Apache-2.0
// The types `Function` and `Method`, which stand for a callable of a library and time its calls. An
// object of either is what it wraps to everyone who asks (class, name, documentation, signature,
// hash, equality, pickling by name). Threads: as the interpreter has them.
#include "native.h"

#include "lightmeter/mark.h"

#include <structmember.h>

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

// Beyond the limited API of 3.8; the same in all releases that have them.
#define ARGUMENTS_OFFSET ((size_t)1 << 63)    // in a count of arguments: one may be put before them
#define TPFLAGS_HAVE_VECTORCALL (1ul << 11)   // 3.9
#define TPFLAGS_METHOD_DESCRIPTOR (1ul << 17) // 3.8
#define WEAK_OFFSET_3_8 208 // of tp_weaklistoffset in PyTypeObject; 3.9 has a member for it
typedef PyObject *vectorcall_fn(
    PyObject *callable, PyObject *const *arguments, size_t count, PyObject *names);
static vectorcall_fn *vectorcall; // 3.9; NULL: not there

// Where the shape is that a call handled: nothing known, `size` of its first argument or of its
// result (Pillow), `shape` of its result (NumPy, OpenCV).
enum wrapped_shape { SHAPE_NONE, SHAPE_SIZE_OF_SELF, SHAPE_SIZE_OF_RESULT, SHAPE_OF_RESULT };

struct wrapped {
    PyObject_HEAD vectorcall_fn *vectorcall;
    PyObject *callable;
    PyObject *weak_references;
    PyObject *name, *stage; // of the agent's name, until it has its number
    PyObject *only_if;      // an attribute of the first argument, without which a call is not timed
    uint32_t call;          // 0: not known yet
    uint8_t cause, flags, shape;
};

static PyObject *text_size, *text_shape;
static PyTypeObject *function_type, *method_type;

static int is_wrapped(const PyObject *o)
{
    return Py_TYPE(o) == function_type || Py_TYPE(o) == method_type;
}

// ---- The call. ----

static uint32_t call_number(struct wrapped *w)
{
    if (w->call)
        return w->call;
    PyObject *name = PyUnicode_AsUTF8String(w->name), *stage = PyUnicode_AsUTF8String(w->stage);
    if (name && stage)
        w->call =
            native_calls->call(PyBytes_AsString(name), PyBytes_AsString(stage), w->cause, w->flags);
    Py_XDECREF(name);
    Py_XDECREF(stage);
    PyErr_Clear();
    return w->call;
}

// A tuple of two or three numbers: width and height, or rows, columns and channels.
static void note_numbers(PyObject *tuple, int is_size)
{
    unsigned long n[3] = {0, 0, 0};
    const Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : 0;
    if (count < 2 || count > (is_size ? 2 : 3))
        return;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (!item || !PyLong_Check(item))
            return;
        n[i] = PyLong_AsUnsignedLong(item);
        if (PyErr_Occurred() || n[i] > UINT16_MAX)
            return;
    }
    const struct lm_agent *marks = lm_agent_get();
    if (!marks)
        return;
    if (is_size)
        marks->shape((uint32_t)n[0], (uint32_t)n[1], 0, 0);
    else
        marks->shape((uint32_t)n[1], (uint32_t)n[0], count == 3 ? (uint32_t)n[2] : 1, 0);
}

static void note_shape(const struct wrapped *w, PyObject *self, PyObject *result)
{
    PyObject *of = w->shape == SHAPE_SIZE_OF_SELF ? self : result;
    if (!result || !of || of == Py_None)
        return;
    const int is_size = w->shape != SHAPE_OF_RESULT;
    PyObject *tuple = PyObject_GetAttr(of, is_size ? text_size : text_shape);
    if (tuple)
        note_numbers(tuple, is_size);
    Py_XDECREF(tuple);
    PyErr_Clear();
}

// Whether a call with this first argument is one to be timed: 0, or its number.
static uint32_t call_with(struct wrapped *w, PyObject *first)
{
    if (__builtin_expect(w->only_if != NULL, 0)) {
        PyObject *value = first ? PyObject_GetAttr(first, w->only_if) : NULL;
        const int is_true = value ? PyObject_IsTrue(value) : 0;
        Py_XDECREF(value);
        PyErr_Clear();
        if (is_true <= 0)
            return 0;
    }
    return __builtin_expect(w->call != 0, 1) ? w->call : call_number(w);
}

// A call under way: of which the agent has a span, unless the token is 0.
struct timed {
    struct wrapped *wrapped;
    PyObject *callable, *first;
    uintptr_t stack;
    uint32_t token;
};

static inline __attribute__((always_inline)) struct timed begin(
    PyObject *self, PyObject *first, uintptr_t stack)
{
    struct wrapped *w = (struct wrapped *)self;
    const uint32_t call = call_with(w, first);
    Py_INCREF(w->callable); // the program may put another one in its place meanwhile
    return (struct timed){
        w, w->callable, first, stack, call ? native_calls->begin(call, stack) : 0};
}

static inline __attribute__((always_inline)) PyObject *end(const struct timed *t, PyObject *result)
{
    if (t->token) {
        if (t->wrapped->shape)
            note_shape(t->wrapped, t->first, result);
        native_calls->end(t->token, t->stack);
    }
    Py_DECREF(t->callable);
    return result;
}

static PyObject *wrapped_vectorcall(
    PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    PyObject *first = (count & ~ARGUMENTS_OFFSET) ? arguments[0] : NULL;
    const struct timed t = begin(self, first, (uintptr_t)__builtin_frame_address(0));
    return end(&t, vectorcall(t.callable, arguments, count, names));
}

static PyObject *wrapped_call(PyObject *self, PyObject *arguments, PyObject *named)
{
    PyObject *first = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0) : NULL;
    const struct timed t = begin(self, first, (uintptr_t)__builtin_frame_address(0));
    return end(&t, PyObject_Call(t.callable, arguments, named));
}

// ---- To everyone else it is what it wraps. ----

// What the types answer themselves: copying and pickling by name must give the wrapper, as that is
// what the name stands for.
static int is_own(PyObject *name)
{
    static const char *const own[] = {"__wrapped__", "__reduce__", "__reduce_ex__"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0)
            return 1;
    return 0;
}

static PyObject *wrapped_get(PyObject *self, PyObject *name)
{
    return is_own(name) ? PyObject_GenericGetAttr(self, name)
                        : PyObject_GetAttr(((struct wrapped *)self)->callable, name);
}

static int wrapped_set(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((struct wrapped *)self)->callable, name, value);
}

static PyObject *wrapped_repr(PyObject *self)
{
    return PyObject_Repr(((struct wrapped *)self)->callable);
}

static PyObject *wrapped_str(PyObject *self)
{
    return PyObject_Str(((struct wrapped *)self)->callable);
}

static Py_hash_t wrapped_hash(PyObject *self)
{
    return PyObject_Hash(((struct wrapped *)self)->callable);
}

static PyObject *wrapped_compare(PyObject *self, PyObject *other, int how)
{
    return PyObject_RichCompare(((struct wrapped *)self)->callable,
        is_wrapped(other) ? ((struct wrapped *)other)->callable : other, how);
}

static PyObject *wrapped_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((struct wrapped *)self)->callable, "__qualname__");
}

static PyObject *wrapped_reduce_as(PyObject *self, PyObject *protocol)
{
    return wrapped_reduce(self, protocol);
}

// A bound method, as of a function. Without an object: the function itself.
static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    static PyObject *bound;
    if (!object || object == Py_None) {
        Py_INCREF(self);
        return self;
    }
    if (!bound) {
        PyObject *types = PyImport_ImportModule("types");
        bound = types ? PyObject_GetAttrString(types, "MethodType") : NULL;
        Py_XDECREF(types);
        if (!bound)
            return NULL;
    }
    return PyObject_CallFunctionObjArgs(bound, self, object, NULL);
}

static int wrapped_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct wrapped *w = (struct wrapped *)self;
    Py_VISIT(w->callable);
    Py_VISIT(Py_TYPE(self)); // which is held by its objects
    return 0;
}

static int wrapped_clear(PyObject *self)
{
    Py_CLEAR(((struct wrapped *)self)->callable);
    return 0;
}

static void wrapped_free(PyObject *self)
{
    struct wrapped *w = (struct wrapped *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (w->weak_references)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(w->callable);
    Py_CLEAR(w->name);
    Py_CLEAR(w->stage);
    Py_CLEAR(w->only_if);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT, offsetof(struct wrapped, callable), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct wrapped, weak_references), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct wrapped, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyMethodDef own_methods[] = {{"__reduce__", wrapped_reduce, METH_NOARGS, NULL},
    {"__reduce_ex__", wrapped_reduce_as, METH_O, NULL}, {NULL, NULL, 0, NULL}};

#define COMMON_SLOTS                                                                               \
    {Py_tp_call, (void *)wrapped_call}, {Py_tp_getattro, (void *)wrapped_get},                     \
        {Py_tp_setattro, (void *)wrapped_set}, {Py_tp_repr, (void *)wrapped_repr},                 \
        {Py_tp_str, (void *)wrapped_str}, {Py_tp_hash, (void *)wrapped_hash},                      \
        {Py_tp_richcompare, (void *)wrapped_compare}, {Py_tp_traverse, (void *)wrapped_traverse},  \
        {Py_tp_clear, (void *)wrapped_clear}, {Py_tp_dealloc, (void *)wrapped_free},               \
        {Py_tp_members, (void *)members},                                                          \
    {                                                                                              \
        Py_tp_methods, (void *)own_methods                                                         \
    }
static PyType_Slot function_slots[] = {COMMON_SLOTS, {0, NULL}};
static PyType_Slot method_slots[] = {
    COMMON_SLOTS, {Py_tp_descr_get, (void *)method_get}, {0, NULL}};

static PyTypeObject *make_type(const char *name, PyType_Slot *slots, unsigned long more)
{
    const unsigned long flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | (vectorcall ? TPFLAGS_HAVE_VECTORCALL | more : 0);
    PyType_Spec spec = {name, (int)sizeof(struct wrapped), 0, (unsigned int)flags, slots};
    PyObject *type = PyType_FromSpec(&spec);
    const Py_ssize_t offset = offsetof(struct wrapped, weak_references);
    if (type && strncmp(Py_GetVersion(), "3.8.", 4) == 0)
        memcpy((char *)type + WEAK_OFFSET_3_8, &offset, sizeof offset);
    return (PyTypeObject *)type;
}

// ---- How they are made. ----

PyObject *native_wrap(PyObject *module, PyObject *arguments)
{
    PyObject *callable, *name, *stage, *only_if;
    int cause, flags, shape, is_method;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OUUiiipO", &callable, &name, &stage, &cause, &flags, &shape,
            &is_method, &only_if))
        return NULL;
    if (!native_calls || is_wrapped(callable)) {
        Py_INCREF(callable);
        return callable;
    }
    PyTypeObject *type = is_method ? method_type : function_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct wrapped *w = (struct wrapped *)allocate(type, 0);
    if (!w)
        return NULL;
    Py_INCREF(callable);
    Py_INCREF(name);
    Py_INCREF(stage);
    w->vectorcall = wrapped_vectorcall;
    w->callable = callable;
    w->name = name;
    w->stage = stage;
    if (only_if != Py_None) {
        Py_INCREF(only_if);
        w->only_if = only_if;
    }
    w->cause = (uint8_t)cause;
    w->flags = (uint8_t)flags;
    w->shape = (uint8_t)shape;
    return (PyObject *)w;
}

int native_wrap_init(void)
{
    *(void **)&vectorcall = dlsym(RTLD_DEFAULT, "PyObject_Vectorcall");
    text_size = PyUnicode_InternFromString("size");
    text_shape = PyUnicode_InternFromString("shape");
    function_type = make_type("lightmeter.Function", function_slots, 0);
    method_type = make_type("lightmeter.Method", method_slots, TPFLAGS_METHOD_DESCRIPTOR);
    return text_size && text_shape && function_type && method_type ? 0 : -1;
}
