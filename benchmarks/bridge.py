"""How fast engines outside are, and what the bridges to them bear.

    python benchmarks/bridge.py speed                    a dummy engine: 4 processes x 16 agents
    python benchmarks/bridge.py speed --id CartPole-v0   an environment served, in as many processes
    python benchmarks/bridge.py fuzz --messages 10000    messages that nobody should send

An interaction is a step of one agent. All processes, the trainer's too, share this machine; the trainer sends the same
actions again and again, and does nothing else. docs/bridges.md has the protocols.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS))
DUMMY = TESTS / "support" / "dummy_engine.py"


def free_ports(count: int) -> int:
    """The first of some ports that are free, one after the other."""
    for first in range(21008, 60000, count):
        try:
            for port in range(first, first + count):
                with socket.create_server(("127.0.0.1", port)):
                    pass
        except OSError:
            continue
        return first
    sys.exit("there are no free ports")


def processor_time(pids: list[int]) -> float:
    """Seconds that processes have used, this one too."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def measured(env, pids: list[int], chosen: argparse.Namespace) -> str:
    """Interactions a second, the median of the rounds, and processor time of all processes for one of them."""
    env.action_space.seed(0)
    env.reset()
    actions, rates, total = env.action_space.sample(), [], 0
    used = processor_time(pids)
    for _ in range(chosen.rounds):
        steps, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < chosen.seconds:
            env.step(actions)
            steps += 1
        rates.append(steps * env.num_envs / (time.perf_counter() - begun))
        total += steps * env.num_envs
    used = processor_time(pids) - used
    return f"{statistics.median(rates):,.0f} interactions/s, {1e6 * used / total:.1f} us of processors for each"


def godot_speed(chosen: argparse.Namespace) -> str:
    """Over Godot RL Agents' protocol 0.7."""
    from rlenvs.bridge import GodotVectorEnv

    program = f"from rlenvs.serve.godot_game import as_game\nas_game({chosen.id!r}, {chosen.agents})\n"
    if chosen.id == "dummy":
        program = f"import sys, runpy\nsys.argv[1:1] = ['godot', '--agents={chosen.agents}']\n"
        program += f"runpy.run_path({str(DUMMY)!r}, run_name='__main__')\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.x86_64"
        path.write_text(f"#!{sys.executable}\n{program}")
        path.chmod(0o700)
        env = GodotVectorEnv(free_ports(chosen.processes), chosen.processes, path=path)
        try:
            return measured(env, [game._process.pid for game in env.games], chosen)
        finally:
            env.close()


def bridge_speed(chosen: argparse.Namespace) -> str:
    """Over the binary protocol."""
    from rlenvs.bridge import RemoteVectorEnv

    first = free_ports(chosen.processes)
    ports = range(first, first + chosen.processes)
    command = [sys.executable, str(DUMMY), "bridge", "--agents", str(chosen.agents)]
    if chosen.id != "dummy":
        command = [sys.executable, "-m", "rlenvs", "serve", chosen.id, "--bridge", "--num", str(chosen.agents)]
    with ExitStack() as stack:
        pids = []
        for port in ports:
            process = subprocess.Popen(
                [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            pids.append(process.pid)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        env = RemoteVectorEnv(list(ports), patience=60.0)
        stack.callback(env.close)
        return measured(env, pids, chosen)


def fuzz(messages: int) -> bool:
    """Send messages to all four sides; whether a session beside them moved."""
    from support import bridge_fuzz

    from rlenvs.bridge import RemoteVectorEnv
    from rlenvs.serve import Limits
    from rlenvs.serve.bridge_server import BridgeServer
    from rlenvs.serve.godot_game import GodotSide
    from rlenvs.serve.worlds import Worlds

    server = BridgeServer(lambda: Worlds("CartPole-v0", 3), limits=Limits(sessions=8))
    threading.Thread(target=server.serve, daemon=True).start()
    env = RemoteVectorEnv(server.port)
    env.reset(seed=0)
    (session,) = server._sessions.values()
    game = GodotSide("CartPole-v0", 2)
    before = session.worlds.batch.states.tobytes(), game.batch.states.tobytes()
    sides = {
        "engine, binary": lambda rng: bridge_fuzz.to_servers(server.port, rng, messages),
        "game, 0.7": lambda rng: bridge_fuzz.to_games(game, rng, messages),
        "trainer, binary": lambda rng: bridge_fuzz.to_trainers(rng, messages),
        "trainer, 0.7": lambda rng: bridge_fuzz.to_trainers_of_games(free_ports(1), rng, messages),
    }
    for name, send in sides.items():
        begun = time.perf_counter()
        told = send(random.Random(0))
        print(
            f"{name}: {messages} messages in {time.perf_counter() - begun:.0f} s; {dict(told.most_common())}",
            flush=True,
        )
    moved = before != (session.worlds.batch.states.tobytes(), game.batch.states.tobytes())
    alive = bool(np.isfinite(env.step(np.zeros(3, np.int64))[0]).all())
    env.close()
    print(f"the sessions beside them moved: {moved}; the server answers: {alive}; {len(server)} sessions, "
          f"{threading.active_count()} threads are left")  # fmt: skip
    return moved or not alive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "fuzz"])
    parser.add_argument("--id", default="dummy", help="an environment, in place of the dummy engine")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--agents", type=int, default=16, help="of each process")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=10_000)
    chosen = parser.parse_args()
    if chosen.what == "fuzz":
        sys.exit(fuzz(chosen.messages))
    for name, speed in {"Godot RL Agents 0.7": godot_speed, "binary": bridge_speed}.items():
        print(
            f"{chosen.id}, {chosen.processes} x {chosen.agents}, {name}: {speed(chosen)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
