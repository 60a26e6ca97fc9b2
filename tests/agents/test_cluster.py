"""Work over a cluster: the same pieces, the same results; with a stand-in for Ray, and with Ray itself where it is
installed."""

import os
import pickle
import signal
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest
from support.agent_helpers import HOVER, agent_for

import rlenvs
from rlenvs.agents import cluster, hyperparameters, publish, queue, runs, store
from rlenvs.agents.cluster import packed, spread, unpack
from rlenvs.agents.hyperparameters import family_file
from rlenvs.agents.robustness import evaluate_robustness
from rlenvs.agents.scores import check_agents, compare
from rlenvs.core.declare.errors import ActionError, ClusterError, MissingExtraError

CLUSTER = "head:6379"


class StandIn(types.ModuleType):
    """Ray, as far as it is used: calls and their results cross as pickles."""

    def __init__(self):
        super().__init__("ray")
        base = type("RayError", (Exception,), {})
        self.exceptions = types.SimpleNamespace(RayError=base, RayTaskError=type("RayTaskError", (base,), {}))
        self.connected, self.calls, self.lost = False, 0, False

    def is_initialized(self):
        return self.connected

    def init(self, address, **options):
        if address != CLUSTER:
            raise ConnectionError("nobody answers")
        self.connected = True

    def shutdown(self):
        self.connected = False

    def remote(self, **options):
        return lambda f: types.SimpleNamespace(remote=lambda *arguments: pickle.dumps((f, arguments)))

    def get(self, call):
        self.calls += 1
        if self.lost:
            raise self.exceptions.RayError("the worker died")
        function, arguments = pickle.loads(call)
        try:
            return pickle.loads(pickle.dumps(function(*arguments)))
        except Exception as error:
            failed = self.exceptions.RayTaskError()
            failed.cause = pickle.loads(pickle.dumps(error))
            raise failed from None


@pytest.fixture
def ray(monkeypatch):
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    yield stand_in
    assert not stand_in.connected


def square(number):
    if number < 0:
        raise ActionError(f"{number} is negative")
    return number * number


def missing():
    raise MissingExtraError("Training", "sb3")


def test_pieces_come_in_their_order(ray):
    pieces = [(3,), (1,), (2,)]
    assert list(spread(square, pieces)) == list(spread(square, pieces, CLUSTER)) == [9, 1, 4]
    assert ray.calls == 3


def test_errors_are_those_of_the_function(ray):
    for where in (None, CLUSTER):
        with pytest.raises(ActionError, match="-1 is negative"):
            list(spread(square, [(1,), (-1,)], where))
        with pytest.raises(MissingExtraError, match=r"Training .*\[sb3\]"):
            list(spread(missing, [()], where))


def test_a_cluster_may_be_missing(ray, monkeypatch):
    with pytest.raises(ClusterError, match="no Ray cluster at 'nowhere:1': nobody answers"):
        list(spread(square, [(1,)], "nowhere:1"))
    ray.lost = True
    with pytest.raises(ClusterError, match="lost a piece of work: the worker died"):
        list(spread(square, [(1,)], CLUSTER))
    ray.lost = False
    monkeypatch.setattr(cluster, "_piece", lambda *rest: None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"\[ray\]"):
        list(spread(square, [(1,)], CLUSTER))


def test_nodes_have_the_same_version():
    with pytest.raises(ClusterError, match=r"has rlenvs .*, and this machine 9"):
        cluster._piece(square, (1,), "9")


def test_a_connection_that_exists_is_used_and_stays(ray):
    ray.connected = True
    assert list(spread(square, [(3,)], "nowhere")) == [9]
    assert ray.connected
    ray.connected = False


def test_folders_cross(tmp_path):
    source = tmp_path / "run"
    (source / "sub").mkdir(parents=True)
    (source / "a.csv").write_text("1,2")
    (source / "sub" / "b.bin").write_bytes(b"\0\1")
    unpack(packed(source), tmp_path / "copy")
    assert (tmp_path / "copy" / "a.csv").read_text() == "1,2"
    assert (tmp_path / "copy" / "sub" / "b.bin").read_bytes() == b"\0\1"
    unpack(packed(tmp_path / "none"), tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []


# --- the commands' work -----------------------------------------------------------------------------------------------


def test_evaluations_are_the_same(ray):
    here, there = (compare(HOVER, agent_for(HOVER), 3, ray=where, horizon=20) for where in (None, CLUSTER))
    assert list(here) == list(there) == ["random", "idle", "expert", "agent"]
    for name, own in here.items():
        assert (own.returns == there[name].returns).all()
    assert ray.calls == 4


def test_robustness_is_the_same(ray, monkeypatch):
    monkeypatch.setattr("rlenvs.agents.robustness.SIDE_BY_SIDE", 4)
    here, there = (
        evaluate_robustness(HOVER, "expert", {"mass": (0.02, 0.04)}, 4, 2, ray=where, horizon=20)
        for where in (None, CLUSTER)
    )
    assert (here.returns == there.returns).all()
    assert here.worst_interval == there.worst_interval
    assert ray.calls == 2


def test_tournaments_are_the_same(ray):
    here, there = (rlenvs.tournament("ConnectFour-v0", games=4, ray=where) for where in (None, CLUSTER))
    assert here.to_dict() == there.to_dict()
    assert ray.calls > 1
    together = [rlenvs.cross_play("SwitchRiddle-v0", games=3, ray=where) for where in (None, CLUSTER)]
    assert together[0].to_dict() == together[1].to_dict()


def test_checks_of_agents_are_the_same(ray, saved):
    assert list(check_agents([saved], 2)) == list(check_agents([saved], 2, CLUSTER))
    assert ray.calls == 1


FAMILY = """
[PPO]
steps = 256
num_envs = 4
hyperparameters = {n_steps = 16, batch_size = 32, n_epochs = 1}
network.layers = [8]
[Chain-v0]
algorithms = ["PPO"]
seeds = 2
"""


@pytest.mark.budget(12)
def test_runs_are_the_same(ray, tmp_path, monkeypatch, few_evaluations):
    pytest.importorskip("stable_baselines3")
    settings, agents = tmp_path / "settings", tmp_path / "agents"
    settings.mkdir()
    agents.mkdir()
    monkeypatch.setattr(hyperparameters, "FOLDER", settings)
    (settings / family_file("Chain-v0").name).write_text(FAMILY)
    for module in (store, queue):
        monkeypatch.setattr(module, "stores", lambda: [agents])
    monkeypatch.setattr(publish, "_home", lambda world, name: agents)
    said, jobs = [], queue.todo(["Chain-v0"])
    assert len(jobs) == 2
    queue.work_on_cluster(jobs, tmp_path / "runs", CLUSTER, said.append)
    assert ray.calls == 2
    assert (agents / "Chain-v0" / "PPO.safetensors").exists()
    assert len(said) == 2 == len(list((agents / "Chain-v0" / "curves").iterdir()))
    assert queue.todo(["Chain-v0"]) == []
    alone = tmp_path / "alone"
    runs.run("Chain-v0", jobs[0].settings, alone, seed=0)
    weights = [
        (place / "agent.safetensors").read_bytes() for place in (alone, tmp_path / "runs/Chain-v0" / jobs[0].name)
    ]
    assert weights[0] == weights[1]


# --- Ray itself -------------------------------------------------------------------------------------------------------


def node(number, folder):
    """The number and where it is computed; the first time the number 3 is, its worker dies."""
    import ray

    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    with open(folder / "calls", "a") as calls:
        calls.write(f"{number}\n")
    time.sleep(0.5)
    return number, ray.get_runtime_context().get_node_id()


@pytest.mark.slow
def test_two_nodes_and_a_worker_that_dies(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed: clusters are not tested")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    nodes.add_node(num_cpus=2)
    try:
        pieces = [(number, tmp_path) for number in range(8)]
        found = list(spread(node, pieces, nodes.address))
        assert [number for number, _ in found] == list(range(8))
        assert len({place for _, place in found}) == 2
        calls = (tmp_path / "calls").read_text().split()
        assert (tmp_path / "died").exists()
        assert sorted(calls) == [str(number) for number in range(8)]  # no piece twice, that of the dead worker again
        here, there = (
            evaluate_robustness(HOVER, agent_for(HOVER), {"mass": (0.02, 0.04)}, 4, 5, ray=where)
            for where in (None, nodes.address)
        )
        assert (here.returns == there.returns).all()
        assert np.isfinite(here.returns).all()
    finally:
        nodes.shutdown()
