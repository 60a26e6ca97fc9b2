"""Fit open-loop oscillators with CMA-ES: `python benchmarks/oscillators.py ID [--generations 40] [--seed 1] [--write]`.

Needs `pip install cma` (Hansen, Akimoto and Baudis, "CMA-ES/pycma"). ID is a robot of `oscillators.ROBOTS`, or a world
of `limb_bodies`, whose bodies are all fitted side by side, each by a search of its own: the batch has a body and a
candidate in each world. `--write` puts the numbers into `oscillators.json`. A candidate's worth is its return in the
first `--steps` steps from one start, another one in every generation.

`python benchmarks/oscillators.py --play` plays the robots with known ones on ten seeds, with failing sensors and
pushes too, beside the reference agents.
"""

import argparse
import json
import math

import numpy as np

import rlenvs
from rlenvs.core.compiler.loops import compiled
from rlenvs.robotics.locomotion.limb_bodies import ROOT, TREES
from rlenvs.robotics.locomotion.limb_trees import slots
from rlenvs.robotics.locomotion.limb_worlds import STEPS
from rlenvs.robotics.locomotion.oscillators import (
    GAITS,
    GAITS_FILE,
    PUBLISHED,
    RHYTHM,
    ROBOTS,
    WAVE,
    Oscillators,
    follow,
)
from rlenvs.wrappers import noisy, pushed, stuck

FAILURES = {
    "as it is": list,
    "noise 0.3": noisy,
    "stuck, each by itself": lambda: stuck(each=True),
    "pushes of 5 N": lambda: pushed(axes="xy"),
}


@compiled()
def act(gaits, angles, rates, time, actions):
    for i in range(actions.shape[0]):
        for j in range(actions.shape[1]):
            actions[i, j] = follow(gaits[i], j, angles[i, j], rates[i, j], time)


def gait_of(numbers):
    """A gait of the numbers of the search, which are all about 1 in size."""
    rhythm, waves = numbers[:RHYTHM], np.array(numbers[RHYTHM:]).reshape(-1, WAVE)
    speeds = 8.0 * np.exp(0.5 * np.clip(rhythm[:2], -4.0, 4.0))
    springs = np.exp(np.clip(rhythm[2:], -6.0, 4.0)) * (2.0, 0.1)
    return np.concatenate([speeds, springs, (waves * (0.4, math.pi, 0.4)).ravel()])


def returns_of(batch, gaits, places, seed, steps, dt):
    """The return of each world's gait in the first steps of an episode.

    Args:
        gaits: (worlds, numbers).
        places: where the state has the joints' angles, and rates.
    """
    count = batch.num_envs
    batch.seed([seed] * count)
    batch.reset()
    total, actions = np.zeros(count), np.zeros((count, (gaits.shape[1] - RHYTHM) // WAVE))
    for k in range(steps):
        going = ~batch.over
        if not going.any():
            break
        angles, rates = (batch.states[name][:, place:] for name, place in zip(("qpos", "qvel"), places, strict=True))
        act(gaits, np.ascontiguousarray(angles), np.ascontiguousarray(rates), dt * k, actions)
        batch.load_actions(actions[:, None])
        batch.step_inplace(only=going)
        total[going] += batch.rewards[going, 0]
    return total


def searches_of(joints, options):
    """A search for each number of joints."""
    import cma

    settings = {"seed": options.seed, "popsize": options.population, "verbose": -9}
    return [cma.CMAEvolutionStrategy([0.0] * (RHYTHM + WAVE * n), 0.5, settings) for n in joints]


def fit(batch, searches, place, places, dt, options):
    """Gaits, the mean of each search at the end.

    Args:
        place: function of the number of a search and its numbers that gives a gait with all places of the batch.
    """
    size = options.population
    for generation in range(options.generations):
        asked = [search.ask() for search in searches]
        gaits = np.array([place(i, numbers) for i, rows in enumerate(asked) for numbers in rows])
        found = returns_of(batch, gaits, places, 1000 * options.seed + generation, options.steps, dt)
        for search, rows, worth in zip(searches, asked, found.reshape(-1, size), strict=True):
            search.tell(rows, -worth)
        if generation % 5 == 4:
            best = np.round(found.reshape(-1, size).max(axis=1)).astype(int)
            print(f"{generation + 1} generations: best {best.tolist()}", flush=True)
    return [search.mean for search in searches]


def fit_bodies(id, options):
    tree, bodies = TREES[id]
    whole = RHYTHM + WAVE * (len(tree.limbs) - 1)

    def place(i, numbers):
        gait, own = np.zeros(whole), gait_of(numbers)
        gait[:RHYTHM] = own[:RHYTHM]
        body = list(bodies.values())[i]
        for j, at in enumerate(slots(tree, body)[1:]):
            gait[RHYTHM + WAVE * (at - 1) :][:WAVE] = own[RHYTHM + WAVE * j :][:WAVE]
        return gait

    numbers = np.repeat(np.arange(len(bodies), dtype=float), options.population)
    batch = rlenvs.make_batch(id, len(numbers), body=numbers)
    batch.disable_autoreset()
    searches = searches_of([len(body.limbs) - 1 for body in bodies.values()], options)
    means = fit(batch, searches, place, (ROOT, ROOT), STEPS * tree.timestep, options)
    found = {name: gait_of(mean) for name, mean in zip(bodies, means, strict=True)}
    for name, gait in found.items():
        print(name, np.round(gait, 3).tolist())
    if options.write:
        write({**GAITS, **found})


def fit_robot(id, options):
    robot = ROBOTS[id]
    joints = robot.angles.stop - robot.angles.start
    batch = rlenvs.make_batch(id, options.population)
    batch.disable_autoreset()
    sizes = [batch.states[name].shape[1] - joints for name in ("qpos", "qvel")]
    search = searches_of([joints], options)
    [mean] = fit(batch, search, lambda i, numbers: gait_of(numbers), sizes, robot.dt, options)
    gait = np.round(gait_of(mean), 3)
    print(id, gait.tolist())
    print(rlenvs.evaluate(id, Oscillators(id, gait), seeds=10))
    if options.write:
        write({**GAITS, id: gait.tolist()})


def write(gaits):
    """Put gaits into their file."""
    rows = [f' "{name}": {json.dumps([round(float(number), 3) for number in gait])}' for name, gait in gaits.items()]
    GAITS_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def play():
    for id in (id for id in ROBOTS if id in PUBLISHED or id in GAITS):
        found = rlenvs.evaluate(id, Oscillators(id), seeds=10)
        print(f"{id}: {found.mean:.1f} ± {found.returns.std():.1f} (standard deviation of {len(found.seeds)} seeds)")
        agent = rlenvs.load_agent(id)
        print(f"{'':24}{'oscillators':>18}{'agent':>18}")
        for name, wrappers in FAILURES.items():
            rows = [rlenvs.evaluate(id, one, seeds=10, wrappers=wrappers()) for one in (Oscillators(id), agent)]
            print(f"{name:24}{''.join(f'{row.mean:11.1f} ± {row.half_width:4.1f}' for row in rows)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", nargs="?", help=f"{', '.join((*ROBOTS, *TREES))}")
    parser.add_argument("--play", action="store_true", help="play the robots instead")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--steps", type=int, default=400, help="of an episode")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the gaits")
    options = parser.parse_args()
    if options.play:
        play()
    elif options.id in TREES:
        fit_bodies(options.id, options)
    else:
        fit_robot(options.id, options)


if __name__ == "__main__":
    main()
