"""What numba's code of loops asks of numba's runtime, in LLVM's intermediate code: memory for arrays that a loop makes.

A library has no memory of its own: who opens it gives it the system's functions for that, see `MEMORY`. Of the texts
of errors there is nothing: that there was one is all that is told.
"""

from rlenvs.core.compiler.ahead.code import Entry
from rlenvs.core.compiler.ready import MEMORY

# an array's memory begins with its record, as numba has it: how many use it, two words for who frees it, address, size
HEAD = 64  # bytes before the numbers
RUNTIME = f"""
@allocate = internal global i64 0
@release = internal global i64 0

define i32 @take_functions(ptr %result, ptr %error, i64 %allocate, i64 %release) {{
  store i64 %allocate, ptr @allocate
  store i64 %release, ptr @release
  ret i32 0
}}

define ptr @NRT_Allocate(i64 %size) {{
  %address = load i64, ptr @allocate
  %function = inttoptr i64 %address to ptr
  %memory = call ptr %function(i64 %size)
  ret ptr %memory
}}

define void @NRT_Free(ptr %memory) {{
  %address = load i64, ptr @release
  %function = inttoptr i64 %address to ptr
  call void %function(ptr %memory)
  ret void
}}

define ptr @NRT_MemInfo_alloc(i64 %size) {{
  %record = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %record
}}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %aligned) {{
  %wide = zext i32 %aligned to i64
  %head = add i64 %size, {HEAD}
  %whole = add i64 %head, %wide
  %record = call ptr @NRT_Allocate(i64 %whole)
  %none = icmp eq ptr %record, null
  br i1 %none, label %end, label %made
made:
  %place = ptrtoint ptr %record to i64
  %least = add i64 %place, {HEAD - 1}
  %most = add i64 %least, %wide
  %mask = sub i64 0, %wide
  %numbers = and i64 %most, %mask
  %data = inttoptr i64 %numbers to ptr
  store i64 1, ptr %record
  %second = getelementptr i64, ptr %record, i64 1
  store i64 0, ptr %second
  %third = getelementptr i64, ptr %record, i64 2
  store i64 0, ptr %third
  %fourth = getelementptr i64, ptr %record, i64 3
  store ptr %data, ptr %fourth
  %fifth = getelementptr i64, ptr %record, i64 4
  store i64 %size, ptr %fifth
  br label %end
end:
  ret ptr %record
}}

define void @count_more(ptr %record) {{
  %none = icmp eq ptr %record, null
  br i1 %none, label %end, label %some
some:
  %users = load i64, ptr %record
  %more = add i64 %users, 1
  store i64 %more, ptr %record
  br label %end
end:
  ret void
}}

define void @count_less(ptr %record) {{
  %none = icmp eq ptr %record, null
  br i1 %none, label %end, label %some
some:
  %users = load i64, ptr %record
  %fewer = sub i64 %users, 1
  store i64 %fewer, ptr %record
  %unused = icmp eq i64 %fewer, 0
  br i1 %unused, label %free, label %end
free:
  call void @NRT_Free(ptr %record)
  br label %end
end:
  ret void
}}

@PyExc_RuntimeError = internal global ptr null

define void @PyErr_SetString(ptr %kind, ptr %text) {{
  ret void
}}

define ptr @PyUnicode_FromKindAndData(i32 %kind, ptr %text, i64 %size) {{
  ret ptr null
}}

define ptr @PyTuple_Pack(i64 %size, ...) {{
  ret ptr null
}}

define i64 @PyObject_Hash(ptr %object) {{
  ret i64 -1
}}
"""


def entry() -> Entry:
    """What takes the functions for memory, with all that is asked of numba's runtime."""
    return Entry(MEMORY, "take_functions", 2, RUNTIME)


def counting(code: str) -> str:
    """A module whose counters of references count, which those of `code` do not."""
    return code.replace("@NRT_incref(", "@count_more(").replace("@NRT_decref(", "@count_less(")
