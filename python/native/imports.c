// SPDX-License-Identifier: Apache-2.0
// Imports: the time of each package, and a way to do something once a module was executed. What
// stands in for functions of importlib here is no function of Python, and so in no traceback.
// Threads: as the interpreter has them.
#include "native.h"

#include <string.h>

// What around() made is called: before(argument) says what to call, and after(argument) is called
// when that went well.
static PyObject *call_around(PyObject *pair, PyObject *argument)
{
    PyObject *callable = PyObject_CallFunctionObjArgs(PyTuple_GetItem(pair, 0), argument, NULL);
    if (!callable)
        return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(callable, argument, NULL);
    Py_DECREF(callable);
    if (!result)
        return NULL;
    PyObject *unused = PyObject_CallFunctionObjArgs(PyTuple_GetItem(pair, 1), argument, NULL);
    Py_XDECREF(unused);
    PyErr_Clear();
    return result;
}

// around(before, after): a callable of one argument that leaves no frame in tracebacks.
PyObject *native_around(PyObject *module, PyObject *pair)
{
    static PyMethodDef method = {"exec_module", call_around, METH_O, NULL};
    (void)module;
    if (PyTuple_Size(pair) != 2)
        return PyErr_Format(PyExc_TypeError, "around(before, after)");
    return PyCFunction_NewEx(&method, pair, NULL);
}

// ---- Imports: one name for each package, however many modules it has. ----

#define PACKAGES_MOST 256

static PyObject *packages;          // dict: name of a package -> number of its calls
static __thread uint32_t importing; // the innermost, on this thread

// What an import of the module `name` is; 0: nothing is to be recorded.
static uint32_t package_number(PyObject *name)
{
    char text[64] = "import ";
    const size_t start = strlen(text);
    PyObject *encoded = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    if (!encoded)
        return 0;
    strncat(text, PyBytes_AsString(encoded), sizeof text - start - 1);
    text[strcspn(text, ".")] = 0;
    Py_DECREF(encoded);
    PyObject *known = PyDict_GetItemString(packages, text + start);
    if (known)
        return (uint32_t)PyLong_AsUnsignedLong(known);
    if (PyDict_Size(packages) >= PACKAGES_MOST)
        strcpy(text + start, "(others)");
    const uint32_t number = native_calls->call(text, "setup", 0, 0);
    PyObject *kept = number ? PyLong_FromUnsignedLong(number) : NULL;
    if (kept)
        PyDict_SetItemString(packages, text + start, kept);
    Py_XDECREF(kept);
    return number;
}

// In place of importlib's function that finds and loads a module: (name, import function).
static PyObject *call_import(PyObject *find_and_load, PyObject *arguments)
{
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    const uint32_t before = importing;
    const uint32_t number =
        PyTuple_Size(arguments) > 0 ? package_number(PyTuple_GetItem(arguments, 0)) : 0;
    PyErr_Clear();
    if (!number || number == before)
        return PyObject_CallObject(find_and_load, arguments);
    importing = number;
    const uint32_t token = native_calls->begin(number, stack);
    PyObject *result = PyObject_CallObject(find_and_load, arguments);
    if (token)
        native_calls->end(token, stack);
    importing = before;
    return result;
}

// imports(find_and_load): the same, timed.
PyObject *native_imports(PyObject *module, PyObject *find_and_load)
{
    static PyMethodDef method = {"_find_and_load", call_import, METH_VARARGS, NULL};
    (void)module;
    if (!native_calls) {
        Py_INCREF(find_and_load);
        return find_and_load;
    }
    return PyCFunction_NewEx(&method, find_and_load, NULL);
}

int native_imports_init(void)
{
    packages = PyDict_New();
    return packages ? 0 : -1;
}
