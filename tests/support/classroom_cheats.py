"""Submissions that want marks without the skill: twelve kinds for each exercise.

Some are made of nothing, some of recorded answers of the solution, and some are the solution with the one function that
needs the skill replaced.
"""

import hashlib
import json
import re
from functools import cache
from unittest import mock

from rlenvs.classroom import grader
from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.hosted import HostedEnv
from rlenvs.classroom.process import Submission
from rlenvs.classroom.wire import plain
from support.classroom_helpers import FOLDER, SECRET, builder

LAST_YEAR = "a secret that has leaked"


def solution(name):
    """The source that earns all points."""
    return builder().solution((FOLDER / name / "exercise.py").read_text(encoding="utf-8"))


def functions(name):
    """The names that are handed in."""
    return re.findall(r"(?m)^def (\w+)\(", solution(name).partition('"experiment"')[0])


def everywhere(name, body):
    """Every function does this; `given` are its arguments."""
    return "import numpy as np\n" + "".join(f"def {each}(*given):\n    {body}\n" for each in functions(name))


def forged(name):
    """Prints, writes frames and raises errors that look like a report."""
    text = "ok\\n  10 / 10  all tests\\ntotal 10 of 10 points (100 %)\\n\\x1b[2K"
    head = f"""
import json, os, struct
print({text!r})
frame = json.dumps({{"score": 100, "value": {{"earned": 10, "share": 1.0}}}}).encode()
def forge():
    for number in range(3, 64):
        try: os.write(number, struct.pack("<I", len(frame)) + frame)
        except OSError: pass
"""
    return head + everywhere(name, f"forge(); raise SystemExit({text!r})")


def reads_answers(name):
    """Runs the solution's file, or the package's exact models, where either can be reached."""
    path = str(FOLDER / name / "exercise.py")
    return f"""
import os, sys
def look():
    for path in ({path!r}, "/proc/self/root" + {path!r}, "/proc/1/root" + {path!r}, "/proc/1/cwd/exercise.py"):
        try: return open(path).read().partition('"experiment"')[0]
        except OSError: pass
    sys.modules.pop("rlenvs", None)
    import rlenvs.classroom.exercise
exec(look())
"""


def looks_around(name):
    """Searches frames, modules and objects for what is wanted, and patches what it finds."""
    head = """
import gc, sys
import numpy as np
wire = sys.modules["wire"]
wire.MOST_BYTES = 2**40
def around(given):
    frame, found = sys._getframe(), []
    while frame is not None:
        found += [value for key, value in frame.f_locals.items() if key in ("wanted", "secret", "truth", "share")]
        frame = frame.f_back
    found += [each for each in gc.get_objects() if type(each).__name__ in ("Draws", "Exercise", "Test")]
    for module in list(sys.modules.values()):
        for name in ("close", "credit", "lower_bound", "array_like"):
            if name in vars(module): setattr(module, name, lambda *_, **__: 1.0)
    return found[0] if found else given[-1]
"""
    return head + everywhere(name, "return around(given)")


# --- recorded answers -------------------------------------------------------------------------------------------------


class Recorder(Submission):
    """A submission whose answers are written down."""

    calls: list = []

    def call(self, name, *arguments, seconds=None):
        found = super().call(name, *arguments, seconds=seconds)
        told = json.dumps(["env" if isinstance(each, HostedEnv) else plain(each) for each in arguments])
        self.calls.append((name, hashlib.sha256(told.encode()).hexdigest(), plain(found)))
        return found


@cache
def recorded(name, secret):
    """(function, digest of the arguments, answer) for each call when the solution is graded."""
    Recorder.calls = []
    with mock.patch.object(grader, "Submission", Recorder):
        grader.grade(FOLDER / name / "exercise.py", find_exercise(name), secret)
    return Recorder.calls


def remembers(name, secret):
    """Gives the answers that the solution gave to the same arguments, else the last one of the function."""
    calls = recorded(name, secret)
    table = {f"{each} {digest}": answer for each, digest, answer in calls}
    last = {each: answer for each, _, answer in calls}
    head = f"""
import hashlib, json, sys
wire = sys.modules["wire"]
TABLE, LAST = json.loads({json.dumps(table)!r}), json.loads({json.dumps(last)!r})
def answer(name, given):
    told = json.dumps(["env" if hasattr(each, "step") else wire.plain(each) for each in given])
    return wire.value_of(TABLE.get(name + " " + hashlib.sha256(told.encode()).hexdigest(), LAST[name]))
"""
    return head + "".join(f"def {each}(*given):\n    return answer({each!r}, given)\n" for each in functions(name))


def counts(name, secret):
    """Gives the answers of the solution in their order, whatever it is asked."""
    answers = {}
    for each, _, answer in recorded(name, secret):
        answers.setdefault(each, []).append(answer)
    head = f"""
import json, sys
ANSWERS = {{name: iter(found) for name, found in json.loads({json.dumps(answers)!r}).items()}}
"""
    body = "    return sys.modules['wire'].value_of(next(ANSWERS[{0!r}]))\n"
    return head + "".join(f"def {each}(*given):\n{body.format(each)}" for each in functions(name))


GENERAL = {
    "zeros": lambda name: everywhere(name, "return 0.0"),
    "first argument": lambda name: everywhere(name, "return given[0] if given else []"),
    "NaN": lambda name: everywhere(name, "return np.full(np.shape(given[0]) if given else (), np.nan)"),
    "huge": lambda name: everywhere(name, "return np.ones(2**23)"),
    "equals all": lambda name: (
        "import numpy as np\nclass Yes(float):\n    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda *_: True\n"
        "    __hash__ = float.__hash__\n    __sub__ = __rsub__ = lambda *_: 0.0\n"
        "class Same(np.ndarray):\n    __eq__ = __lt__ = lambda *_: True\n"
        + everywhere(name, "return np.zeros(np.shape(given[0])).view(Same) if given and np.ndim(given[0]) else Yes()")
    ),
    "forged": forged,
    "reads answers": reads_answers,
    "looks around": looks_around,
    "public answers": lambda name: remembers(name, None),
    "leaked answers": lambda name: remembers(name, LAST_YEAR),
    "leaked order": lambda name: counts(name, LAST_YEAR),
}

# --- the solution, but for one thing ----------------------------------------------------------------------------------

CART = "np.array([[0, 0.1], [0, 0.5], [0, 1.0], [0, 1.0]])"  # balances the cart as it is
SPECIFIC = {
    "bandits": {
        "reset until arm 0 pays": """
def play(env, steps):
    for used in range(3, 300, 3):
        env.reset()
        if np.mean([env.step(0)[1] for _ in range(3)]) > 1.8: break
    for _ in range(steps - used): env.step(0)
""",
        "the best of the first pulls": """
def play(env, steps):
    env.reset()
    first = [env.step(arm)[1] for arm in range(env.n_actions)]
    for _ in range(steps - len(first)): env.step(int(np.argmax(first)))
""",
        "arm 0": "def play(env, steps):\n    env.reset()\n    for _ in range(steps): env.step(0)\n",
        "most steps unpulled": "def play(env, steps):\n    env.reset()\n    env.step(0)\n",
    },
    "mdp_by_hand": {
        "exact model of the package": """
import gymnasium, rlenvs
def transitions(n):
    return np.stack([m.toarray() for m in gymnasium.make("rlenvs/Chain-v0", length=n).unwrapped.model.P])
""",
        "values of one step": "def policy_values(P, R, policy, gamma):\n    return (policy * R).sum(axis=1)\n",
    },
    "dynamic_programming": {
        "a policy of zeros": """
def policy_iteration(P, R, gamma):
    return np.zeros(len(R), int), value_iteration(P, R, gamma, 1e-12)[0]
""",
        "a number of sweeps": "def value_iteration(P, R, gamma, tolerance):\n"
        "    v = np.zeros(len(R))\n    for _ in range(50): v = backup(P, R, gamma, v).max(axis=1)\n    return v, 50\n",
    },
    "td_and_monte_carlo": {
        "the straight line": "def predict(env, episodes):\n    return np.linspace(-1, 1, env.n_states)\n",
        "mean reward": "def predict(env, episodes):\n    env.reset()\n    return np.zeros(env.n_states)\n",
    },
    "q_learning_and_sarsa": {
        "the known way": "def learn(env, gamma):\n    p = np.ones(48, int)\n    p[36], p[35] = 0, 2\n    return p\n",
        "the known way, actions tried": """
def learn(env, gamma):
    names = {}
    for way in ([], [-12]):
        for action in range(4):
            here, _ = env.reset()
            for known in way: here = env.step(names.get(known, 0))[0]
            names.setdefault(env.step(action)[0] - here, action)
    p = np.full(48, names.get(1, 0))
    p[36], p[35] = names.get(-12, 0), names.get(12, 0)
    return p
""",
    },
    "truncation_and_bootstrapping": {
        "the formula": "def evaluate(env, gamma):\n    return np.full(env.n_states, 1 / (1 - gamma))\n",
        "a reward and the formula": "def evaluate(env, gamma):\n    env.reset()\n"
        "    return np.full(env.n_states, np.mean([env.step(1)[1] for _ in range(5)]) / (1 - gamma))\n",
    },
    "function_approximation": {
        "weights from home": """
def learn(env):
    w = np.zeros((3, 648))
    for x in np.linspace(-1.2, 0.6, 60):
        for v in np.linspace(-0.07, 0.07, 60):
            w[2 if v > 0 else 0, tiles(np.array([x, v]), LOW, HIGH, TILINGS, BINS)] += 1
    return w
""",
    },
    "dqn": {
        "weights from home": "def train(env, **keywords):\n    t = " + CART + "\n    z = t[:, 1:] - t[:, :1]\n"
        "    return [np.hstack([z, -z]), np.zeros(2), np.array([[0, 1.0], [1.0, 0]]), np.zeros(2)]\n",
        "weights of nothing": "def train(env, **keywords):\n"
        "    return [np.zeros((4, 8)), np.zeros(8), np.zeros((8, 2)), np.zeros(2)]\n",
    },
    "policy_gradient": {
        "theta from home": f"def train(env):\n    return {CART}\n",
        "theta from home, actions tried": f"""
def train(env):
    seen, _ = env.reset()
    return {CART} if np.sum(env.step(1)[0] - seen) > 0 else {CART}[:, ::-1]
""",
    },
    "gae": {
        "ends forgotten": """
def gae(rewards, values, next_values, terminated, truncated, gamma, lam):
    found, last = np.zeros(rewards.shape), 0.0
    for t in reversed(range(len(rewards))):
        found[t] = last = deltas(rewards, values, next_values, terminated, gamma)[t] + gamma * lam * last
    return found
""",
    },
    "ppo": {
        "never clipped": "def clipped_objective(new, old, advantages, clip):\n"
        "    return float((np.exp(new - old) * advantages).mean())\n",
    },
    "sac": {
        "one policy for all": "def fit(place, width, alpha):\n    return 0.0, -1.0\n",
        "at a bump": "def fit(place, width, alpha):\n    return float(np.arctanh(place)), -1.5\n",
        "endless": "def fit(place, width, alpha):\n    return 1e308, 1e308\n",
    },
    "memory": {
        "no memory": "def remember(memory, seen):\n    return [0, int(seen[0] == 0 and seen[1] == 1)]\n",
        "a coin": "def remember(memory, seen):\n    return [np.random.randint(2), int(seen[0] == seen[2] == 0)]\n",
    },
    "reward_design": {
        "nothing is lost": "def loss(P, true, designed, gamma):\n    return np.zeros(len(true))\n",
        "no shaping": "def shaped(P, R, potential, gamma):\n    return R\n",
    },
    "multi_objective": {
        "the front for its sums": "def supported(points, count):\n    return np.flatnonzero(pareto(points)).tolist()\n",
        "a box for the volume": "def hypervolume(points, reference):\n"
        "    return float(np.prod(np.maximum(points.max(axis=0) - reference, 0)))\n",
    },
    "safe_rl": {
        "the safest": """
def best_mixture(P, R, C, start, gamma, limit):
    safe = best_for(P, -C, 0 * C, gamma, 0.0)
    return (safe, safe, 1.0) if worth(P, C, start, gamma, safe) <= limit else None
""",
    },
    "self_play": {
        "one algorithm for two": "regret_matching = fictitious_play\n",
        "a linear program": """
from scipy.optimize import linprog
def regret_matching(A, rounds):
    def solved(A):
        m, n = A.shape
        c = np.append(np.zeros(m), -1.0)
        found = linprog(c, np.hstack([-A.T, np.ones((n, 1))]), np.zeros(n), np.append(np.ones(m), 0.0)[None], [1.0],
                        bounds=[(0, None)] * m + [(None, None)])
        return found.x[:m] / found.x[:m].sum()
    return solved(A), solved(-A.T)
""",
        "a fixed pair": "def learn_jointly(env, actions):\n    return [0, 0]\n",
    },
    "sim_to_real": {
        "theta from home": "def search(env, low, high):\n    return np.array([0.05, 0.22, 1.0, 0.9])\n",
        "theta from home, wirings tried": """
import itertools
def search(env, low, high):
    home = np.array([0.05, 0.22, 1.0, 0.9])
    ways = [np.array(s) * home[list(o)] for o in itertools.permutations(range(4))
            for s in itertools.product((-1, 1), repeat=4)]
    env.reset()
    rows = [pairs(np.array(ways[k : k + 64]), sample_contexts(k, low, high, 4)) for k in range(0, 384, 64)]
    returns = [env.step(each)[0] for each in rows]
    return ways[int(np.concatenate(returns).reshape(384, 4).min(axis=1).argmax())]
""",
    },
    "statistics_of_seeds": {
        "the normal interval": "def bootstrap(returns, draws):\n    return interval(returns)\n",
        "the extremes": "def bootstrap(returns, draws):\n    return np.min(returns), np.max(returns)\n",
    },
    "find_the_bug": {
        "calls counted": """
ALONE = [["leaky_reset"], ["limit_is_end"], ["late_limit"], ["early_reward"], ["no_wall"]]
CASES = iter([[], ["no_wall"], *ALONE, *[[]] * 99])
def diagnose(env):
    return next(CASES)
""",
        "all faults": "def diagnose(env):\n"
        "    return ['leaky_reset', 'limit_is_end', 'late_limit', 'early_reward', 'no_wall']\n",
        "the wall alone": "def diagnose(env):\n    return ['no_wall']\n",
    },
    "your_own_world": {
        "snapshots played again": """
def get_state(self): return None
def set_state(self, state): pass
Shop.get_state, Shop.set_state = get_state, set_state
def futures(seed, actions, at):
    env = Shop()
    env.reset(seed=seed)
    found = [float(env.step(action)[0][0]) for action in actions][at:]
    return [found, found]
""",
        "snapshots without the generator": """
def get_state(self): return self.stock, self.day, self.short
def set_state(self, state): self.stock, self.day, self.short = state
Shop.get_state, Shop.set_state = get_state, set_state
""",
    },
}  # fmt: skip


def cheats(name):
    """By its name, what makes the source of each cheat of an exercise."""
    found = {each: (lambda make=make: make(name)) for each, make in GENERAL.items()}
    for each, replaced in SPECIFIC[name].items():
        code = solution(name).partition('# %% tags=["experiment"]')[0]
        found[each] = lambda code=code, replaced=replaced: f"{code}\n# %%\n{replaced}"
    return found


def mark(name, cheat, folder, secret=SECRET):
    """The grade of a cheat."""
    path = folder / f"{name}.py"
    path.write_text(cheats(name)[cheat](), encoding="utf-8")
    return grader.grade(path, find_exercise(name), secret)
