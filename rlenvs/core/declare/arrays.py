"""The arrays of a batch, in one table: what each is for, what has a row in it, how compiled code sees it, what is kept.

All else follows from the table: the memory of a batch (`rlenvs.core.batch.memory`), the record of addresses with which
the driver finds them (`rlenvs.core.compiler.table`), the layouts of their rows, what copies and pickles take along.
Row lies behind row, each a block of bytes: `Array.shape` and `Array.step` decide that for Python,
`records.row_accessor` for compiled code.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.layout import Kind, Layout, b1, f4, f8, i1, i8, resolved, u1, u4
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

Row = Kind | Layout | dict[str, Kind]  # a number or numbers (then `.value`), or the fields of a record

# numbers of a batch that the driver reads beside the arrays
SCALARS = (
    *("worlds", "agents", "autoreset", "action_numbers", "scaled", "converted", "cost_maximum", "randomized"),
    *("first_decides", "has_images", "plan_steps"),
    # of lanes: where the blocks lie and how far apart, the block to which the record belongs, the address of compiled
    # `run_worlds`, the first row of parameters, and of the states
    *("blocks", "block_bytes", "blocks_end", "block", "run_worlds", "params_common", "state_rows"),
)
# the fields of a result, of all agents
RESULT_PARTS = {"terms": f8("terms", "agents"), "success": b1("agents"), "terminated": b1("agents")}
SCALING = ("gain", "offset", "low", "high")
# the axis of the numbers of an action, as kernels see it, by `Setup.action_kind`
NUMBER_AXIS = {"continuous": ("action_numbers",), "multi": ("action_numbers",), "flat": ("dimensions",), "discrete": ()}


@dataclass(frozen=True)
class Array:
    """One array of a batch.

    Attributes:
        per: what has a row: each "world"; each "agent" of each world; "once", where all share what is in it; "call",
            where the batch has no memory for it and a method of it brings some.
        row: what a row is.
        seen: by the name that the driver has for it (`name_of(b, i)` is row i), how it sees the bytes of a row; one
            name where it sees the row as it is.
        kept: whether copies, pickles and checkpoints of a batch take it along.
        outcome: whether it is part of what a step gives, which lies in one piece of memory.
        fill: what it holds at first.
        only: what a batch needs to have it (rows are missing otherwise): "final" observations to set aside, "flat"
            actions, "converted" ones, "images".
        lanes: when blocks of worlds exchange it with the batch, see `rlenvs.core.compiler.lanes.blocks`: "taken" before
        a step,
            "given" behind it, "seen" when the worlds are observed; "own" where it never leaves the block.
    """

    per: str
    row: Row
    seen: str | Mapping[str, Row]
    kept: bool = False
    outcome: bool = False
    fill: int = 0
    only: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()

    @property
    def views(self) -> Mapping[str, Row]:
        """How the driver sees a row, by name."""
        return {self.seen: self.row} if isinstance(self.seen, str) else self.seen

    def shape(self, worlds: int, agents: int, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The axes: one or two for what has a row, then those of the numbers of a row."""
        rows = {"world": (worlds,), "agent": (worlds, agents), "once": (1,)}[self.per]
        return (*rows, *resolved(self.row.shape, sizes)) if isinstance(self.row, Kind) else rows

    def dtype(self, sizes: Mapping[str, int]) -> np.dtype:
        """The type of a number, or of the record, in a row."""
        return np.dtype(self.row.code) if isinstance(self.row, Kind) else layout_of("row", self.row).dtype(sizes)

    def step(self, sizes: Mapping[str, int]) -> int:
        """The bytes from one row to the next."""
        count = math.prod(resolved(self.row.shape, sizes)) if isinstance(self.row, Kind) else 1
        return count * self.dtype(sizes).itemsize


def arrays_of(world: World, kind: str) -> dict[str, Array]:
    """The arrays of a batch by name: its attributes, and with an underscore those for the core alone.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
    """
    return _arrays_of(world, kind, world.layouts["state"])


@functools.cache
def _arrays_of(world: World, kind: str, state: Layout) -> dict[str, Array]:
    """The table; a new one where the state has become another one, as by a mask that was hung on the world."""
    params, result = (world.layouts[name] for name in ("params", "result"))
    observation, images, central = (world.layouts[name] for name in ("observation", "images", "central"))
    observed, pixels, parts = world.seen_as("observation_numbers"), u1("image_bytes"), RESULT_PARTS
    number = f8 if kind == "continuous" else i8
    return {
        **_moving(state, params, kind, number, _action_views(world, kind, number)),
        **_seen(observation, observed, images, pixels),
        **_outcome(result, parts),
        **_final(observed, images, pixels, result),
        **_constant(state, result, parts),
        **_of_a_call(central, number, _barrier_fields(world)),
    }


def _moving(state: Layout, params: Layout, kind: str, number: Kind, for_kernels: Mapping[str, Row]) -> dict[str, Array]:
    """The worlds, and what moves them."""
    return {
        # all that decides what comes next; as bytes what resets clear, and as words, to look for NaN
        "states": Array(
            "world",
            state,
            {"state": state, "episode_bytes": u1("episode_bytes"), "words": u4("state_words")},
            kept=True,
            lanes=("taken", "given"),
        ),
        # parameters, options, data and weights: one row for all worlds, until they differ (`own_params`)
        "param_rows": Array(
            "world", params, {"params": params, "param_numbers": f8("param_numbers")}, kept=True, lanes=("taken",)
        ),
        # what the last step used and the next one will
        "actions": Array(
            "world",
            number("agents", "action_numbers"),
            {"action_values": number("actions"), **(for_kernels if kind != "flat" else {})},
            kept=True,
            lanes=("taken",),
        ),
        # the choices for which flat actions stand; numbers as kernels see them, where users give others (there the
        # views of `actions` for kernels are on this array)
        "_split": Array(
            "world",
            number("agents", "action_numbers" if kind == "continuous" else "dimensions"),
            {"split_values": number("split_numbers"), **(for_kernels if kind == "flat" else {})},
            only=("converted",) if kind == "continuous" else ("flat",),
            lanes=("own",),
        ),
        # which worlds begin a new episode
        "_begin": Array("world", b1, "begin"),
        # which worlds a step leaves as they are
        "_asleep": Array("world", b1, "asleep"),
        # the scripted player of each agent, -1 for none
        "_slots": Array("world", i8("agents"), "slot", fill=-1),
    }


def _seen(observation: Layout, observed: Kind, images: Layout, pixels: Kind) -> dict[str, Array]:
    """What agents see."""
    return {
        # vectors: in physical units while the kernel writes them, scaled and clipped behind it
        "observations": Array(
            "agent", observed, {"observation": observation, "observation_values": observed}, kept=True, lanes=("seen",)
        ),
        # all images of an observation
        "_images": Array("agent", images, {"images": images, "image_bytes": pixels}, kept=True, only=("images",)),
        # which choices are allowed, those of all numbers of an action one after the other
        "masks": Array("agent", i1("choices"), "mask", kept=True, fill=1, lanes=("seen",)),
        # the same for the choices for which flat actions stand
        "_split_masks": Array(
            "agent", i1("split_choices"), "split_mask", kept=True, fill=1, only=("flat",), lanes=("own",)
        ),
    }


def _outcome(result: Layout, parts: Row) -> dict[str, Array]:
    """What came of the last step."""
    return {
        # as kernels write it: terms, costs, success, termination
        "results": Array(
            "world",
            result,
            {"result": result, "parts": parts, "result_bytes": u1("result_bytes")},
            kept=True,
            outcome=True,
            lanes=("given",),
        ),
        # weighted sums of terms, and sums (or maxima) of costs
        "rewards": Array("world", f8("agents"), "reward", kept=True, outcome=True, lanes=("given",)),
        "costs": Array("world", f8("agents"), "cost", kept=True, outcome=True, lanes=("given",)),
        # whose episode ended, by the world itself or by the time limit
        "terminated": Array("world", b1("agents"), "terminated", kept=True, outcome=True, lanes=("given",)),
        "truncated": Array("world", b1("agents"), "truncated", kept=True, outcome=True, lanes=("given",)),
        # why an episode was broken off, a code of `rlenvs.core.compiler.driver`
        "_failed": Array("world", u1, "failed", kept=True, outcome=True, lanes=("given", "seen")),
        # the terms alone, without weights
        "reward_vectors": Array("agent", f4("reward_terms"), "reward_vector", kept=True, lanes=("given",)),
    }


def _final(observed: Kind, images: Layout, pixels: Kind, result: Layout) -> dict[str, Array]:
    """The same of episodes whose successor began in the same step (SAME_STEP)."""
    return {
        "final_observations": Array("agent", observed, "final_observation", kept=True, only=("final",)),
        "_final_images": Array("agent", images, {"final_image_bytes": pixels}, kept=True, only=("final", "images")),
        "final_masks": Array("agent", i1("choices"), "final_mask", kept=True, fill=1, only=("final",)),
        "_final_results": Array("world", result, {"final_result": u1("result_bytes")}, kept=True, only=("final",)),
        "final_costs": Array("world", f8("agents"), "final_cost", kept=True, only=("final",)),
        "_final_failed": Array("world", u1, "final_failed", kept=True, only=("final",)),
    }


def _constant(state: Layout, result: Layout, parts: Row) -> dict[str, Array]:
    """What never changes."""
    return {
        # the state in front of the kernel `reset`: zero, unless an engine fills it
        "_blank": Array("once", state, {"blank": u1("episode_bytes")}),
        # where the exponents of the state's floats lie, and what they are in NaN and infinity
        "_exponents": Array("once", {"mask": u4("state_words"), "full": u4("state_words")}, "exponents"),
        # from physical units to the observation space, and to that of central states
        "_scaling": Array("once", dict.fromkeys(SCALING, f4("observation_numbers")), "scaling"),
        "_central_scaling": Array("once", dict.fromkeys(SCALING, f4("central_numbers")), "central_scaling"),
        # from the actions that users give to those that kernels see, and the bounds of the former
        "_action_scaling": Array("once", dict.fromkeys(SCALING, f8("action_numbers")), "action_scaling"),
        # the parameters that resets draw, a row each: the number in the record, and from where to where
        "_random_ranges": Array("once", {"index": i8, "low": f8, "high": f8}, "random_range"),
        # of each number of each agent's action, how many choices there are
        "_choices": Array("once", i8("actions"), "choices"),
        # of each agent, how long its mask is
        "_mask_lengths": Array("once", i8("agents"), "mask_length"),
        # of flat actions, the numbers of choices for which they stand
        "_dimensions": Array("once", i8("dimensions"), "dimensions"),
        # room for one result, in which goals are graded
        "_graded": Array("once", result, {"graded": result, "graded_parts": parts}),
    }


def _of_a_call(central: Layout, number: Kind, barrier: dict[str, Kind]) -> dict[str, Array]:
    """What belongs to a call."""
    return {
        # `central`: the central state of each world
        "central": Array("call", central, {"central": central, "central_values": f4("central_numbers")}),
        # `roll`: of each world and step the actions, and what they gave
        "plan_action": Array("call", number("actions"), "plan_action"),
        "plan_reward": Array("call", f8("agents"), "plan_reward"),
        "plan_cost": Array("call", f8("agents"), "plan_cost"),
        # `compute_reward`: pairs of goals, and what they are worth
        "goals": Array("call", {"achieved": f4("goal_numbers"), "desired": f4("goal_numbers")}, "goals"),
        "grades": Array("call", {"reward": f8, "terminated": b1}, "grades"),
        # `barriers`: each world's proposed action, and its barriers; of agents, one after the other
        "proposal": Array("call", f8("action_numbers"), "proposal"),
        "barrier": Array("call", barrier, "barrier"),
    }


def _action_views(world: World, kind: str, number: Kind) -> dict[str, Row]:
    """An action as kernels see it, and where experts and players write theirs."""
    shape = (*(("agents",) if world.agents else ()), *NUMBER_AXIS[kind])
    return {"action": Kind(number.code, shape), "advice": Kind(number.code, shape or (1,))}


def _barrier_fields(world: World) -> dict[str, Kind]:
    """What the barriers of a world are made of, see `World.barrier`; of agents, whose they are."""
    return {
        **({"agent": i8} if world.barriers and world.agents else {}),
        "value": f8(world.barriers),
        "drift": f8(world.barriers),
        "slope": f8(world.barriers, "action_numbers"),
        **{name: f8("action_numbers") for name in ("low", "high", "brake")},
    }


def layout_of(name: str, row: Row, known: Mapping[str, int] | None = None) -> Layout:
    """The layout of a row, with constants for the sizes that are known."""
    if isinstance(row, Layout):
        return row
    fields = {"value": row} if isinstance(row, Kind) else row
    return Layout(name, {each: kind.fixed(known or {}) for each, kind in fields.items()}, packed=True)


def row_layouts(world: World, kind: str) -> dict[str, Layout]:
    """The layouts of the rows that the driver reads and writes, by its names for them.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
    """
    return _row_layouts(world, kind, world.layouts["state"])


@functools.cache
def _row_layouts(world: World, kind: str, state: Layout) -> dict[str, Layout]:
    known = constant_sizes(world)
    rows = [view for array in _arrays_of(world, kind, state).values() for view in array.views.items()]
    return {name: layout_of(name, row, known) for name, row in rows}


@functools.cache
def batch_layout(names: tuple[str, ...]) -> Layout:
    """The record `b` of the driver: the scalars, and of every name its first row, the step to the next one, and the
    numbers that are known only when a batch is made (`Layout.meta`)."""
    rows = [f"{name}{part}" for name in names for part in ("", "_size", "_meta")]
    return Layout("batch", dict.fromkeys((*SCALARS, *rows), i8))


def constant_sizes(world: World) -> dict[str, int]:
    """Those of `all_sizes` that every batch of the world shares; the compiler unrolls loops over constants."""
    sizes = {"terms": len(world.terms) + len(world.costs), "reward_terms": len(world.terms)}
    if not world.agents:
        sizes["agents"] = 1
    layouts = world.layouts
    if not layouts["state"].size_names:
        sizes["episode_bytes"] = layouts["state"].bytes_before_last({})
        sizes["state_words"] = len(layouts["state"].exponents({}))
    if not layouts["images"].size_names:
        sizes["image_bytes"] = len(world.images) and layouts["images"].dtype({}).itemsize
    if not layouts["result"].size_names:
        sizes["result_bytes"] = layouts["result"].dtype({}).itemsize
    if not layouts["observation"].size_names:
        sizes["observation_numbers"] = layouts["observation"].dtype({}).itemsize // int(world.seen_as.code[1:])
    return sizes


def all_sizes(setup: Setup) -> dict[str, int]:
    """The world's sizes and those that follow from its layouts.

    Raises:
        ParameterError: the world has a size with the name of one that follows, and another value.
    """
    following = {
        "episode_bytes": setup.world.layouts["state"].bytes_before_last(setup.sizes),
        "state_words": len(setup.world.layouts["state"].exponents(setup.sizes)),
        "image_bytes": setup.dtypes["images"].itemsize if setup.image_shapes else 0,
        "result_bytes": setup.dtypes["result"].itemsize,
        "param_numbers": max(len(setup.world.params), 1),
        "action_numbers": setup.numbers,
        "actions": setup.agents * setup.numbers,
        "choices": sum(setup.choices) or 1,
        "dimensions": len(setup.dimensions),
        "split_numbers": setup.agents * (setup.numbers if setup.continuous else len(setup.dimensions)),
        "split_choices": sum(setup.dimensions),
        "observation_numbers": setup.scaling.shape[1],
        "central_numbers": setup.central_scaling.shape[1],
        "goal_numbers": setup.goal_size,
        "terms": len(setup.world.terms) + len(setup.world.costs),
        "reward_terms": len(setup.world.terms),
    }
    for name in following.keys() & setup.sizes.keys():
        if setup.sizes[name] != following[name]:
            raise ParameterError(
                f"{setup.world.name}: the size {name!r} is {setup.sizes[name]}, but the core uses this name with the "
                f"value {following[name]}; choose another name"
            )
    return {**setup.sizes, **following}
