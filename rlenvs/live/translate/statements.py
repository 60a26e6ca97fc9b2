"""Python's statements in JavaScript."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlenvs.live.translate.calls import Signature
from rlenvs.live.translate.expressions import OPERATORS, Expressions
from rlenvs.live.translate.kinds import infer, is_range
from rlenvs.live.translate.scope import Scope, Source, js_name, names_bound, parameters

if TYPE_CHECKING:
    from rlenvs.live.translate.program import Program


class Statements(Expressions):
    """Writes the statements of a function."""

    def block(self, body: list[ast.stmt]) -> str:
        """Statements in braces."""
        return "{ " + " ".join(self.statement(each) for each in body) + " }"

    def statement(self, node: ast.stmt) -> str:
        """One statement."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise self.error(node, f"{type(node).__name__} cannot be translated")
        return str(write(node))

    def _expr(self, node: ast.Expr) -> str:
        return "" if isinstance(node.value, ast.Constant) else f"{self.text(node.value)};"

    def _pass(self, _node: ast.Pass) -> str:
        return ""

    _import = _importfrom = _nonlocal = _assert = _pass

    def _break(self, _node: ast.Break) -> str:
        return "break;"

    def _continue(self, _node: ast.Continue) -> str:
        return "continue;"

    def _return(self, node: ast.Return) -> str:
        return f"return {self.text(node.value)};" if node.value else "return null;"

    def _raise(self, node: ast.Raise) -> str:
        return f'throw new Error("{type(node.exc).__name__}");'

    def _if(self, node: ast.If) -> str:
        rest = f" else {self.block(node.orelse)}" if node.orelse else ""
        return f"if ({self.test(node.test)}) {self.block(node.body)}{rest}"

    def _while(self, node: ast.While) -> str:
        if node.orelse:
            raise self.error(node, "while ... else cannot be translated")
        return f"while ({self.test(node.test)}) {self.block(node.body)}"

    def _match(self, node: ast.Match) -> str:
        subject = self.scope.temporary()
        text = ""
        for case in node.cases:
            pattern = case.pattern
            if case.guard or not isinstance(pattern, ast.MatchValue):
                raise self.error(pattern, "this pattern cannot be translated")
            test = f"py.eq({subject}, {self.text(pattern.value)})"
            text += f"{' else ' if text else ''}if ({test}) {self.block(case.body)}"
        return f"{{ const {subject} = {self.text(node.subject)}; {text} }}"

    def _for(self, node: ast.For) -> str:
        if node.orelse:
            raise self.error(node, "for ... else cannot be translated")
        each = self.scope.temporary()
        head = f"const {each} of {self.looped(node.iter)}"
        if is_range(node.iter) and isinstance(node.target, ast.Name) and not self.words:
            assert isinstance(node.iter, ast.Call)
            if len(node.iter.args) < 3 and not any(isinstance(arg, ast.Starred) for arg in node.iter.args):
                start, stop = (["0"] if len(node.iter.args) == 1 else []) + [self.text(arg) for arg in node.iter.args]
                end = self.scope.temporary()
                head = f"let {each} = {start}, {end} = {stop}; {each} < {end}; {each}++"
        first = self.assigned(node.target, each)
        return f"for ({head}) {{ {first} " + self.block(node.body)[2:]

    def _assign(self, node: ast.Assign) -> str:
        if len(node.targets) == 1:
            target, value = node.targets[0], node.value
            return self.assigned(target, self.text(value), isinstance(value, (ast.Tuple, ast.List)))
        whole = self.scope.temporary()
        told = " ".join(self.assigned(target, whole) for target in node.targets)
        return f"{{ const {whole} = {self.text(node.value)}; {told} }}"

    def _annassign(self, node: ast.AnnAssign) -> str:
        return self.assigned(node.target, self.text(node.value)) if node.value else ""

    def assigned(self, target: ast.expr, value: str, listed: bool = False) -> str:
        """An assignment of what is written already, of an array if it is `listed`."""
        if isinstance(target, ast.Subscript):
            return f"py.set_item({self.text(target.value)}, {self.index(target.slice)}, {value});"
        if isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(each, ast.Subscript) for each in target.elts):
                return self._taken_apart(target, value)
            return f"{self._place(target)} = {value if listed or self.words else f'py.iter({value})'};"
        return f"{self._place(target)} = {value};"

    def _place(self, target: ast.expr) -> str:
        """Where a value goes."""
        if isinstance(target, ast.Name):
            return js_name(target.id)
        if isinstance(target, ast.Attribute):
            return f"{self.text(target.value)}.{target.attr}"
        if isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(each, ast.Starred) for each in target.elts[:-1]):
                raise self.error(target, "a starred target has to be the last one")
            return f"[{', '.join(self._place(each) for each in target.elts)}]"
        if isinstance(target, ast.Starred):
            return f"...{self._place(target.value)}"
        raise self.error(target, "this target cannot be translated")

    def _taken_apart(self, target: ast.Tuple | ast.List, value: str) -> str:
        whole = self.scope.temporary()
        parts = " ".join(self.assigned(each, f"{whole}[{i}]") for i, each in enumerate(target.elts))
        return f"{{ const {whole} = [...py.iter({value})]; {parts} }}"

    def _augassign(self, node: ast.AugAssign) -> str:
        if isinstance(node.target, ast.Name):
            load: ast.expr = ast.Name(node.target.id, ast.Load())
        elif isinstance(node.target, ast.Attribute):
            load = ast.Attribute(node.target.value, node.target.attr, ast.Load())
        elif isinstance(node.target, ast.Subscript):
            load = ast.Subscript(node.target.value, node.target.slice, ast.Load())
        else:
            raise self.error(node, "this target cannot be translated")
        whole = ast.copy_location(ast.BinOp(ast.copy_location(load, node), node.op, node.value), node)
        if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and self.kinds.of(node.target) is None:
            return f"{js_name(node.target.id)} = py.iadd({self.text(load)}, {self.text(node.value)});"
        assert type(node.op) in OPERATORS
        return self.assigned(node.target, self.text(whole))

    def _functiondef(self, node: ast.FunctionDef) -> str:
        names = tuple(each.arg for each in parameters(node.args))
        front = len(names) - len(node.args.kwonlyargs) if node.args.vararg else -1
        self.scope.functions[node.name] = Signature(names, len(names) - len(node.args.defaults), front)
        text = function_text(node, self.scope.source, self.program, around=self.scope)
        return f"{js_name(node.name)} = {text};"


def function_text(
    node: ast.FunctionDef,
    source: Source,
    program: Program,
    name: str = "",
    around: Scope | None = None,
    method: bool = False,
) -> str:
    """A function.

    Args:
        node: its syntax. source: where it comes from.
        name: in JavaScript; without one it is an arrow function. around: the scope in which it is defined.
        method: whether its first parameter is the object.
    """
    own = {each.arg for each in parameters(node.args)}
    own |= {node.args.vararg.arg} if node.args.vararg else set()
    outer = {name for each in ast.walk(node) if isinstance(each, ast.Nonlocal) for name in each.names}
    variables = names_bound(node.body) - own - outer
    scope = Scope(source, own | variables, around=around)
    infer(scope, node.args, node.body)
    writer = Statements(scope, program)
    if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node)):
        writer = Generator(scope, program)
    given = Expressions(around or Scope(source, set()), program)
    arguments = node.args
    first = ""
    if method:
        first = f"const {js_name(arguments.args[0].arg)} = this; "
        arguments = ast.arguments(
            posonlyargs=[],
            args=arguments.args[1:],
            vararg=arguments.vararg,
            kwonlyargs=arguments.kwonlyargs,
            kw_defaults=arguments.kw_defaults,
            kwarg=arguments.kwarg,
            defaults=arguments.defaults,
        )
    body = writer.block(node.body)
    if isinstance(writer, Generator):
        body = f"{{ const $yielded = []; {body[2:-2]} return $yielded; }}"
    declared = "".join(f"let {', '.join(sorted(map(js_name, variables)))}; " if variables else "")
    body = f"{{ {first}{declared}{body[2:]}"
    head = f"({given.parameters(arguments)})"
    return f"{head} => {body}" if not name else f"{name}{head} {body}"


class Generator(Statements):
    """Writes a function with `yield`: one that gives a list."""

    def _expr(self, node: ast.Expr) -> str:
        if isinstance(node.value, ast.Yield) and node.value.value:
            return f"$yielded.push({self.text(node.value.value)});"
        if isinstance(node.value, ast.YieldFrom):
            return f"$yielded.push(...py.iter({self.text(node.value.value)}));"
        return super()._expr(node)

    def _return(self, node: ast.Return) -> str:
        return "return $yielded;"
