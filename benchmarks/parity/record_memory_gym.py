"""Record episodes of the original Memory Gym: its random draws, actions, rewards, positions and screens.

In an environment of its own (Python 3.11): pip install memory-gym==1.0.2

    SDL_VIDEODRIVER=dummy python record_memory_gym.py memory_gym.npz

Every array's name is preceded by the id without its dashes and "-v0", or by "sprites". Screens are as the original
gives them, columns first. A scripted policy that reads the original's state plays, mixed with random actions so that
episodes fail too.
"""

import os
import sys

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

try:
    import gymnasium
    import memory_gym  # noqa: F401 (registers ids)
    import numpy as np
    import pygame
    from memory_gym.character_controller import CharacterController
    from memory_gym.pygame_assets import Command, Exit
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

EVERY = 4  # of the screens, how many steps lie between two that are kept
GAMES = {
    "MortarMayhem": ("MortarMayhem-v0", (0.0, 0.01, 1.0)),
    "MortarMayhemGrid": ("MortarMayhem-Grid-v0", (0.0, 0.02, 1.0)),
    "MortarMayhemB": ("MortarMayhemB-v0", (0.0, 0.01, 1.0)),
    "MortarMayhemBGrid": ("MortarMayhemB-Grid-v0", (0.0, 0.02, 1.0)),
    "EndlessMortarMayhem": ("Endless-MortarMayhem-v0", (0.005, 0.02, 1.0)),
    "MysteryPath": ("MysteryPath-v0", (0.05, 0.3, 1.0)),
    "MysteryPathGrid": ("MysteryPath-Grid-v0", (0.05, 0.3, 1.0)),
    "EndlessMysteryPath": ("Endless-MysteryPath-v0", (0.02, 0.05, 1.0)),
    "SearingSpotlights": ("SearingSpotlights-v0", (0.3, 0.9, 1.0)),
    "EndlessSearingSpotlights": ("Endless-SearingSpotlights-v0", (0.3, 0.6, 1.0)),
}
MOST_STEPS = 280
NAMES = list(Command.COMMANDS)
SPOTS, COINS, NODES = 64, 16, 200
AGENT_SCALES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.37, 0.44, 0.5)
EXIT_SCALES = (0.25, 0.4, 0.5, 0.55, 0.9, 1.0, 1.45, 2.0)


def toward(dx, dy, near=1):
    """A free move."""
    return [1 if dx < -near else 2 if dx > near else 0, 1 if dy < -near else 2 if dy > near else 0]


def turning(env, dx, dy):
    """A move of an agent that turns."""
    if not (dx or dy):
        return 0
    wanted = (90 if dx < 0 else 270) if dx else (0 if dy < 0 else 180)
    turns = (wanted - env.agent.rotation) % 360
    return 3 if turns == 0 else 1 if turns <= 180 else 2


def clever(name, env):
    """What a policy with the original's state would do."""
    place = env.agent.rect.center
    if "Mortar" in name:
        if "Grid" in name:
            here = env.normalized_agent_position
            return turning(env, *(int(t - h) for t, h in zip(env._target_pos, here, strict=True)))
        return toward(*(int(env.arena.rect[k] + 14 * env._target_pos[k] + 7 - place[k]) for k in range(2)))
    if "Mystery" in name:
        here = tuple(int(n) for n in env.normalized_agent_position)
        if name.startswith("Endless"):
            node = env.current_node.next_node
            dx, dy = int(node.x) * 12 + 6 - place[0], int(node.y) * 12 + 6 - place[1]
            return 1 if dx > 1 else 2 if dy < -1 else 3 if dy > 1 else 0
        path = [(int(n.x), int(n.y)) for n in env.mystery_path.path[::-1]]
        goal = path[min(path.index(here) + 1, len(path) - 1)] if here in path else here
        if "Grid" in name:
            return turning(env, goal[0] - here[0], goal[1] - here[1])
        return toward(goal[0] * 12 + 6 - place[0], goal[1] * 12 + 6 - place[1])
    if name.startswith("Endless"):
        goal = env.coin.location
    else:
        goal = env.coins[0].location if env.coins else env.exit.location
    return toward(goal[0] - place[0], goal[1] - place[1])


def draws(name, env):
    """What the original drew at random, in arrays of fixed size."""
    if "Mortar" in name:
        commands = np.full(40, -1)
        commands[: len(env._commands)] = [NAMES.index(c) for c in env._commands[:40]]
        return {"commands": commands, "target": np.array(env._target_pos, int)}
    if "Mystery" in name:
        nodes = np.full((NODES, 2), -1)
        path = env.endless_path.path if name.startswith("Endless") else [env.mystery_path.path[::-1]]
        flat = [(n.x, n.y) for segment in path for n in segment][:NODES]
        nodes[: len(flat)] = flat
        return {"path": nodes}
    spots = np.full((SPOTS, 9), np.nan)
    for k, spot in enumerate(env.spotlights):
        ends = (*spot.spawn_location, *spot.target_location, *spot.offset_location)
        spots[k] = (*ends, spot.radius, spot.speed, spot.t)
    coins = [env.coin] if name.startswith("Endless") else env.coins
    places = np.full((COINS, 2), -1)
    places[: len(coins)] = [c.location for c in coins] or np.zeros((0, 2))
    gone = (-1, -1) if name.startswith("Endless") else env.exit.location
    return {"spots": spots, "coins": places, "exit": np.array(gone), "health": np.array(env.current_agent_health)}


def play(name, id, noise, seed):
    """One episode; arrays by name, times first."""
    env = gymnasium.make(id, disable_env_checker=True).unwrapped
    rng = np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    rows = {"action": [], "reward": [], "done": [], "agent": [], "rotation": [], "frame": [], "frame_at": []}

    def note(t):
        rows["agent"].append(env.agent.rect.center)
        rows["rotation"].append(env.agent.rotation)
        for key, value in draws(name, env).items():
            rows.setdefault(key, []).append(value)
        if t % EVERY == 0:
            rows["frame"].append(seen["visual_observation"] if isinstance(seen, dict) else seen)
            rows["frame_at"].append(t)

    note(0)
    for t in range(1, MOST_STEPS + 1):
        action = clever(name, env)
        if rng.random() < noise:
            action = rng.integers(0, 3, 2).tolist() if np.ndim(action) else int(rng.integers(0, 4))
        seen, reward, done, _, _ = env.step(action)
        for key, value in (("action", action), ("reward", reward), ("done", done)):
            rows[key].append(value)
        note(t)
        if done:
            break
    return {key: np.array(value) for key, value in rows.items()}


def drawn(surface, rect):
    """A drawing on a dark screen, rows first."""
    screen = pygame.Surface((84, 84))
    screen.fill((7, 8, 9))
    screen.blit(surface, rect)
    return pygame.surfarray.array3d(screen).transpose(1, 0, 2).astype(np.uint8)


def sprites():
    """Agents by scale and eighth of a turn, closed and open doors by scale, in the middle of the screen."""
    agents, doors = [], []
    for scale in AGENT_SCALES:
        controller = CharacterController(3, scale)
        controller.rect.center = (42, 42)
        agents.append([drawn(*controller.get_rotated_sprite(45 * eighth)) for eighth in range(8)])
    for scale in EXIT_SCALES:
        door = Exit((42, 42), scale)
        for opened in (False, True):  # it is drawn only where this changes
            door.draw(opened)
            doors.append(drawn(door.surface, door.rect))
    return {"sprites_agent": np.array(agents), "sprites_exit": np.array(doors).reshape(-1, 2, 84, 84, 3)}


def main():
    saved = sprites()
    for name, (id, noises) in GAMES.items():
        for episode, noise in enumerate(noises):
            for key, value in play(name, id, noise, 100 + episode).items():
                if key in ("commands", "path", "coins", "exit", "target", "agent", "rotation", "action", "frame_at"):
                    value = value.astype(np.int16)
                saved[f"{name}_{episode}_{key}"] = value
            print(name, episode, len(saved[f"{name}_{episode}_reward"]), saved[f"{name}_{episode}_reward"].sum())
    np.savez_compressed(sys.argv[1], **saved)


if __name__ == "__main__":
    main()
