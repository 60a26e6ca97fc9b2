"""Lock-step runs: several line-ups of operators play the same environment on the same seeds, side by side.

Every step and every episode can be logged, in a folder:

    run.json          the environment, how it was made, and who plays in which line-up
    steps.jsonl       a line per agent and step: what was decided, what came of it, and how long it took
    episodes.jsonl    a line per line-up and episode: returns, success, illegal actions, by agent

Everything but `seconds` repeats with the seed, where the operators do. In games of turns, agents that wait are not
asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.lockstep_log import Log, Row
from rlenvs.agents.operators import Decision, Moment, Operator, Scripted, View, operator_of, replied
from rlenvs.agents.paired import Comparison
from rlenvs.core.catalogue.make import text_parallel_env
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import first_seed_of, positive, truth
from rlenvs.core.declare.progress import progress
from rlenvs.core.forms.dialogue import tokens_in
from rlenvs.core.forms.text_env import NumericAction, TextParallelEnv
from rlenvs.version import __version__

__all__ = ["lock_step"]

LineUp = Any  # an operator for all agents, or a mapping from agents, or patterns of their names, to operators


class Play:
    """One line-up and its environment.

    Args:
        name: of the line-up. line_up: who plays. env: where.
    """

    def __init__(self, name: str, line_up: LineUp, env: TextParallelEnv) -> None:
        self.name, self.env = name, env
        seated = _seated(name, line_up, env.possible_agents)
        self.operators = {agent: operator.bind(env, agent) for agent, operator in seated.items()}
        self._turns = self.env.numeric.batch.world.turns
        self._players = [
            operator.player if isinstance(operator, Scripted) and operator.of_world else None
            for operator in self.operators.values()
        ]

    def begin(self, episode: int, seed: int) -> None:
        """Start an episode."""
        self.episode, self.seed, self.step = episode, seed, 0
        self._told, _ = self.env.reset(seed=seed)
        self._reasons = dict.fromkeys(self.env.possible_agents, "")
        self.returns = dict.fromkeys(self.env.possible_agents, 0.0)
        self.illegal, self.decisions, self.success = (dict.fromkeys(self.returns, 0) for _ in range(3))
        self.seconds = dict.fromkeys(self.returns, 0.0)
        for k, operator in enumerate(self.operators.values()):
            operator.reset([seed, episode, k])

    @property
    def over(self) -> bool:
        """Whether nobody acts any more."""
        return not self.env.agents

    def advance(self) -> list[Row]:
        """Take a step; a row for the log of each agent that acted."""
        moment, rows, replies = Moment(self.env, self._players), [], {}
        for agent in self.env.agents:
            view = View(moment, agent, self._told[agent], self._reasons[agent], self.step)
            if self._turns and all(len(choices) == 1 for choices in view.legal):
                replies[agent] = NumericAction(self.env.idle_action(agent))
                continue
            begin = time.monotonic()
            decision = self.operators[agent].act(view)
            taken = time.monotonic() - begin
            value, info = decision if isinstance(decision, Decision) else (decision, {})
            if not isinstance(info, Mapping):
                name = self.operators[agent].name
                raise ParameterError(f"the operator {name!r} notes {shortened(info)}; needed: a mapping for the log")
            replies[agent] = replied(value)
            rows.append({**info, **self._row(agent, value, taken)})
        self._told, rewards, ends, cuts, infos = self.env.step(replies)
        for agent in replies:
            self._count(agent, float(rewards[agent]), infos[agent])
        for row in rows:
            agent = row["agent"]
            self.decisions[agent] += 1
            self.seconds[agent] += row["seconds"]
            row |= {"action": self._played(agent), "illegal_reason": infos[agent]["illegal_reason"]}
            row |= {"reward": float(rewards[agent]), "terminated": bool(ends[agent]), "truncated": bool(cuts[agent])}
        self.step += 1
        return rows

    def _played(self, agent: str) -> Any:
        """The action that was taken, in the numeric form."""
        batch, k = self.env.numeric.batch, self.env.possible_agents.index(agent)
        return np.asarray(batch.setup.shown_action(batch.actions[0, k], k)).tolist()

    def _row(self, agent: str, value: Any, seconds: float) -> Row:
        operator = self.operators[agent]
        row: Row = {"run": self.name, "episode": self.episode, "seed": self.seed, "step": self.step, "agent": agent}
        row |= {"operator": operator.name, "kind": operator.kind, "seconds": round(seconds, 6)}
        if isinstance(value, str):
            row |= {"reply": value, "tokens_read": tokens_in(self._told[agent]), "tokens_written": tokens_in(value)}
        return row

    def _count(self, agent: str, reward: float, info: Mapping[str, Any]) -> None:
        self.returns[agent] += reward
        self.illegal[agent] = int(info["illegal_actions"])
        self.success[agent] = int(info["is_success"]) if "is_success" in info else -1
        self._reasons[agent] = info["illegal_reason"]

    def summary(self, agents: list[str]) -> Row:
        """The row of an episode; `agents` are those whose return is the line-up's."""
        known = [self.success[agent] for agent in agents if self.success[agent] >= 0]
        return {
            "run": self.name,
            "episode": self.episode,
            "seed": self.seed,
            "return": float(np.mean([self.returns[agent] for agent in agents])),
            "success": bool(max(known)) if known else None,
            "steps": self.step,
            "returns": self.returns,
            "illegal_actions": self.illegal,
            "decisions": self.decisions,
            "seconds": {agent: round(spent, 6) for agent, spent in self.seconds.items()},
        }

    def close(self) -> None:
        """Close the operators."""
        for operator in self.operators.values():
            operator.close()


def _seated(name: str, line_up: LineUp, agents: list[str]) -> dict[str, Operator]:
    """The operator of each agent: of the first pattern that fits its name."""
    given = line_up if isinstance(line_up, Mapping) else {"*": line_up}
    unused = [pattern for pattern in given if not any(fnmatchcase(agent, str(pattern)) for agent in agents)]
    if unused:
        raise UnknownNameError(f"line-up {name!r}: no agent is called {unused[0]!r}. {nearest(str(unused[0]), agents)}")
    seats = {agent: next((each for each in given if fnmatchcase(agent, str(each))), None) for agent in agents}
    empty = [agent for agent, pattern in seats.items() if pattern is None]
    if empty:
        raise ParameterError(f"line-up {name!r}: nobody plays {empty[0]}; give an operator for it, or for '*'")
    return {agent: operator_of(given[pattern]) for agent, pattern in seats.items()}


def lock_step(
    id: str,
    line_ups: Mapping[str, LineUp],
    episodes: int = 10,
    seed: int = 0,
    *,
    fixed_seed: bool = False,
    log: str | Path | None = None,
    watch: Callable[[list[Row]], Any] | None = None,
    make: Mapping[str, Any] | None = None,
    **choices: Any,
) -> Comparison:
    """Play line-ups of operators in lock-step on the same seeds, and compare them.

    In each round every line-up whose episode is not over takes one step, in an environment of its own.

    Args:
        id: the environment, with one agent or many.
        line_ups: by name: an operator for all agents, or a mapping from agents' names, or patterns of these ("ally_*",
            "*"), to operators; the first that fits counts. An operator is an `Operator`; the name of a scripted player,
            "expert", "random", "idle", "cycle" or "human"; or what `Policy` takes.
        episodes: of each line-up.
        seed: of the first episode; episode e has the seed seed + e, or with `fixed_seed` the same. Operators draw
            otherwise in each episode, and alike in all line-ups.
        log: the folder of the log; None for none. It must not have one yet.
        watch: called after each step of a line-up with its rows, as the log has them.
        make: keywords of `rlenvs.text_parallel_env` whose names are taken here.
        choices: its other keywords, such as level, text_history or fallback.

    Raises:
        UnknownNameError: an id, keyword, player or agent that does not exist.
        ParameterError: no line-up, an agent without an operator, a policy that does not fit, a folder with a log.
        What operators raise.
    """
    episodes, seed, fixed_seed = positive("episodes", episodes), first_seed_of(seed), truth("fixed_seed", fixed_seed)
    if not isinstance(line_ups, Mapping) or not line_ups or not all(isinstance(name, str) for name in line_ups):
        raise ParameterError(f"line_ups={shortened(line_ups)} must be a mapping from names to operators")
    keywords = {**choices, **(make or {})}
    if entry(id).id.startswith("rlenvs/mo-") or keywords.get("vector_reward"):
        raise ParameterError(f"{id}: line-ups are compared by a number; give an id and keywords without reward vectors")
    drawn = {"render_mode": "rgb_array"} if "draw" in world_of(id).functions else {}
    with ExitStack() as stack:
        plays = []
        for name, line_up in line_ups.items():
            env = text_parallel_env(id, **{**drawn, **keywords})
            stack.callback(env.close)
            plays.append(Play(name, line_up, env))
            stack.callback(plays[-1].close)
        agents = _first_team(plays[0])
        header = _header(entry(id).id, keywords, seed, fixed_seed, plays, agents)
        written = None if log is None else Log(log, header)
        if written is not None:
            stack.callback(written.close)
        rows: list[Row] = []
        with progress(f"{entry(id).id}: episodes", total=episodes) as tell:
            for episode in range(episodes):
                _play(plays, episode, seed if fixed_seed else seed + episode, watch, written)
                rows += [play.summary(agents) for play in plays]
                if written is not None:
                    written.write_episodes(rows[-len(plays) :])
                tell(episode + 1)
    return Comparison.of(header, rows)


def _play(
    plays: list[Play], episode: int, seed: int, watch: Callable[[list[Row]], Any] | None, log: Log | None
) -> None:
    """Play one episode of all line-ups, a step of each in turn."""
    for play in plays:
        play.begin(episode, seed)
    while playing := [play for play in plays if not play.over]:
        for play in playing:
            rows = play.advance()
            if log is not None:
                log.write_steps(rows)
            if watch is not None:
                watch(rows)


def _first_team(play: Play) -> list[str]:
    """The agents of the first team: those whose return and success a line-up is measured by."""
    teams = play.env.numeric.batch.setup.teams
    return [agent for agent, team in zip(play.env.possible_agents, teams, strict=True) if team == teams[0]]


def _header(
    id: str, keywords: Mapping[str, Any], seed: int, fixed_seed: bool, plays: list[Play], agents: list[str]
) -> Row:
    return {
        "id": id,
        "keywords": json.loads(json.dumps(dict(keywords), default=str)),
        "version": __version__,
        "seed": seed,
        "fixed_seed": fixed_seed,
        "measured": agents,
        "line_ups": {
            play.name: {agent: {"operator": each.name, "kind": each.kind} for agent, each in play.operators.items()}
            for play in plays
        },
    }
