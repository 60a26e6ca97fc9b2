"""A battle between two scripted players, and a tournament of all of them."""

import rlenvs

print("Takes a few seconds; the first time a minute more, to compile.", flush=True)
env = rlenvs.parallel_env("Battle-v0", scenario="5m_vs_6m", opponent="plain")
observations, infos = env.reset(seed=0)
print(f"{len(env.agents)} marines against 6, {observations['ally_0']['observation'].size} numbers each, ", end="")
print(f"{env.state().size} in the central state", flush=True)
while env.agents:
    actions = env.player_actions("kiting")  # or your policy, with observations[agent]["action_mask"]
    observations, rewards, terminated, truncated, infos = env.step(actions)
print("won" if infos["ally_0"]["is_success"] else "lost", flush=True)

print(rlenvs.tournament("Battle-v0", ["kiting", "plain", "random"], games=40, scenario="8m"))
