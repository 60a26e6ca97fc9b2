"""A submission within a page, run by MicroPython: functions to call, as rlenvs/classroom/worker.py has them.

`page` is the module of submission.js: it resets and steps worlds, which it knows by number.
"""

import io
import json
import sys

import page

space = {}


class RemoteEnv:
    """An environment that a submission may step, as rlenvs/classroom/hosted.py and worker.py have it together."""

    def __init__(self, number, told):
        self.n_states, self.n_actions, self.budget = told["n_states"], told["n_actions"], told["budget"]
        self.returns = []
        self._number, self._seed, self._most = number, int(told["seed"]), told["most_resets"]
        self._steps, self._resets, self._sum, self._over = 0, 0, 0.0, True

    def reset(self):
        """Begin an episode."""
        if self._resets >= self._most:
            raise RuntimeError(f"{self._most} resets at most are allowed here")
        self._resets += 1
        page.reset(self._number, str(self._seed))
        self._seed += 1
        self._sum, self._over = 0.0, False
        return self._seen(), {}

    def step(self, action):
        """Take a step."""
        if self._steps >= self.budget:
            raise RuntimeError(f"the budget of {self.budget} steps is used up")
        if self._over:
            raise RuntimeError("the episode is over, or not started: call reset first")
        if not isinstance(action, int) or not 0 <= action < self.n_actions:
            raise RuntimeError(f"the action {str(action)[:60]} is not in Discrete({self.n_actions})")
        reward = float(page.step(self._number, int(action)))
        terminated, truncated = page.terminated(self._number), page.truncated(self._number)
        self._steps += 1
        self._sum += reward
        if terminated or truncated:
            self.returns.append(self._sum)
            self._over = True
        return self._seen(), reward, terminated, truncated, {}

    def _seen(self):
        return page.state(self._number)


def load(source):
    """Run a submission's code. Gives what went wrong, or nothing."""
    space.clear()
    space["__name__"] = "submission"
    try:
        exec(compile(source, "submission", "exec"), space)
    except BaseException as error:
        return told(error)
    return ""


def add(code):
    """Run more code beside the submission's."""
    exec(compile(code, "trial", "exec"), space)


def call(name, arguments, worlds):
    """What a function returns, as JSON: {"value": ...} or {"error": ...}; with the returns of the first world."""
    envs = [RemoteEnv(number, each) for number, each in enumerate(json.loads(worlds))]
    try:
        if name not in space:
            raise NameError(f"the submission defines no {name}")
        given = [envs[each["world"]] if isinstance(each, dict) else each for each in json.loads(arguments)]
        answer = {"value": plain(space[name](*given))}
    except BaseException as error:
        answer = {"error": told(error)}
    answer["returns"] = envs[0].returns if envs else []
    return json.dumps(answer)


def plain(value, depth=0):
    """A value as JSON can hold it; numbers that JSON lacks are texts."""
    if depth > 20:
        raise ValueError("values may be nested 20 deep")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0.0 else str(value)
    if isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each, depth + 1) for key, each in value.items()}
    if hasattr(value, "__iter__"):
        return [plain(each, depth + 1) for each in value]
    raise TypeError(f"a {type(value).__name__} cannot be sent; numbers, strings, lists and dictionaries can")


def told(error):
    """What an error says, and where in the submission it was raised."""
    line, trace = 0, io.StringIO()
    sys.print_exception(error, trace)
    for each in trace.getvalue().split("\n"):
        if each.strip().startswith('File "submission", line '):
            line = int(each.split("line ")[1].split(",")[0])
    text = f"{type(error).__name__}: {str(error)[:300]}"
    return text + (f" (line {line} of its code)" if line else "")
