"""The Gymnasium loop: one environment, with named reward terms and costs in info."""

import gymnasium

import rlenvs

print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
env = gymnasium.make("rlenvs/SafePointGoal-v0", level="1")
observation, info = env.reset(seed=0)
returns = spent = 0.0
terminated = truncated = False
while not (terminated or truncated):
    action = env.unwrapped.expert_action()  # your policy goes here
    observation, reward, terminated, truncated, info = env.step(action)
    returns += reward
    spent += info["cost"]
print(f"return {returns:.1f}, cost {spent:.0f}, terms of the last step:")
for name, value in info.items():
    print(f"  {name} = {value}")
print(f"{len(rlenvs.list_envs())} environments: {', '.join(rlenvs.list_envs())}")
env.close()
