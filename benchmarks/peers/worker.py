"""The loop that every peer worker shares: time steps on request, so that a benchmark can interleave peers.

A worker runs under the peer's own interpreter. It builds its environment, warms it up and prints ``ready``. Each line
it then reads is a number of seconds S: it steps the environment with pre-drawn random actions until S seconds are
counted and prints one line of JSON, ``{"steps": int, "seconds": float, "agents": float}``. ``seconds`` leaves out the
choice of actions that cannot be drawn before, and the resets unless ``--with-resets`` is given; agent-steps are
``steps * agents``. Where these take most of the time, a request ends after PATIENCE * S seconds on the clock. Episodes
run on from one request to the next. The worker ends with its input.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

WARM_UP_SECONDS = 0.3
PATIENCE = 10.0
STEPS_BETWEEN_LOOKS = 50  # at the processor's time, which takes a tenth of a short step


@dataclass
class Peer:
    """An environment as a worker needs it: ``step`` takes a pre-drawn action and says whether the episode is over.

    ``choose`` gives the action where it depends on what is allowed at the moment; the time for it is not counted.
    ``threads`` is how many share a step; ``living`` says how many agents will act in the next one, where it is not
    always all, uncounted too.
    """

    step: Callable[[Any], bool]
    reset: Callable[[], Any]
    actions: Sequence[Any] = ()
    agents: int = 1
    over: bool = True
    choose: Callable[[], Any] | None = None
    threads: int = 1
    living: Callable[[], int] | None = None


def single(env: Any, actions: Sequence[Any]) -> Peer:
    """An environment with Gymnasium's interface."""

    def step(action: Any) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    return Peer(step, env.reset, actions)


def vector(envs: Any, num: int, actions: Sequence[Any], reset: Callable[[], Any] | None = None) -> Peer:
    """``num`` environments that reset themselves, which is counted as a step of each."""

    def step(chosen: Any) -> bool:
        envs.step(chosen)
        return False

    return Peer(step, reset or envs.reset, actions, agents=num)


def team(env: Any, draws: int = 1024) -> Peer:
    """A world behind PettingZoo's parallel interface, with random joint actions; its steps are those of its agents."""
    env.reset(seed=0)
    agents = list(env.agents)
    for n, agent in enumerate(agents):
        env.action_space(agent).seed(n)
    actions = [{agent: env.action_space(agent).sample() for agent in agents} for _ in range(draws)]

    def step(action: Any) -> bool:
        env.step(action)
        return not env.agents

    return Peer(step, env.reset, actions, agents=len(agents))


def measure(peer: Peer, seconds: float, with_resets: bool, cpu: bool = False) -> dict[str, float]:
    """Step on from where the last call ended until ``seconds`` are counted, or PATIENCE times as many have passed."""
    now = (lambda: process_time() / peer.threads) if cpu else perf_counter
    every = STEPS_BETWEEN_LOOKS if cpu else 1
    look = min(-(now() - now()) for _ in range(100)) if cpu else 0.0  # what one costs, of which a reset has two
    step, choose, actions, draws, over = peer.step, peer.choose, peer.actions, len(peer.actions), peer.over
    steps, acted, resetting, choosing = 0, 0, 0.0, 0.0
    start = now()
    while True:
        if over:
            begin = now()
            peer.reset()
            resetting += now() - begin + look
        if peer.living is not None:
            begin = now()
            acted += peer.living()
            choosing += now() - begin + look
        if choose is None:
            action = actions[steps % draws]
        else:
            begin = now()
            action = choose()
            choosing += now() - begin + look
        over = step(action)
        steps += 1
        if steps % every:
            continue
        passed = now() - start
        counted = passed - choosing - (0.0 if with_resets else resetting)
        if counted >= seconds or passed >= PATIENCE * seconds:
            peer.over = over
            agents = peer.agents if peer.living is None else acted / steps
            return {"steps": steps, "seconds": counted, "agents": agents}


def private_stdout() -> Any:
    """Keep the real standard output for the protocol; whatever a peer prints, from C too, goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies


def parser(doc: str | None) -> argparse.ArgumentParser:
    """An argument parser with the option that all workers have."""
    options = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--with-resets", action="store_true", help="count the time that resets take")
    options.add_argument(
        "--cpu", action="store_true", help="time of the processor, of several threads the mean, in place of the clock's"
    )
    return options


def serve(build: Callable[[argparse.Namespace], Peer], options: argparse.Namespace) -> None:
    """Answer the protocol on standard input and output with the peer that ``build`` makes."""
    replies = private_stdout()
    try:
        peer = build(options)
    except ModuleNotFoundError as error:
        sys.exit(f"{sys.argv[0]} needs {error.name}, which is not installed; its docstring says how it is")
    measure(peer, WARM_UP_SECONDS, options.with_resets, options.cpu)
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(peer, float(line), options.with_resets, options.cpu)), file=replies, flush=True)
