"""Half right: looks for the faults of the way to the right and of the wall alone."""


def diagnose(env):
    found = []
    cell, _ = env.reset()
    paid, over = {}, False
    while not over:
        cell, reward, terminated, truncated, _ = env.step(1)
        paid[cell] = reward
        over = terminated or truncated
    if paid.get(8, 0.0) != 0.0:
        found.append("early_reward")
    cell, _ = env.reset()
    while cell > 0:
        cell, *_ = env.step(0)
    if env.step(0)[0] != 0:
        found.append("no_wall")
    return found
