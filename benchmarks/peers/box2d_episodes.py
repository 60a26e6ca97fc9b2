"""Episodes of Gymnasium's Box2D worlds with their own controllers: return, success, steps and distance, as JSON lines.

    python box2d_episodes.py LunarLander-v3 1000 [--first 0] [--continuous] [--wind]

Installed as: gymnasium 1.4.0 and box2d 2.3.10. Success: the lander came to rest; the walker reached the end.
"""

import json
import sys

try:
    import gymnasium
    from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics
    from gymnasium.envs.box2d.lunar_lander import heuristic
except Exception as error:  # Gymnasium has an error of its own where Box2D is missing
    raise SystemExit(f"gymnasium with box2d is needed ({error}); the docstring of this script says how") from None


def play(env: gymnasium.Env, seed: int) -> dict[str, float]:
    walks = "Walker" in env.spec.id
    state, _ = env.reset(seed=seed)
    gait = BipedalWalkerHeuristics() if walks else None
    action, total, steps, ended, over = [0.0, 0.0, 0.0, 0.0], 0.0, 0, False, False
    while not (ended or over):
        if not walks:
            action = heuristic(env, state)
        state, reward, ended, over, _ = env.step(action)
        if walks:
            action = gait.step_heuristic(state)
        total += float(reward)
        steps += 1
    body = env.unwrapped.hull if walks else env.unwrapped.lander
    success = bool(ended and reward > -100.0) if walks else bool(not body.awake)
    return {"return": total, "success": success, "steps": steps, "distance": float(body.position.x)}


def main() -> None:
    id, count = sys.argv[1], int(sys.argv[2])
    keywords = {"continuous": True} if "--continuous" in sys.argv else {}
    keywords |= {"enable_wind": True} if "--wind" in sys.argv else {}
    env = gymnasium.make(id, **keywords)
    first = int(sys.argv[sys.argv.index("--first") + 1]) if "--first" in sys.argv else 0
    for seed in range(first, first + count):
        print(json.dumps(play(env, seed)), flush=True)


if __name__ == "__main__":
    main()
