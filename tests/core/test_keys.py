"""Keys that steer a world: what they do, and Gymnasium's own player with them."""

import gymnasium
import numpy as np
import pygame
import pytest

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.keys import keys_to_action, steered_by_held_keys
from rlenvs.core.declare.setup import Setup

STEERED = [id for id in rlenvs.list_envs() if "/mo-" not in id and steered_by_held_keys(world_of(id))]


@pytest.mark.parametrize("id", STEERED)
def test_every_combination_is_an_action(id):
    setup = Setup(world_of(id))
    table, space = keys_to_action(setup), setup.agent_spaces(0)[1]
    assert table
    for codes, action in table.items():
        assert list(codes) == sorted(set(codes))
        assert action in space, codes


def test_who_has_no_such_keys():
    """The keys of Generals depend on the game."""
    for id in ("Generals-v0", "Ant-v0"):
        env = rlenvs.make(id)
        assert not env.has_wrapper_attr("get_keys_to_action")
        with pytest.raises(AttributeError, match="get_keys_to_action"):
            env.unwrapped.get_keys_to_action()


@pytest.mark.filterwarnings("ignore")  # the player asks for a backend of matplotlib that needs a screen
@pytest.mark.parametrize(
    ("id", "noop", "keys"),
    [
        ("DeepSeaTreasure-v0", 0, ("right",)),
        ("QuadHover-v0", np.zeros(4, np.float32), ("up",)),
        ("QuadHover-v0", np.zeros(4, np.float32), ("w", "up")),
        ("Battle-v0", 4, ("1",)),
    ],
)
def test_gymnasiums_player(monkeypatch, id, noop, keys):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from gymnasium.utils.play import play

    env, made = rlenvs.make(id, render_mode="rgb_array"), []
    codes = [pygame.key.key_code(key) for key in keys] if pygame.display.get_init() else None

    def told(before, after, action, reward, terminated, truncated, info):
        made.append(action)
        if len(made) == 2:
            for code in codes or [pygame.key.key_code(key) for key in keys]:
                pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code))
        if len(made) == 4:
            pygame.event.post(pygame.event.Event(pygame.QUIT))

    play(env, callback=told, noop=noop, fps=1000)
    pressed = world_of(id).functions["keys"](set(keys), env.unwrapped.batch.setup.values)
    for action, wanted in zip(made, (noop, noop, pressed, pressed), strict=True):
        np.testing.assert_array_equal(action, np.asarray(wanted, np.asarray(noop).dtype))
    gymnasium.Env.close(env)
