"""docs/bridges.md: its client works, and what it says of the protocol is so."""

import contextlib
import io
import re
import threading

import numpy as np
from support.places import ROOT

import rlenvs
from rlenvs.bridge import godot, layout, remote
from rlenvs.serve import Limits, bridge_server
from rlenvs.serve.bridge_server import BridgeServer
from rlenvs.serve.worlds import Worlds

GUIDE = (ROOT / "docs" / "bridges.md").read_text(encoding="utf-8")


def test_the_client_plays():
    server = BridgeServer(lambda: Worlds("CartPole-v0", 5))
    threading.Thread(target=server.serve, daemon=True).start()
    (client,) = [block for block in re.findall(r"```py\n(.*?)```", GUIDE, re.DOTALL) if "import struct" in block]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(client.replace("11009", str(server.port)), {})
    env = rlenvs.make_vec("CartPole-v0", 5)
    env.reset(seed=0)
    total = sum(env.step(np.full(5, number % 2))[1].sum() for number in range(2, 102))
    assert float(said.getvalue()) == total
    server.close()


def test_the_numbers_of_the_guide():
    assert (godot.PORT, remote.PORT) == (11008, 11009)
    for kind in layout.Kind:
        assert re.search(rf"(?m)^\| {kind:d} \| {kind.name.lower()} \|", GUIDE)
    assert f"at most {bridge_server.HELLO_BYTES:,} bytes" in GUIDE
    assert f"has {bridge_server.HELLO_SECONDS:g} s" in GUIDE
    limits = Limits()
    assert f"open ({limits.sessions}), and as many connections and {bridge_server.WAITING} more" in GUIDE
    assert f"`--idle` seconds ({limits.idle:g})" in GUIDE
    types = re.search(r"Types are NumPy's names: (.*?)\.", GUIDE, re.DOTALL)[1]
    assert sorted(re.findall(r"`([^`]+)`", types)) == sorted(layout.TYPES)
    codes = set(re.findall(r'RefusalError\(\s*"(\w+)"', (ROOT / "rlenvs/serve/bridge_server.py").read_text()))
    codes |= {"refused", "format", "size"}
    table = GUIDE.partition("**Errors.**")[2].partition("A fatal error")[0]
    assert set(re.findall(r"`(\w+)`", table)) - {"code"} == codes


def test_the_times_of_the_guide_are_those_of_the_benchmark():
    told = re.search(r"\[measured\]\(../benchmarks/bridge.md\) \| (\d+) us \| (\d+) us \|", GUIDE).groups()
    page = (ROOT / "benchmarks" / "bridge.md").read_text(encoding="utf-8")
    measured = re.search(r"\| dummy \| 4 x 16 \| [\d,]+ \| ([\d.]+) \| [\d,]+ \| ([\d.]+) \|", page).groups()
    assert [int(time) for time in told] == [round(float(time)) for time in measured]
