// SPDX-License-Identifier: Apache-2.0
// The marks of lightmeter/mark.h as functions of Python. Threads: any.
#include "native.h"

#include "lightmeter/mark.h"

// The number of a name that the program marks, to be kept by the caller; 0: there is no agent.
static PyObject *name_id(PyObject *module, PyObject *name)
{
    const struct lm_agent *marks = lm_agent_get();
    (void)module;
    PyObject *text = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    if (!text)
        return NULL;
    const uint32_t id = marks ? marks->name_id(PyBytes_AsString(text)) : 0;
    Py_DECREF(text);
    return PyLong_FromUnsignedLong(id);
}

static PyObject *stage_begin(PyObject *module, PyObject *id)
{
    const struct lm_agent *marks = lm_agent_get();
    (void)module;
    const unsigned long name = PyLong_AsUnsignedLong(id);
    if (PyErr_Occurred())
        return NULL;
    if (marks && name)
        marks->stage_begin((uint32_t)name);
    Py_RETURN_NONE;
}

static PyObject *stage_end(PyObject *module, PyObject *unused)
{
    const struct lm_agent *marks = lm_agent_get();
    (void)module;
    (void)unused;
    if (marks)
        marks->stage_end();
    Py_RETURN_NONE;
}

// item(what, id): 0 begins, 1 is worked on from now on, 2 is done.
static PyObject *item(PyObject *module, PyObject *arguments)
{
    const struct lm_agent *marks = lm_agent_get();
    int what;
    unsigned long long id;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "iK", &what, &id))
        return NULL;
    if (marks && what == 0)
        marks->item_begin(id);
    else if (marks && what == 1)
        marks->item_use(id);
    else if (marks)
        marks->item_end(id);
    Py_RETURN_NONE;
}

static PyObject *count(PyObject *module, PyObject *arguments)
{
    const struct lm_agent *marks = lm_agent_get();
    unsigned int id;
    long long delta;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "IL", &id, &delta))
        return NULL;
    if (marks && id)
        marks->count(id, delta);
    Py_RETURN_NONE;
}

static PyObject *queue(PyObject *module, PyObject *arguments)
{
    const struct lm_agent *marks = lm_agent_get();
    unsigned int id, depth;
    int is_put;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "IpI", &id, &is_put, &depth))
        return NULL;
    if (marks && id)
        (is_put ? marks->queue_put : marks->queue_get)(id, depth);
    Py_RETURN_NONE;
}

static PyObject *add_bytes(PyObject *module, PyObject *bytes)
{
    const struct lm_agent *marks = lm_agent_get();
    (void)module;
    const unsigned long long n = PyLong_AsUnsignedLongLong(bytes);
    if (PyErr_Occurred())
        return NULL;
    if (marks)
        marks->bytes(n);
    Py_RETURN_NONE;
}

PyMethodDef native_marks[] = {{"name_id", name_id, METH_O, NULL},
    {"stage_begin", stage_begin, METH_O, NULL}, {"stage_end", stage_end, METH_NOARGS, NULL},
    {"item", item, METH_VARARGS, NULL}, {"count", count, METH_VARARGS, NULL},
    {"queue", queue, METH_VARARGS, NULL}, {"bytes", add_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
