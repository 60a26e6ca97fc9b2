"""What the compiled driver of a world calls when it takes several worlds at a time."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from rlenvs.core.compiler.driver import ENTRY_POINTS
from rlenvs.core.compiler.intermediate import make_compilable
from rlenvs.core.compiler.lanes import copying, masks
from rlenvs.core.compiler.lanes.blocks import BLOCK, LINE, RUN, WIDTH
from rlenvs.core.compiler.lanes.kernels import LaneKernels
from rlenvs.core.compiler.lanes.records import lane_row_accessor
from rlenvs.core.compiler.records import accessor, row_accessor
from rlenvs.core.compiler.thread_loops import atomic_set, call_loop
from rlenvs.core.declare.arrays import arrays_of, row_layouts
from rlenvs.core.declare.spec import World


def add_names(scope: dict[str, Any], world: World, kind: str, own: bool) -> None:
    """Put beside `run_blocks` what it calls: lane forms of `advance_block` and `show_block`, copiers, blocks.

    Args:
        scope: the names of a driver, with the kernels of a world.
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
        own: whether every world has parameters of its own.
    """
    for function in scope.values():
        if (
            isinstance(function, FunctionType)
            and function.__globals__ is scope
            and function.__name__ not in ENTRY_POINTS
        ):
            make_compilable(function)
    _add_lane_forms(scope, world, kind, own)
    for item in (1, 2, 4, 8):
        for verb, inwards in (("take", True), ("give", False)):
            for name, make in ((f"{verb}_{item}", copying.copier), (f"{verb}_dense_{item}", copying.dense_copier)):
                scope[name] = make(item, inwards)
                # two drivers must not share the name of a function, see `CompiledDriver`
                scope[name].__module__, scope[name].__qualname__ = scope["__name__"], name
                make_compilable(scope[name])
    scope.update(
        WIDTH=WIDTH,
        **{name: getattr(copying, name) for name in ("lanes_of", "lanes_from", "lanes_at_8", "lanes_at_4")},
        **{name: getattr(copying, name) for name in ("set_lanes", "prefetch")},
        **{name: getattr(masks, name) for name in ("some", "outside", "no_lanes")},
        CACHE_LINE=LINE,
        atomic_set=atomic_set,
        call_loop=call_loop,
        block_at=accessor(BLOCK),
        run_of=row_accessor("run", RUN),
    )


def _add_lane_forms(scope: dict[str, Any], world: World, kind: str, own: bool) -> None:
    layouts = row_layouts(world, kind)
    in_lanes = {
        f"{view}_of": lane_row_accessor(view, layouts[view])
        for name, array in arrays_of(world, kind).items()
        for view in array.views
        if array.lanes and (own or name != "param_rows")
    }
    uniform = [scope[f"{view}_of"] for view in layouts if f"{view}_of" not in in_lanes]
    replaced = {**in_lanes, "state_is_finite": scope["block_is_finite"]}
    forms = LaneKernels(scope["__name__"], replaced.values(), uniform, make_compilable, {**replaced, "IN_LANES": True})
    for name, block in (("advance_lanes", "advance_block"), ("show_lanes", "show_block")):
        scope[name] = forms.scope[forms.form(scope[block], (False, False), False).name]
