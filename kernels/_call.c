/* Calls of machine code from Python: Entry(address, count) is called with `count` whole numbers and returns one.

Python 3.11 has at run time what the stable ABI has from 3.12 on, so that one file serves both. */
#define Py_LIMITED_API 0x030c0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x030c0000
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
typedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *, PyObject *, PyObject *);
#endif
#define OFFSET_FLAG ((size_t)1 << (8 * sizeof(size_t) - 1)) /* the one bit of a vector call that is not its count */

enum { MOST = 8 };
typedef int64_t word;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    unsigned long long address;
    int count;
} Entry;

static word run(unsigned long long address, int count, const word *a) {
    void *code = (void *)(uintptr_t)address;
    switch (count) {
    case 0: return ((word (*)(void))code)();
    case 1: return ((word (*)(word))code)(a[0]);
    case 2: return ((word (*)(word, word))code)(a[0], a[1]);
    case 3: return ((word (*)(word, word, word))code)(a[0], a[1], a[2]);
    case 4: return ((word (*)(word, word, word, word))code)(a[0], a[1], a[2], a[3]);
    case 5: return ((word (*)(word, word, word, word, word))code)(a[0], a[1], a[2], a[3], a[4]);
    case 6: return ((word (*)(word, word, word, word, word, word))code)(a[0], a[1], a[2], a[3], a[4], a[5]);
    case 7:
        return ((word (*)(word, word, word, word, word, word, word))code)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    default:
        return ((word (*)(word, word, word, word, word, word, word, word))code)(
            a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    }
}

static PyObject *call(PyObject *self, PyObject *const *arguments, size_t flagged, PyObject *keywords) {
    Entry *entry = (Entry *)self;
    size_t given = flagged & ~OFFSET_FLAG;
    word numbers[MOST], result;
    if (keywords && PyTuple_Size(keywords) != 0)
        return PyErr_Format(PyExc_TypeError, "machine code takes no keyword arguments");
    if (given != (size_t)entry->count)
        return PyErr_Format(PyExc_TypeError, "machine code takes %d numbers, not %zu", entry->count, given);
    for (size_t n = 0; n < given; n++) {
        numbers[n] = PyLong_AsLongLong(arguments[n]);
        if (numbers[n] == -1 && PyErr_Occurred()) return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    result = run(entry->address, entry->count, numbers);
    Py_END_ALLOW_THREADS
    return PyLong_FromLongLong(result);
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"address", "count", NULL};
    PyObject *given;
    int count;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Oi:Entry", names, &given, &count)) return NULL;
    unsigned long long address = PyLong_AsUnsignedLongLong(given);
    if (address == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
    if (address == 0) return PyErr_Format(PyExc_ValueError, "the address is 0");
    if (count < 0 || count > MOST)
        return PyErr_Format(PyExc_ValueError, "machine code takes 0 to %d numbers, not %d", MOST, count);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Entry *entry = (Entry *)allocate(type, 0);
    if (!entry) return NULL;
    entry->vectorcall = call;
    entry->address = address;
    entry->count = count;
    return (PyObject *)entry;
}

static void destroy(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Entry, vectorcall), READONLY, NULL},
    {"address", T_ULONGLONG, offsetof(Entry, address), READONLY, "of the code"},
    {"count", T_INT, offsetof(Entry, count), READONLY, "of the numbers that it takes"},
    {NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "Entry(address, count)\n--\n\nMachine code that takes `count` whole numbers, 0 to 8, and returns one."},
    {Py_tp_new, create},
    {Py_tp_dealloc, destroy},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {0, NULL},
};
static PyType_Spec specification = {
    "rlenvs_kernels._call.Entry", sizeof(Entry), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

static int fill(PyObject *module) {
    PyObject *type = PyType_FromSpec(&specification);
    if (!type) return -1;
    int failed = PyModule_AddObjectRef(module, "Entry", type);
    Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot parts[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_call", NULL, 0, NULL, parts};

PyMODINIT_FUNC PyInit__call(void) { return PyModuleDef_Init(&definition); }
