"""Episodes of PettingZoo's pistonball_v6 by a policy: return of a piston, steps, whether it ended, as JSON lines.

    python pistonball_episodes.py slope 60 [--first 0]

Installed as: pettingzoo[butterfly] 1.27.0, pymunk 7.3.1. "random" moves pistons by anything; "slope" moves those behind
the ball up and all others down, which is the expert of Pistonball-v0.
"""

import json
import sys

try:
    import numpy as np
    from pettingzoo.butterfly import pistonball_v6
except Exception as error:
    raise SystemExit(f"pettingzoo[butterfly] is needed ({error}); the docstring of this script says how") from None


def play(env: pistonball_v6.parallel_env, policy: str, seed: int) -> dict[str, float]:
    env.reset(seed=seed)
    ball, names, chosen = env.unwrapped.ball, list(env.agents), np.random.default_rng(seed)
    middles, total, steps, ended = 60.0 + 40.0 * np.arange(len(names)), 0.0, 0, False
    while env.agents:
        action = chosen.uniform(-1.0, 1.0, len(names))
        if policy == "slope":
            action = np.where(ball.position[0] - middles < -10.0, 1.0, -1.0)
        _, rewards, ends, _, _ = env.step({name: np.float32(action[k : k + 1]) for k, name in enumerate(names)})
        total, steps, ended = total + rewards[names[0]], steps + 1, bool(ends[names[0]])
    return {"return": total, "steps": steps, "success": ended}


def main() -> None:
    policy, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[sys.argv.index("--first") + 1]) if "--first" in sys.argv else 0
    env = pistonball_v6.parallel_env()
    env.reset(seed=0)
    for seed in range(first, first + count):
        print(json.dumps(play(env, policy, seed)), flush=True)


if __name__ == "__main__":
    main()
