/* Calls of machine code from Python: Entry(address, count) is called with `count` whole numbers and returns one;
Caller writes its arguments, arrays among them, into memory, and calls the function that is for arguments of their types.

Python 3.11 has at run time what the stable ABI has from 3.12 on, so that one file serves both. */
#define Py_LIMITED_API 0x030c0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x030c0000
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
typedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *, PyObject *, PyObject *);
PyAPI_FUNC(PyObject *) PyObject_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *);
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

/* --- loops --- */

enum { WORDS = 1024, SIGNS = 1024 };
enum { DONE = 0, OTHER = 1 }; /* OTHER: what only Python can pack */
enum { NOTHING, WHOLE, REAL, FLAG, UNSIGNED }; /* kinds of results, as rlenvs/core/compiler/arguments.py has them */

typedef struct {
    size_t size;
    char *signs;
    unsigned long long address; /* 0 where no library has the loop for such arguments */
} Known;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *array, *address_of, *slow, *otherwise;
    Known *known;
    size_t count;
} Caller;

typedef struct { /* arguments in words of eight bytes, and signs that tell their types */
    word words[WORDS];
    char signs[SIGNS];
    size_t word_count, sign_count;
} Packed;

static int sign(Packed *packed, const void *bytes, size_t size) {
    if (packed->sign_count + size > SIGNS) return OTHER;
    memcpy(packed->signs + packed->sign_count, bytes, size);
    packed->sign_count += size;
    return DONE;
}

static int add_word(Packed *packed, const void *bytes) {
    if (packed->word_count + 2 >= WORDS) return OTHER; /* two are for the result */
    memcpy(packed->words + packed->word_count++, bytes, sizeof(word));
    return DONE;
}

static int add_number(Packed *packed, word number) { return add_word(packed, &number); }

static char kind_of(const char *format) {
    if (format[0] == '@' || format[0] == '=' || format[0] == '^') format++;
    if (format[0] == 0 || format[1] != 0) return 0;
    if (strchr("bhilq", format[0])) return 'i';
    if (strchr("BHILQ", format[0])) return 'u';
    if (strchr("fd", format[0])) return 'f';
    return format[0] == '?' ? 'b' : 0;
}

static int add_view(Packed *packed, const Py_buffer *view) {
    char kind = view->format ? kind_of(view->format) : 0;
    if (!kind || view->suboffsets) return OTHER;
    word size = 1;
    for (int n = 0; n < view->ndim; n++) size *= view->shape[n];
    char layout = PyBuffer_IsContiguous(view, 'C') ? 'C' : PyBuffer_IsContiguous(view, 'F') ? 'F' : 'A';
    char signs[] = {'a', kind, (char)view->itemsize, (char)view->ndim, layout, (char)view->readonly};
    int failed = sign(packed, signs, sizeof signs) || add_number(packed, 0) || add_number(packed, 0) ||
        add_number(packed, size) || add_number(packed, view->itemsize) || add_number(packed, (word)(uintptr_t)view->buf);
    for (int n = 0; n < view->ndim; n++) failed = failed || add_number(packed, view->shape[n]);
    for (int n = 0; n < view->ndim; n++) failed = failed || add_number(packed, view->strides[n]);
    return failed;
}

static int add(Caller *caller, Packed *packed, PyObject *value);

static int add_tuple(Caller *caller, Packed *packed, PyObject *values) {
    PyTypeObject *type = Py_TYPE(values);
    Py_ssize_t size = PyTuple_Size(values);
    if (sign(packed, "(", 1) || sign(packed, &type, sizeof type)) return OTHER;
    for (Py_ssize_t n = 0; n < size; n++)
        if (add(caller, packed, PyTuple_GetItem(values, n))) return OTHER;
    return sign(packed, ")", 1);
}

/* Add an argument; OTHER, maybe with an error, where that cannot be done here. */
static int add(Caller *caller, Packed *packed, PyObject *value) {
    if (PyObject_TypeCheck(value, (PyTypeObject *)caller->array)) {
        Py_buffer view;
        if (PyObject_GetBuffer(value, &view, PyBUF_RECORDS_RO)) return OTHER;
        int failed = add_view(packed, &view);
        PyBuffer_Release(&view);
        return failed;
    }
    if (PyFloat_Check(value)) {
        double number = PyFloat_AsDouble(value);
        return sign(packed, "d", 1) || add_word(packed, &number);
    }
    if (PyLong_Check(value)) {
        word number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) return OTHER;
        return sign(packed, "q", 1) || add_number(packed, number);
    }
    return PyTuple_Check(value) ? add_tuple(caller, packed, value) : OTHER;
}

/* The address for arguments of these types, 0 where there is none; asked of Python once. -1 is an error. */
static int look_up(Caller *caller, const Packed *packed, PyObject *const *arguments, size_t given,
                   unsigned long long *address) {
    for (size_t n = 0; n < caller->count; n++) {
        Known *known = caller->known + n;
        if (known->size == packed->sign_count && memcmp(known->signs, packed->signs, known->size) == 0) {
            *address = known->address;
            return 0;
        }
    }
    PyObject *found = PyObject_Vectorcall(caller->address_of, arguments, given, NULL);
    if (!found) return -1;
    *address = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    if (*address == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    Known *more = realloc(caller->known, (caller->count + 1) * sizeof(Known));
    char *signs = malloc(packed->sign_count + 1);
    if (more) caller->known = more;
    if (!more || !signs) {
        free(signs);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(signs, packed->signs, packed->sign_count);
    more[caller->count++] = (Known){packed->sign_count, signs, *address};
    return 0;
}

static PyObject *result_of(const word *words) {
    double number;
    switch (words[0]) {
    case NOTHING: return Py_NewRef(Py_None);
    case WHOLE: return PyLong_FromLongLong(words[1]);
    case REAL: memcpy(&number, words + 1, sizeof number); return PyFloat_FromDouble(number);
    case FLAG: return PyBool_FromLong(words[1] != 0);
    default: return PyLong_FromUnsignedLongLong((unsigned long long)words[1]);
    }
}

static PyObject *call_loop(PyObject *self, PyObject *const *arguments, size_t flagged, PyObject *keywords) {
    Caller *caller = (Caller *)self;
    size_t given = flagged & ~OFFSET_FLAG;
    unsigned long long address;
    Packed packed;
    packed.word_count = packed.sign_count = 0;
    if (keywords && PyTuple_Size(keywords) != 0)
        return PyErr_Format(PyExc_TypeError, "loops take no keyword arguments");
    for (size_t n = 0; n < given; n++)
        if (add(caller, &packed, arguments[n])) {
            PyErr_Clear();
            return PyObject_Vectorcall(caller->slow, arguments, given, NULL);
        }
    if (look_up(caller, &packed, arguments, given, &address)) return NULL;
    if (address == 0) return PyObject_Vectorcall(caller->otherwise, arguments, given, NULL);
    word place = (word)(uintptr_t)packed.words, failed;
    packed.words[packed.word_count] = NOTHING;
    Py_BEGIN_ALLOW_THREADS
    failed = run(address, 1, &place);
    Py_END_ALLOW_THREADS
    if (failed) return PyErr_Format(PyExc_RuntimeError, "a compiled loop has raised an error");
    return result_of(packed.words + packed.word_count);
}

static PyObject *create_caller(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"array", "address_of", "slow", "otherwise", NULL};
    PyObject *array, *address_of, *slow, *otherwise;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "OOOO:Caller", names, &array, &address_of, &slow, &otherwise)) return NULL;
    if (!PyType_Check(array)) return PyErr_Format(PyExc_TypeError, "array must be a class");
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Caller *caller = (Caller *)allocate(type, 0);
    if (!caller) return NULL;
    caller->vectorcall = call_loop;
    caller->array = Py_NewRef(array);
    caller->address_of = Py_NewRef(address_of);
    caller->slow = Py_NewRef(slow);
    caller->otherwise = Py_NewRef(otherwise);
    return (PyObject *)caller;
}

static int visit_caller(PyObject *self, visitproc visit, void *arg) {
    Caller *caller = (Caller *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(caller->array);
    Py_VISIT(caller->address_of);
    Py_VISIT(caller->slow);
    Py_VISIT(caller->otherwise);
    return 0;
}

static int clear_caller(PyObject *self) {
    Caller *caller = (Caller *)self;
    Py_CLEAR(caller->array);
    Py_CLEAR(caller->address_of);
    Py_CLEAR(caller->slow);
    Py_CLEAR(caller->otherwise);
    return 0;
}

static void destroy_caller(PyObject *self) {
    Caller *caller = (Caller *)self;
    PyObject_GC_UnTrack(self);
    clear_caller(self);
    for (size_t n = 0; n < caller->count; n++) free(caller->known[n].signs);
    free(caller->known);
    destroy(self);
}

static PyMemberDef caller_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY, NULL},
    {NULL},
};
static PyType_Slot caller_slots[] = {
    {Py_tp_doc, "Caller(array, address_of, slow, otherwise)\n--\n\n"
                "A loop of arrays (instances of the class `array`), numbers and tuples of these. `address_of` gives the\n"
                "address of the function for arguments, 0 for none: then `otherwise` is called. `slow` is called with\n"
                "what else comes."},
    {Py_tp_new, create_caller},
    {Py_tp_dealloc, destroy_caller},
    {Py_tp_traverse, visit_caller},
    {Py_tp_clear, clear_caller},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, caller_members},
    {0, NULL},
};
static PyType_Spec caller_specification = {
    "rlenvs_kernels._call.Caller", sizeof(Caller), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC, caller_slots};

static int add_type(PyObject *module, const char *name, PyType_Spec *specification) {
    PyObject *type = PyType_FromSpec(specification);
    if (!type) return -1;
    int failed = PyModule_AddObjectRef(module, name, type);
    Py_DECREF(type);
    return failed;
}

static int fill(PyObject *module) {
    return add_type(module, "Entry", &specification) || add_type(module, "Caller", &caller_specification) ? -1 : 0;
}

static PyModuleDef_Slot parts[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_call", NULL, 0, NULL, parts};

PyMODINIT_FUNC PyInit__call(void) { return PyModuleDef_Init(&definition); }
