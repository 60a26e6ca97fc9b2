"""Statements of kernels, in lanes: branches and loops in which lanes go different ways."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from rlenvs.core.compiler.lanes.expressions import Expressions
from rlenvs.core.compiler.lanes.trees import Value, as_loaded, call_of, counts, has_return, is_cheap, mask_call, name_of


class Loop:
    """A loop that lanes may leave one by one.

    Attributes:
        mask: the mask of an iteration; who breaks under it breaks in all lanes that are left.
        broken, continued: names of masks of lanes that did; empty where none can.
    """

    def __init__(self, number: int, node: ast.AST) -> None:
        self.node = node
        self.mask: str | None = None
        self.broken = f"broken{number}_"
        self.continued = f"continued{number}_"
        self.breaks = self.continues = False


class Translation(Expressions):
    """One function, for one pattern of arguments, see `Expressions`."""

    def translate(self, name: str) -> ast.Module:
        """The function anew; repeated until it is known which variables differ by lane."""
        while True:
            before = len(self.varying), len(self.late), self.returns_by_lane, self.returns_varying
            body = self._body()
            if before == (len(self.varying), len(self.late), self.returns_by_lane, self.returns_varying):
                break
        arguments = [*(["entry_"] if self.masked else []), *self.arguments]
        made = ast.parse(f"def {name}({', '.join(arguments)}):\n    pass")
        assert isinstance(made.body[0], ast.FunctionDef)
        made.body[0].body = body
        return ast.fix_missing_locations(made)

    def _body(self) -> list[ast.stmt]:
        self.temporaries = 0
        self.defined = set(self.arguments)
        self.loops: list[Loop] = []
        self.confining: list[ast.AST] = []  # the conditions that differ by lane around the statement at hand
        self.out: list[ast.stmt] = []
        entry = "entry_" if self.masked else None
        for name in self.late:
            self.emit(f"{name} = _nothing()")
            self.defined.add(name)
        if self.returns_by_lane:
            self.emit("returned_ = _mask(False)")
            if self._has_value:
                self.emit("value_ = _nothing()")
        self.statements(self.tree.body, entry)
        if self.returns_by_lane and self._has_value:
            self.emit("return value_")
        return self.out or [ast.Pass()]

    @property
    def _has_value(self) -> bool:
        return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(self.tree))

    # --- statements ---------------------------------------------------------------------------------------------------

    def statements(self, nodes: Sequence[ast.stmt], mask: str | None) -> bool:
        """A block under a mask; None where all lanes take part. Returns whether lanes may have left it."""
        left = False
        for n, node in enumerate(nodes):
            if self.statement(node, mask):
                left = True
                if n + 1 == len(nodes):
                    break
                self.rest(nodes[n + 1 :], self.remaining(mask))
                break
        return left

    def rest(self, nodes: Sequence[ast.stmt], mask: str) -> None:
        """What is left of a block for the lanes that have not left it."""
        made = self.inside(lambda: self.statements(nodes, mask))
        self.emit(ast.If(call_of("_some", name_of(mask)), made, []))

    def remaining(self, mask: str | None) -> str:
        """The mask without the lanes that have left."""
        gone = ["returned_"] if self.returns_by_lane else []
        if self.loops:
            loop = self.loops[-1]
            gone += [loop.broken] if loop.breaks else []
            gone += [loop.continued] if loop.continues else []
        if not gone:
            raise AssertionError("no lane can have left")
        out = call_of("_outside", ast.parse(" | ".join(gone), mode="eval").body)
        return self.within(mask, out)

    def statement(self, node: ast.stmt, mask: str | None) -> bool:
        """One statement. Returns whether lanes may have left the block there."""
        if isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                self.emit(ast.Expr(self.expression(node.value, mask).node))
        elif isinstance(node, ast.Assign):
            self.assign_all(node, mask)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.expression(node.value, mask), mask)
        elif isinstance(node, ast.AugAssign):
            target = as_loaded(node.target)
            value = ast.copy_location(ast.BinOp(target, node.op, node.value), node)
            self.assign(node.target, self.expression(value, mask), mask)
        elif isinstance(node, ast.If):
            return self.branch(node, mask)
        elif isinstance(node, ast.For):
            return self.count(node, mask)
        elif isinstance(node, ast.While):
            return self.repeat(node, mask)
        elif isinstance(node, ast.Return):
            return self.give_back(node, mask)
        elif isinstance(node, (ast.Break, ast.Continue)):
            return self.leave(node, mask)
        elif not isinstance(node, ast.Pass):
            raise self.unsupported(node, f"{type(node).__name__} has no lane form")
        return False

    def assign_all(self, node: ast.Assign, mask: str | None) -> None:
        if len(node.targets) != 1:
            value = self.expression(node.value, mask)
            shared = Value(name_of(self.temporary(value.node)), value.varying)
            for target in node.targets:
                self.assign(target, shared, mask)
            return
        [target] = node.targets
        if not isinstance(target, ast.Tuple):
            self.assign(target, self.expression(node.value, mask), mask)
            return
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(target.elts):
            found = [self.expression(each, mask) for each in node.value.elts]
            values = [Value(name_of(self.temporary(each.node)), each.varying) for each in found]
        else:
            whole = self.expression(node.value, mask)
            name = self.temporary(whole.node)
            values = [
                Value(ast.Subscript(name_of(name), ast.Constant(n), ast.Load()), whole.varying)
                for n in range(len(target.elts))
            ]
        for each, value in zip(target.elts, values, strict=True):
            self.assign(each, value, mask)

    def assign(self, target: ast.expr, value: Value, mask: str | None) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, mask)
        elif isinstance(target, ast.Attribute):
            base = self.expression(target.value, mask)
            if not base.varying:
                raise self.unsupported(target, f"writes to {ast.unparse(target)}, which the worlds share")
            place = ast.Attribute(base.node, target.attr, ast.Store())
            if mask:
                self.sensitive = True
                now = ast.Attribute(base.node, target.attr, ast.Load())
                value = Value(call_of("_select", name_of(mask), value.node, now), True)
            self.sensitive = True
            self.emit(ast.Assign([place], value.node, lineno=0))
        elif isinstance(target, ast.Subscript):
            self.assign_element(target, value, mask)
        else:
            raise self.unsupported(target, f"{type(target).__name__} cannot be assigned to")

    def assign_name(self, name: str, value: Value, mask: str | None) -> None:
        confined = self.is_confined(name)
        by_lane = value.varying or (bool(self.confining) and not confined)
        if mask is not None and self.confining and by_lane:
            if name in self.defined:
                value = Value(call_of("_select", name_of(mask), value.node, name_of(name)), True)
            elif self.loops and not confined and not self.only_within(name, self.loops[-1].node):
                self.late.append(name)
                self.defined.add(name)
                value = Value(call_of("_select", name_of(mask), value.node, name_of(name)), True)
        if by_lane:
            self.varying.add(name)
        self.defined.add(name)
        self.set(name, value.node)

    def is_confined(self, name: str) -> bool:
        """Whether a variable is used only under the innermost condition that differs by lane."""
        if not self.confining:
            return False
        within = {id(node) for node in ast.walk(self.confining[-1])}
        return all(each in within for each in self.occurrences.get(name, ()))

    def assign_element(self, target: ast.Subscript, value: Value, mask: str | None) -> None:
        base = self.expression(target.value, mask)
        index = self.index(target.slice, mask)
        if not base.varying:
            raise self.unsupported(target, f"writes to {ast.unparse(target.value)}, which the worlds share")
        self.sensitive = True
        if mask is None and not index.varying:
            self.emit(ast.Assign([ast.Subscript(base.node, index.node, ast.Store())], value.node, lineno=0))
            return
        self.emit(ast.Expr(call_of("_put", self.all_of(mask), base.node, index.node, value.node)))

    def branch(self, node: ast.If, mask: str | None) -> bool:
        known = self.constant(node.test)
        if known is not None:
            return self.statements(node.body if known else node.orelse, mask)
        test = self.expression(node.test, mask)
        if not test.varying:
            left = []
            before = set(self.defined)
            body = self.inside(lambda: left.append(self.statements(node.body, mask)))
            after, self.defined = self.defined, set(before)
            other = self.inside(lambda: left.append(self.statements(node.orelse, mask)))
            self.defined |= after
            self.emit(ast.If(test.node, body, other if node.orelse else []))
            return any(left)
        condition = self.temporary(mask_call(test.node))
        left = [self.under(node.body, self.within(mask, name_of(condition)))]
        if node.orelse:
            left.append(self.under(node.orelse, self.within(mask, call_of("_outside", name_of(condition)))))
        return any(left)

    def under(self, nodes: list[ast.stmt], mask: str) -> bool:
        """Statements that some lanes take."""
        holder = ast.Module(nodes, [])
        left: list[bool] = []
        self.confining.append(holder)
        made = self.inside(lambda: left.append(self.statements(nodes, mask)))
        self.confining.pop()
        if is_cheap(nodes, self.varying):
            self.out.extend(made)
        else:
            self.emit(ast.If(call_of("_some", name_of(mask)), made, []))
        return left[0]

    def count(self, node: ast.For, mask: str | None) -> bool:
        """A loop over `range`."""
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise self.unsupported(node, "loops have a lane form over `range` alone")
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise self.unsupported(node, "loops with `else`, or several counters, have no lane form")
        ends = [self.expression(each, mask) for each in call.args]
        target = node.target.id
        if any(end.varying for end in ends):
            return self.count_by_lane(node, ends, mask)
        loop = Loop(len(self.loops), node)
        held = LoopBody(self, loop, node, mask)
        before = set(self.defined)
        self.defined.add(target)
        made = held.body()
        if loop.breaks and not self.only_within(target, node):
            self.defined = before
            return self.count_by_lane(node, ends, mask)  # lanes leave with counts of their own
        bounds = ast.Call(ast.Name("range", ast.Load()), [end.node for end in ends], [])
        held.open()
        self.emit(ast.For(ast.Name(target, ast.Store()), bounds, made, [], lineno=0))
        return held.returned

    def only_within(self, name: str, node: ast.AST) -> bool:
        """Whether a variable is used in a part of the function alone, but for other loops that count with it."""
        loops = [each for each in ast.walk(self.tree) if isinstance(each, ast.For) and counts(each, name)]
        within = {id(each) for part in (node, *loops) for each in ast.walk(part)}
        return all(each in within for each in self.occurrences.get(name, ()))

    def count_by_lane(self, node: ast.For, ends: list[Value], mask: str | None) -> bool:
        """A loop over `range` whose ends differ by lane."""
        assert isinstance(node.target, ast.Name)
        self.sensitive = True
        target = node.target.id
        start = ends[0].node if len(ends) > 1 else ast.Constant(0)
        stop = ends[1 if len(ends) > 1 else 0].node
        if len(ends) > 2:
            raise self.unsupported(node, "steps of a range whose ends differ by lane have no lane form")
        counter, last = self.temporary(start), self.temporary(stop)
        self.varying.add(target)
        loop = Loop(len(self.loops), node)
        held = LoopBody(self, loop, node, mask, f"{counter} < {last}")
        was = target in self.defined
        if not was and not self.only_within(target, node):
            self.late.append(target)
            was = True
        self.defined.add(target)

        def first(inner: str) -> None:
            value = call_of("_select", name_of(inner), name_of(counter), name_of(target) if was else name_of(counter))
            self.set(target, value)
            self.emit(f"{counter} = {counter} + 1")

        made = held.body(first)
        held.open()
        self.emit(ast.While(ast.Constant(True), made, []))
        return held.returned

    def repeat(self, node: ast.While, mask: str | None) -> bool:
        if node.orelse:
            raise self.unsupported(node, "loops with `else` have no lane form")
        tests: list[Value] = []
        hoisted = self.inside(lambda: tests.append(self.expression(node.test, mask)))
        [test] = tests
        loop = Loop(len(self.loops), node)
        if not test.varying and not isinstance(hoisted[0], ast.Pass):
            raise self.unsupported(node, "the condition of this loop has no lane form; compute it before the loop")
        self.sensitive = self.sensitive or test.varying
        held = LoopBody(self, loop, node, mask, node.test if test.varying else None)
        made = held.body()
        held.open()
        self.emit(ast.While(ast.Constant(True) if test.varying else test.node, made, []))
        return held.returned

    def give_back(self, node: ast.Return, mask: str | None) -> bool:
        value = self.expression(node.value, mask) if node.value is not None else None
        entry = "entry_" if self.masked else None
        if mask == entry and not self.loops_by_lane:
            if value is None:
                self.emit("return")
            else:
                self.returns_varying = self.returns_varying or value.varying
                self.emit(ast.Return(value.node))
            return False
        self.returns_by_lane = True
        taken = mask or self.temporary(call_of("_mask", ast.Constant(True)))
        if value is not None:
            self.returns_varying = True
            self.set("value_", call_of("_select", name_of(taken), value.node, name_of("value_")))
        self.emit(f"returned_ = returned_ | {taken}")
        return True

    @property
    def loops_by_lane(self) -> bool:
        return any(loop.mask is not None for loop in self.loops)

    def leave(self, node: ast.Break | ast.Continue, mask: str | None) -> bool:
        loop = self.loops[-1]
        if mask == loop.mask:
            self.emit(ast.Break() if isinstance(node, ast.Break) else ast.Continue())
            return False
        assert mask is not None
        if isinstance(node, ast.Break):
            loop.breaks = True
            self.emit(f"{loop.broken} = {loop.broken} | {mask}")
        else:
            loop.continues = True
            self.emit(f"{loop.continued} = {loop.continued} | {mask}")
        return True


class LoopBody:
    """The body of a loop under masks: which lanes are still in it."""

    def __init__(
        self,
        made: Translation,
        loop: Loop,
        node: ast.For | ast.While,
        mask: str | None,
        test: str | ast.expr | None = None,
    ) -> None:
        self.made, self.loop, self.node, self.mask, self.test = made, loop, node, mask, test
        self.returned = False

    def body(self, first: Callable[[str], None] | None = None) -> list[ast.stmt]:
        """The statements of an iteration. Made again when it turns out that lanes leave."""
        made, loop = self.made, self.loop
        while True:
            defined, temporaries = set(made.defined), made.temporaries
            before = loop.breaks, loop.continues, made.returns_by_lane
            written = made.inside(lambda: self._iteration(first))
            if before == (loop.breaks, loop.continues, made.returns_by_lane):
                return written
            made.defined, made.temporaries = defined, temporaries

    def _iteration(self, first: Callable[[str], None] | None) -> None:
        made, loop = self.made, self.loop
        returns = made.returns_by_lane and has_return(self.node)
        leaving = self.test is not None or loop.breaks or returns
        made.loops.append(loop)
        loop.mask = self.mask
        confined = False
        if leaving:
            gone = [
                *([loop.broken] if loop.breaks or self.test is not None else []),
                *(["returned_"] if returns else []),
            ]
            out = f"_outside({' | '.join(gone)})"
            mask = made.temporary(ast.parse(f"{self.mask} & {out}" if self.mask else out, mode="eval").body)
            if self.test is not None:
                loop.breaks = True
                made.emit(f"if not _some({mask}):\n    break")
                if isinstance(self.test, str):
                    test: ast.expr = ast.parse(self.test, mode="eval").body
                else:
                    test = made.expression(self.test, mask).node
                held = made.temporary(mask_call(test))
                made.emit(f"{loop.broken} = {loop.broken} | ({mask} & _outside({held}))")
                mask = made.temporary(ast.parse(f"{mask} & {held}", mode="eval").body)
            made.emit(f"if not _some({mask}):\n    break")
            loop.mask = mask
        if loop.continues:
            made.emit(f"{loop.continued} = _mask(False)")
        if leaving or loop.continues:
            made.confining.append(self.node)
            confined = True
        if first is not None:
            assert loop.mask is not None
            first(loop.mask)
        made.statements(self.node.body, loop.mask)
        if confined:
            made.confining.pop()
        made.loops.pop()
        self.returned = returns

    def open(self) -> None:
        """What comes in front of the loop."""
        if self.loop.breaks:
            self.made.emit(f"{self.loop.broken} = _mask(False)")
