// SPDX-License-Identifier: Apache-2.0
// The extension module `_lightmeter`: the agent, for Python. Threads: as the interpreter has them.
#include "native.h"

#include <dlfcn.h>

const struct lm_calls *native_calls;

static PyObject *is_off(PyObject *module, PyObject *name)
{
    (void)module;
    PyObject *text = PyUnicode_AsUTF8String(name);
    if (!text)
        return NULL;
    const int answer = !native_calls || native_calls->is_off(PyBytes_AsString(text));
    Py_DECREF(text);
    return PyBool_FromLong(answer);
}

static PyObject *cover(PyObject *module, PyObject *arguments)
{
    const char *library, *hooks, *status, *why;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "ssss", &library, &hooks, &status, &why))
        return NULL;
    if (native_calls)
        native_calls->cover(library, hooks, status, why);
    Py_RETURN_NONE;
}

// PY_VERSION_HEX of the interpreter that runs this, or 0.
static uint64_t version_hex(void)
{
    PyObject *value = PySys_GetObject("hexversion");
    const unsigned long version = value ? PyLong_AsUnsignedLong(value) : 0;
    PyErr_Clear();
    return version;
}

static PyObject *is_up(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (native_calls)
        native_calls->is_up(version_hex(), (uintptr_t)dlsym(RTLD_DEFAULT, "_PyRuntime"));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {{"wrap", native_wrap, METH_VARARGS, NULL},
    {"around", native_around, METH_VARARGS, NULL}, {"imports", native_imports, METH_O, NULL},
    {"is_off", is_off, METH_O, NULL}, {"cover", cover, METH_VARARGS, NULL},
    {"is_up", is_up, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_lightmeter",
    "Lightmeter's agent in this process.", -1, functions, NULL, NULL, NULL, NULL};

static int fill(PyObject *module)
{
    if (native_wrap_init() < 0 || native_imports_init() < 0 ||
        PyModule_AddFunctions(module, native_marks) < 0)
        return -1;
    return PyModule_AddObject(module, "has_agent", PyBool_FromLong(native_calls != NULL));
}

PyMODINIT_FUNC PyInit__lightmeter(void);
PyMODINIT_FUNC PyInit__lightmeter(void)
{
    native_calls = (const struct lm_calls *)dlsym(RTLD_DEFAULT, "lightmeter_calls_v1");
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
