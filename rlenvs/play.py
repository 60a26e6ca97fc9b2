"""Playing an environment with the keyboard, in a window."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.canvas import COLORS, Canvas
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import first_seed_of
from rlenvs.core.declare.keys import held_keys, meaning_of, steering_keys
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.gym_env import others_of
from rlenvs.core.forms.render import EpisodeTotals, draw, has_image, head_of

STRIP = 32  # pixels below the image, for the keys of every game
PAUSE = 1.5  # s between the end of an episode and the next one


def key_table(id: str, **keywords: Any) -> list[tuple[str, str]]:
    """The keys that do something, each with what it does, found by asking the world's key function.

    Raises:
        ParameterError: the world cannot be played with the keyboard.
    """
    world = world_of(id)
    setup, own = Setup(world, **keywords), world.functions.get("keys")
    if not (own or held_keys(setup)) or not has_image(world):
        raise ParameterError(f"{world.name} cannot be played with the keyboard: it has no keys or no image")
    if inspect.isclass(own):
        hand: Any = own
        return list(hand.help)
    return [(key, meaning_of(setup, action)) for key, action in steering_keys(setup).items()]


class Game:
    """A window in which a person plays the first agent of one world; the scripted expert plays the others.

    What keys do may depend on the game. The world's `keys` is a class then, made once with the options: `help`, pairs
    of keys and what they do; `begin()`, called at a new episode; `press(keys, p, s)`, from the keys that went down
    since the last step, in their order, to an action; `draw(canvas, p, s)`, the image with what is marked.

    Args:
        id: the environment.
        seed: of its generator.
        report: called at the end of every episode with a line that says how it went.
        keywords: of `rlenvs.make_batch`.

    Raises:
        ParameterError: the world cannot be played with the keyboard.
    """

    def __init__(self, id: str, seed: int = 0, report: Callable[[str], Any] = print, **keywords: Any) -> None:
        key_table(id, **keywords)
        seed = first_seed_of(seed)
        self.batch: KernelBatch = make_batch(id, 1, autoreset=AutoresetMode.DISABLED, **keywords)
        self.world = self.batch.world
        self.others = others_of(self.world, None)
        self.report = report
        self.held: set[str] = set()
        self.tapped: list[str] = []
        depends_on_game = inspect.isclass(self.world.functions.get("keys"))
        control: Any = self.world.functions.get("keys")
        self.hand: Any = control(self.batch.setup.values) if depends_on_game else None
        self.episodes, self.resting = 0, 0
        self.batch.totals = EpisodeTotals(self.batch)
        self.batch.seed([seed])
        self._begin()

    def _begin(self) -> None:
        self.batch.reset()
        if self.hand is not None:
            self.hand.begin()
        self.score, self.cost, self.steps = 0.0, 0.0, 0
        self.resting = 0

    def run(self) -> None:
        """Open the window and play until Esc is pressed or the window is closed."""
        import pygame

        pygame.display.init()
        pygame.display.set_caption(self.world.name)
        canvas, clock = Canvas(), pygame.time.Clock()
        canvas.viewer = 0
        window = pygame.display.set_mode((canvas.width, canvas.height + STRIP))
        try:
            self._show(window, canvas)
            while self._listen(pygame):
                self._advance()
                self._show(window, canvas)
                clock.tick(self.batch.setup.fps)
        finally:
            pygame.display.quit()

    def _listen(self, pygame: Any) -> bool:
        """Take in what was pressed; False when the player wants to leave."""
        # a key that goes down and up between two steps counts for one step
        self.tapped = []
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                return False
            if event.type == pygame.KEYUP:
                self.held.discard(pygame.key.name(event.key))
            elif event.type == pygame.KEYDOWN:
                if event.key == pygame.K_ESCAPE:
                    return False
                if event.key == pygame.K_r:
                    self._begin()
                self.held.add(pygame.key.name(event.key))
                self.tapped.append(pygame.key.name(event.key))
        return True

    def _advance(self) -> None:
        if self.batch.over[0]:
            self.resting += 1
            if self.resting > PAUSE * self.batch.setup.fps:
                self._begin()
            return
        action = self._action()
        if action is None:
            return
        if self.batch.agents > 1:
            self.batch.set_first_agent_action(np.asarray(action)[None], self.others)
            self.batch.step_inplace()
        else:
            self.batch.step(np.asarray(action)[None])
        self.score += float(self.batch.rewards[0, 0])
        self.cost += float(self.batch.costs[0, 0])
        self.steps += 1
        if self.batch.over[0]:
            self.episodes += 1
            self.report(f"episode {self.episodes}: {self.status()}")

    def _action(self) -> Any:
        setup = self.batch.setup
        if self.hand is not None:
            return setup.taken(self.hand.press(self.tapped, *self.batch.records(0)))
        keys: Any = held_keys(setup)
        return setup.taken(keys({*self.held, *self.tapped}, setup.values))

    def status(self) -> str:
        """Score, cost, steps and how the episode stands, in one line."""
        parts = [f"return {self.score:.2f}"]
        if self.world.costs:
            parts.append(f"cost {self.cost:.2f}")
        parts.append(f"step {self.steps} of {self.batch.setup.horizon}")
        if self.batch.over[0]:
            parts.append("success" if self.batch.success[0, 0] else "over")
        return "   ".join(parts)

    def _show(self, window: Any, canvas: Canvas) -> None:
        import pygame

        if self.hand is None:
            draw(self.batch, 0, canvas)
        else:
            canvas.clear()
            self.hand.draw(canvas, *self.batch.records(0))
            canvas.head(head_of(self.batch, 0))
        window.fill(COLORS["black"])
        canvas.show(window)
        font = pygame.font.Font(None, 22)
        text = font.render("R restart   Esc quit", True, COLORS["grey"])
        window.blit(text, (canvas.width - text.get_width() - 10, canvas.height + (STRIP - text.get_height()) // 2))
        pygame.display.flip()
