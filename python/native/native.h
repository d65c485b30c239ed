// SPDX-License-Identifier: Apache-2.0
// The extension's parts. Built for the limited API of CPython 3.8, so that one file serves all
// later releases; what is newer is looked up at run time. Threads: as the interpreter has them.
#ifndef LIGHTMETER_PYTHON_NATIVE_H
#define LIGHTMETER_PYTHON_NATIVE_H

#define Py_LIMITED_API 0x03080000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "agent/calls.h"

#include <stdint.h>

extern const struct lm_calls *native_calls; // NULL: there is no agent

// wrap(callable, name, stage, cause, flags, shape, is_method, only_if): see wrapped.c.
PyObject *native_wrap(PyObject *module, PyObject *arguments);

// The types of what it makes. 0, or -1 with an exception.
int native_wrap_init(void);

// around(before, after) and imports(find_and_load): see imports.c.
PyObject *native_around(PyObject *module, PyObject *pair);
PyObject *native_imports(PyObject *module, PyObject *find_and_load);
int native_imports_init(void);

extern PyMethodDef native_marks[]; // name_id, stage_begin, ...; ended by a name of NULL

#endif
