"""The same training on one machine or on a cluster, and a profile of its time.

    python examples/ray_scale_out.py --runners 2                      on this machine
    python examples/ray_scale_out.py --runners 64 --address auto      on a cluster, from one of its machines

Every machine of a cluster needs this package: `pip install '.[compile,rllib]'`. A runner takes one core; learning takes
the core of this process, or with --learners one core each.
"""

import argparse
import time

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
except ImportError:
    raise SystemExit("This example needs RLlib. Install it with: pip install '.[compile,rllib]'") from None

from rlenvs.integrations.rllib import forget_infos

parser = argparse.ArgumentParser()
parser.add_argument("--address", help="of a running cluster, as `ray start --head` prints it, or auto")
parser.add_argument("--runners", type=int, default=1, help="processes that sample")
parser.add_argument("--envs", type=int, default=64, help="worlds in each of them")
parser.add_argument("--learners", type=int, default=0, help="processes that learn; 0: this one does")
parser.add_argument("--batch", type=int, default=16384, help="steps in an iteration, of all runners together")
parser.add_argument("--iterations", type=int, default=3)
arguments = parser.parse_args()
if min(arguments.runners, arguments.envs, arguments.iterations) < 1:
    parser.error("--runners, --envs and --iterations must be at least 1")
share = arguments.batch // max(1, arguments.learners)  # of an iteration's steps, for each process that learns
if arguments.learners < 0 or share < 1:
    parser.error("--batch must be at least 1, and at least 1 for each of --learners")

torch.set_num_threads(1)  # the networks are small
ray.init(
    address=arguments.address, logging_level="ERROR", **({} if arguments.address else {"include_dashboard": False})
)
config = (
    PPOConfig()
    .environment(
        "rlenvs:rlenvs/QuadHover-v0",
        env_config={"action": "one_d_rpm", "level": "easy"},
        normalize_actions=False,  # actions are in [-1, 1] already, and worlds clip them
    )
    .env_runners(
        num_env_runners=arguments.runners,
        num_envs_per_env_runner=arguments.envs,
        gym_env_vectorize_mode="vector_entry_point",
    )
    .learners(num_learners=arguments.learners)
    .training(
        train_batch_size_per_learner=share,
        minibatch_size=min(2048, share),  # RLlib refuses more than there are
        num_epochs=10,
        lr=1e-3,
        gamma=0.98,
        lambda_=0.95,
        vf_clip_param=float("inf"),  # RLlib's 10 is far below the returns of this world
    )
    .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], free_log_std=True))
    .callbacks(on_sample_end=forget_infos)  # what is not sent need not be packed
    .fault_tolerance(restart_failed_env_runners=True)  # the others go on, and it comes back
)
algorithm = config.build_algo()
learn = algorithm.learner_group.update


def timed_learn(**keywords):  # RLlib's own timers are means over the last hundred iterations or so
    global learning
    start = time.perf_counter()
    result = learn(**keywords)
    learning += time.perf_counter() - start
    return result


algorithm.learner_group.update = timed_learn
print("    steps  steps/s   sampling  learning  mean return")
total = 0
for _ in range(arguments.iterations):
    start, learning = time.perf_counter(), 0.0
    found = algorithm.train()["env_runners"]
    seconds, steps = time.perf_counter() - start, int(found["num_env_steps_sampled"])
    total += steps
    mean = found.get("episode_return_mean", float("nan"))
    print(f"{total:9} {steps / seconds:8.0f} {seconds - learning:8.2f} s {learning:7.2f} s {mean:12.0f}", flush=True)
algorithm.stop()
ray.shutdown()
