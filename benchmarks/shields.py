"""Whether shields keep worlds safer than they are without: the share of unsafe steps on every id with costs.

    python benchmarks/shields.py [ID ...] [--steps 150] [--worlds 16] [--seed 100] [--missing] [--write]
                                [--lookahead 0 20]

Every row plays the same steps of the same seeds without a shield and with each of `SHIELDS`. Policies: "held" keeps a
random action for 20 steps on average, "expert" is the scripted one, and "adversary" looks for costs: of its last action
and five random ones it takes the one with the most unsafe steps when held for five steps. The table goes to
benchmarks/shields.md with --write; --missing leaves out the ids that it has.
"""

from __future__ import annotations

import argparse
import re
import textwrap
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rlenvs
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.shields import Shield
from rlenvs.wrappers.slots import BatchSlots
from rlenvs.wrappers.ways import Ways
from rlenvs.wrappers.world_copies import Copies

TABLE = Path(__file__).parent / "shields.md"
SHIELDS = {  # the presets of the fallback, and the example of docs/wrappers.md
    "idle": Shield(fallback="idle"),
    "expert": Shield(fallback="expert"),
    "idle, 60": Shield(fallback="idle", lookahead=60),
}
POLICIES = ("held", "expert", "adversary")
TRIED, AHEAD = 5, 5  # random actions that the adversary tries, and for how many steps


class Policy:
    """One of `POLICIES` for a vector environment, which it reads and does not change."""

    def __init__(self, name: str, env: Any, seed: int) -> None:
        self.name, self.env, self.rng = name, env, np.random.default_rng(seed)
        stage = BatchSlots(rlenvs.make_vec(env.spec.id, env.num_envs))
        self.copies, self.count = Copies(stage), env.num_envs
        shape = (self.count, *(env.single_action_space.shape or ()))
        self.ways = Ways(stage, np.zeros(shape, np.float64 if stage.continuous else np.int64))
        self.held = self.ways.random(self.rng, self.count)

    def __call__(self, step: int) -> np.ndarray:
        """The actions of a step."""
        fresh = self.rng.random(self.count) < 0.05
        self.held[fresh] = self.ways.random(self.rng, self.count)[fresh]
        if self.name == "expert":
            return self.env.expert_actions()
        if self.name == "adversary":
            tried = [self.held.copy(), *(self.ways.random(self.rng, self.count) for _ in range(TRIED))]
            found = np.array([self._unsafe_steps(actions, step) for actions in tried])
            self.held = np.array(tried)[np.argmax(found, axis=0), np.arange(self.count)]
        return self.held.astype(self.env.single_action_space.dtype)

    def _unsafe_steps(self, actions: np.ndarray, step: int) -> np.ndarray:
        key = np.arange(1, self.count + 1, dtype=np.uint64)
        self.copies.match(self.env.unwrapped.batch, key, np.full(self.count, step))
        unsafe = np.zeros(self.count)
        for _ in range(AHEAD):
            live = ~self.copies.over
            self.copies.step(actions, live)
            unsafe += live & (self.copies.cost("cost") > 0.0)
        return unsafe


class Danger(NamedTuple):
    """The share of steps with costs, and how many episodes such a step terminated."""

    unsafe: float
    ended: int

    def __str__(self) -> str:
        return f"{100 * self.unsafe:.2f}" + (f" ({self.ended})" if self.ended else "")

    def within(self, other: Danger, slack: float = 0.0) -> bool:
        """Whether there is no more danger than in the other: who survives in danger may have more steps in it."""
        return self.unsafe <= other.unsafe + slack or self.ended < other.ended


def danger_of(env: Any, policy: str, steps: int, seed: int = 100) -> Danger:
    """The danger of a policy in so many steps of an environment with or without a shield."""
    env.reset(seed=seed)
    act, unsafe, made, ended, over = Policy(policy, env, seed), 0, 0, 0, np.zeros(env.num_envs, np.bool_)
    for step in range(steps):
        *_, terminated, truncated, info = env.step(act(step))
        paid = (info["cost"] > 0.0) & ~over
        unsafe, made = unsafe + np.count_nonzero(paid), made + np.count_nonzero(~over)
        ended += np.count_nonzero(paid & terminated)
        over = terminated | truncated
    return Danger(unsafe / made, ended)


def shielded(id: str, shield: Shield, worlds: int) -> tuple[Any, bool]:
    """An environment with a shield, and whether `wrap` warned of its fallback."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        env = wrap(rlenvs.make_vec(id, worlds), shield)
    return env, any("does not keep" in str(each.message) for each in said)


def shields_for(id: str) -> dict[str, Shield]:
    """The shields whose fallback the world has."""
    world = rlenvs.make_batch(id, 1, backend="python").world
    expert = {"expert", "python_expert"} & set(world.kernels) or world.players
    return {name: shield for name, shield in SHIELDS.items() if expert or shield.fallback != "expert"}


def rows_of(id: str, worlds: int, steps: int, seed: int) -> list[str]:
    """A row per policy: id, policy, the danger without a shield and with each, and how far the shields look ahead."""
    known, rows = shields_for(id), []
    for policy in POLICIES:
        if policy == "expert" and len(known) < len(SHIELDS):
            continue
        cells: dict[tuple[str, int], str] = {}  # by fallback and look ahead: the same shield is tried once
        bare, told, looks = danger_of(rlenvs.make_vec(id, worlds), policy, steps, seed), [], []
        for name in SHIELDS:
            if name not in known:
                told.append("")
                continue
            env, warned = shielded(id, known[name], worlds)
            case = known[name].fallback, env.wrappers[0].look
            if case not in cells:
                cells[case] = mark(danger_of(env, policy, steps, seed), bare) + "*" * warned
            told.append(cells[case])
            looks.append(str(case[1]))
        rows.append(f"| {id} | {policy} | {bare} | {' | '.join(told)} | {', '.join(looks)} |")
    return rows


def mark(danger: Danger, bare: Danger) -> str:
    """The danger, in bold letters where more steps are unsafe than without a shield."""
    return f"**{danger}**" if danger.unsafe > bare.unsafe else str(danger)


def ids_with_costs() -> list[str]:
    """All plain ids whose worlds have costs."""
    ids = [id.removeprefix("rlenvs/") for id in rlenvs.list_envs()]
    return [id for id in ids if not id.startswith("mo-") and rlenvs.core.catalogue.registry.world_of(id).costs]


def heading(options: argparse.Namespace) -> list[str]:
    """What stands above the rows of the table."""
    command = f"--steps {options.steps} --worlds {options.worlds} --seed {options.seed} --write"
    text = f"""`python benchmarks/shields.py {command}`: unsafe steps, in % of all steps from the same starts (episodes
        begin anew where they end), without a shield and with `Shield(fallback=...)`, by the look ahead that `wrap`
        finds (last column) and by `lookahead=60`. A step with a cost is unsafe; in brackets: how many episodes were
        terminated by such a step. *: `wrap` warns that the fallback does not keep the world safe. **Bold**: more unsafe
        steps than without a shield."""
    return [
        "# Shields",
        "",
        *textwrap.wrap(" ".join(text.split()), 118),
        "",
        f"| world | policy | bare | {' | '.join(SHIELDS)} | steps ahead |",
        f"|---|---|---|{'---|' * len(SHIELDS)}---|",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--lookahead", type=int, nargs="*", default=[], help="more columns, not with --write")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--missing", action="store_true", help="leave out the ids that the table has")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    if options.write and options.lookahead:
        parser.error("--lookahead is for a look; the table that --write writes has the columns of SHIELDS")
    for look in options.lookahead:
        SHIELDS.update({f"{name}, {look}": Shield(fallback=name, lookahead=look) for name in ("idle", "expert")})
    lines = heading(options)
    old = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    known = [line for line in old if re.match(r"\| \w+-v\d", line)]
    for id in options.ids or ids_with_costs():
        if options.missing and any(line.startswith(f"| {id} |") for line in known):
            continue
        known = [line for line in known if not line.startswith(f"| {id} |")]
        for row in rows_of(id, options.worlds, options.steps, options.seed):
            known.append(row)
            print(row, flush=True)
        if options.write:
            TABLE.write_text("\n".join([*lines, *sorted(known)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
