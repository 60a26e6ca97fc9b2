"""What users pass to constructors, resets and steps, looked at before anything changes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.declare.errors import ActionError, ParameterError, shortened

OF_TESTS = "options"  # an option of resets that means nothing, with which PettingZoo's tests try all environments
MOST_THREADS = 1024  # of a batch


def numbers(name: str, value: Any) -> np.ndarray:
    """Real numbers as a float64 array.

    Raises:
        ParameterError: text, truth values, a ragged list, or anything else that is no number.
    """
    try:
        array = np.asarray(value)
    except Exception:  # whatever a foreign __array__ raises, and ragged lists
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        raise ParameterError(f"{name}={shortened(value)} must be a number, such as 0.5, or an array of numbers")
    return array.astype(np.float64)


def mapping(name: str, value: Any, example: Mapping[str, Any]) -> Mapping[str, Any]:
    """A dictionary with names as keys; None is an empty one. The first entry of `example` goes into the message.

    Raises:
        ParameterError: something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        such = f", such as {dict(islice(example.items(), 1))}" if example else ""
        raise ParameterError(f"{name}={shortened(value)} must be a dictionary with names as keys{such}")
    return value


def positive(name: str, value: Any, otherwise: str = "") -> int:
    """A whole number of 1 or more as Python's integer; ParameterError otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError(f"{name}={shortened(value)} must be a positive integer{otherwise}")
    return int(value)


def threads_of(value: Any) -> int | None:
    """A number of threads, or None to choose; ParameterError otherwise."""
    if value is None:
        return None
    count = positive("threads", value, ", or None to choose")
    if count > MOST_THREADS:
        raise ParameterError(f"threads={shortened(value)} is too large; at most {MOST_THREADS} are supported")
    return count


def truth(name: str, value: Any) -> bool:
    """True or False; ParameterError otherwise."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name}={shortened(value)} must be True or False")
    return bool(value)


def one_of(name: str, value: Any, known: Sequence[Any]) -> Any:
    """The value, which is one of a few texts or truth values; ParameterError otherwise."""
    if isinstance(value, (str, bool)) and value in known:
        return value
    raise ParameterError(f"{name}={shortened(value)} is not one of {', '.join(map(repr, known))}")


def autoreset_of(mode: Any) -> AutoresetMode:
    """An AutoresetMode, given as such or by its name or value in upper or lower case; ParameterError otherwise."""
    if isinstance(mode, AutoresetMode):
        return mode
    for member in AutoresetMode:
        if isinstance(mode, str) and mode.lower() in (member.name.lower(), member.value.lower()):
            return member
    raise ParameterError(f"autoreset_mode={shortened(mode)} is not one of {[member.name for member in AutoresetMode]}")


def seed_of(value: Any, name: str = "seed") -> int | None:
    """A seed as Python's integer, or None.

    Raises:
        ParameterError: not a whole number, or negative.
    """
    return None if value is None else first_seed_of(value, name, ", or None")


def first_seed_of(value: Any, name: str = "seed", otherwise: str = "") -> int:
    """A seed that has to be given, as Python's integer; ParameterError for anything else."""
    try:
        seed = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except Exception:  # whatever a foreign __index__ raises
        seed = -1
    if seed < 0:
        raise ParameterError(f"{name}={shortened(value)} must be an integer, 0 or more{otherwise}")
    return seed


def seeds_of(value: Any, count: int) -> list[int | None] | None:
    """A seed for each of `count` environments: `value` + i of an integer, or those of a sequence; None of None.

    Raises:
        ParameterError: neither, a seed that is none, or another number of seeds.
    """
    if value is None:
        return None
    several = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    if several or (isinstance(value, np.ndarray) and value.ndim):
        if len(value) != count:
            raise ParameterError(f"{len(value)} seeds were given for {count} environments; give one for each, or one")
        return [seed_of(seed) for seed in value]
    try:
        first = seed_of(value)
    except ParameterError:
        raise ParameterError(
            f"seed={shortened(value)} must be an integer, 0 or more, a list with one for each environment, or None"
        ) from None
    return [first + i for i in range(count)]  # type: ignore[operator]


def generator_of(value: Any) -> np.random.Generator:
    """A NumPy generator; ParameterError for anything else."""
    if not isinstance(value, np.random.Generator):
        raise ParameterError(f"np_random={shortened(value)} must be a numpy.random.Generator")
    return value


def params_of(
    options: Any, starts: Mapping[str, Sequence[str]], *others: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The parameters among the options of a reset: those that hold from now on, those that hold for this reset alone,
    and the other options.

    Args:
        starts: by the name of an option, the parameters that it sets for this reset alone.
        others: names of the other options.

    Raises:
        ParameterError: the options or the parameters are no dictionary, or there are options beside these.
    """
    left = dict(mapping("options", options, {"params": {}}))
    params = left.pop("params", {})
    if params is None:
        raise ParameterError("options['params']=None must be a dictionary of physical parameters; leave it out")
    left.pop(OF_TESTS, None)
    params = dict(mapping("options['params']", params, {}))
    given = {option: left.pop(option) for option in starts if option in left}
    once = {name: value for option, value in given.items() for name in starts[option]}
    if set(left) - set(others):
        known = " and ".join(map(repr, ("params", *starts, *others)))
        raise ParameterError(
            f"reset does not support the options {sorted(set(left) - set(others))}; it supports {known}"
        )
    return params, once, left


def reset_mask_of(mask: Any, worlds: int) -> np.ndarray | None:
    """options["reset_mask"] of a vector form: which worlds begin anew; None for all.

    Raises:
        ParameterError: not a bool array with an entry per world, or one that selects none.
    """
    if mask is None:
        return None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (worlds,):
        given = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise ParameterError(f"options['reset_mask'] must be a bool array of shape ({worlds},), not {given}")
    if not mask.any():
        raise ParameterError("options['reset_mask'] selects no environment")
    return mask


def switches_of(array: np.ndarray) -> np.ndarray:
    """Zeros and ones as integers, which learners give as numbers with fractions or as truth values; else as it is."""
    if array.dtype.kind in "fb" and np.isin(array, (0, 1)).all():
        return array.astype(np.int64)
    return array


def actions_of(world: str, actions: Any) -> np.ndarray:
    """Actions as an array.

    Raises:
        ActionError: they make no array: a ragged list, for example.
    """
    try:
        return np.asarray(actions)
    except Exception as error:  # whatever a foreign __array__ raises
        raise ActionError(f"{world}: {shortened(actions)} cannot be read as an action: {error}") from None
