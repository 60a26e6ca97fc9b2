"""Record episodes of highway-env 1.12: the state behind the reset, then what happens.

    python benchmarks/parity/record_highway_env.py highway --seeds 3 --out tests/data/highway_env_highway.npz

Runs where highway-env 1.12.1 is installed, without rlenvs. Each world in a process of its own, because highway-env's
intersection changes numbers of the drivers' class for all worlds after it. Where a world draws during an episode (cars
that enter an intersection), what came of the draws is recorded: which cars there are after each step.
"""

import argparse

try:
    import gymnasium
    import highway_env
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

IDS = {
    "highway": "highway-v0",
    "fast": "highway-fast-v0",
    "merge": "merge-v0",
    "roundabout": "roundabout-v0",
    "intersection": "intersection-v0",
    "parking": "parking-v0",
    "parked": "parking-parked-v0",
    "merge_linked": "merge-v1",
    "roundabout_linked": "roundabout-v1",
    "intersection_linked": "intersection-v2",
    "continuous": "highway-v0",
    "times": "highway-v0",
    "grid": "highway-v0",
    "lidar": "highway-v0",
    "two_way": "two-way-v0",
    "u_turn": "u-turn-v0",
    "exit": "exit-v0",
    "racetrack": "racetrack-v0",
    "racetrack_large": "racetrack-large-v0",
    "racetrack_oval": "racetrack-oval-v0",
    "lane_keeping": "lane-keeping-v0",
    "lanes_3": "highway-fast-v0",
    "lanes_10": "highway-v0",
    "merge_times": "merge-v0",
    "roundabout_times": "roundabout-v0",
    "intersection_times": "intersection-v0",
    "racetrack_rows": "racetrack-large-v0",
}
TIMES = {"observation": {"type": "TimeToCollision"}}
CONFIGS = {
    "continuous": {"action": {"type": "ContinuousAction"}},
    "times": {**TIMES, "vehicles_count": 20},
    "grid": {"observation": {"type": "OccupancyGrid"}, "vehicles_count": 20},
    "lidar": {"observation": {"type": "LidarObservation"}, "vehicles_count": 20},
    "lane_keeping": {"state_noise": 0.0, "derivative_noise": 0.0},
    "lanes_10": {"lanes_count": 10, "vehicles_count": 20},
    "merge_times": TIMES,
    "roundabout_times": TIMES,
    "intersection_times": TIMES,
    "racetrack_rows": {"observation": {"type": "Kinematics"}},
}
NETWORKS = (
    *("merge", "roundabout", "intersection", "parking", "two_way", "u_turn", "exit"),
    *("racetrack", "racetrack_large", "racetrack_oval"),
)
STAGES = 16
DRIVER, TRACKER, RAW, OBSTACLE = 0, -1, -2, -3
NUMBERS = (
    *("x", "y", "heading", "speed", "target_speed", "timer", "exponent", "acceleration", "steering", "length", "width"),
    *("shift_x", "shift_y"),
)
PLACES = ("driver", "lane_of", "target_lane", "crashed", "changes", "checked", "hit", "yielding", "stages")


def lane_numbers(network):
    """The number of each lane, and of each road, in the order of the graph."""
    roads = [(start, end) for start, ends in network.graph.items() for end in ends]
    lanes = [(*road, n) for road in roads for n in range(len(network.graph[road[0]][road[1]]))]
    return {lane: n for n, lane in enumerate(lanes)}, {road: n for n, road in enumerate(roads)}


def bodies_of(env):
    """Vehicles, then obstacles."""
    from highway_env.vehicle.objects import Obstacle

    return [*env.road.vehicles, *(body for body in env.road.objects if isinstance(body, Obstacle))]


def state_of(env):
    """Numbers, places and routes of all bodies."""
    from highway_env.vehicle.behavior import IDMVehicle
    from highway_env.vehicle.controller import ControlledVehicle
    from highway_env.vehicle.kinematics import Vehicle

    lanes, roads = lane_numbers(env.road.network)
    numbers, places, routes = [], [], []
    for body in bodies_of(env):
        kind = OBSTACLE
        if isinstance(body, Vehicle):
            kind = TRACKER if isinstance(body, ControlledVehicle) else RAW
        if isinstance(body, IDMVehicle):
            kind = DRIVER
        action = getattr(body, "action", {"steering": 0.0, "acceleration": 0.0})
        shift = body.impact if getattr(body, "impact", None) is not None and kind != OBSTACLE else (0.0, 0.0)
        hit = kind != OBSTACLE and body.impact is not None
        target = getattr(body, "target_lane_index", body.lane_index)
        numbers.append(
            [*body.position, body.heading, body.speed, getattr(body, "target_speed", 0.0), getattr(body, "timer", 0.0)]
            + [getattr(body, "DELTA", 4.0), action["acceleration"], action["steering"], body.LENGTH, body.WIDTH, *shift]
        )
        route = list(getattr(body, "route", None) or [])
        lane = lanes[tuple(body.lane_index[:2]) + (int(body.lane_index[2]),)]
        aimed = lanes[tuple(target[:2]) + (int(target[2]),)]
        flags = body.crashed, getattr(body, "enable_lane_change", True), body.check_collisions, hit
        places.append([kind, lane, aimed, *map(int, flags), int(getattr(body, "is_yielding", False)), len(route)])
        row = np.full((STAGES, 2), -1)
        for n, (start, end, place) in enumerate(route):
            row[n] = roads[start, end], -1 if place is None else place
        routes.append(row)
    return np.array(numbers, np.float64), np.array(places, np.int64), np.array(routes, np.int64)


def flat(observation):
    """An observation as one array."""
    if isinstance(observation, dict):
        goal = ("observation", "achieved_goal", "desired_goal")
        return np.concatenate([np.ravel(observation[key]) for key in (goal if goal[0] in observation else observation)])
    return np.asarray(observation)


def chosen(env, rng, cautious):
    """An action that lets episodes last: mostly idle, or mostly slow. float32 numbers, as every form takes them."""
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        idle = env.unwrapped.action_type.actions_indexes["IDLE"]
        if cautious and rng.random() < 0.5:
            return env.unwrapped.action_type.actions_indexes["SLOWER"]
        return idle if rng.random() < (0.8 if cautious else 0.6) else int(rng.integers(space.n))
    if space.shape == (1,):
        return steered(env.unwrapped, rng)
    return (rng.uniform(-1.0, 1.0, space.shape) * [0.5, 0.05]).astype(np.float32)


def steered(env, rng):
    """Steering, alone, towards the middle of the lane, with noise, so that episodes without brakes last."""
    car = env.vehicle
    lane = getattr(env, "lane", None) if hasattr(env, "lanes") else car.lane
    along, across = lane.local_coordinates(car.position)
    off = lane.heading_at(along + 3.0) - np.arctan(across / 6.0) - car.heading
    slip = np.clip(2.5 * ((off + np.pi) % (2.0 * np.pi) - np.pi) / (0.4 * car.speed), -0.6, 0.6)
    angle = np.arctan(2.0 * np.tan(np.arcsin(slip))) / env.action_type.steering_range[1]
    return np.clip([angle + rng.normal() * 0.03], -1.0, 1.0).astype(np.float32)


def record(world, seed, most=199):
    """One episode, or its first steps."""
    env = gymnasium.make(IDS[world], config=CONFIGS.get(world))
    observation, _ = env.reset(seed=seed)
    inner, rng = env.unwrapped, np.random.default_rng(seed)
    states, actions, observations = [state_of(inner)], [], [flat(observation)]
    rewards, ends, egos = [], [], [inner.road.vehicles.index(inner.vehicle)]
    ids, lateral = [[id(body) for body in bodies_of(inner)]], [lateral_of(inner)]
    kept = bodies_of(inner)  # so that no other body gets the id of one that left
    over = False
    while not over:
        action = chosen(env, rng, seed % 2 == 1)
        given = action.astype(np.float64) if isinstance(action, np.ndarray) else action
        observation, reward, terminated, truncated, _ = env.step(given)
        over = terminated or truncated or len(actions) >= most
        actions.append(action)
        observations.append(flat(observation))
        rewards.append(float(reward))
        ends.append((terminated, truncated))
        states.append(state_of(inner))
        egos.append(inner.road.vehicles.index(inner.vehicle))
        ids.append([id(body) for body in bodies_of(inner)])
        lateral.append(lateral_of(inner))
        kept += bodies_of(inner)
    names = {number: n for n, number in enumerate(dict.fromkeys(i for row in ids for i in row))}
    return {
        "bodies": np.array([len(each[0]) for each in states]),
        "names": np.concatenate([[names[i] for i in row] for row in ids]),
        "numbers": np.concatenate([each[0] for each in states]),
        "places": np.concatenate([each[1] for each in states]).astype(np.int16),
        "routes": np.concatenate([each[2] for each in states]).astype(np.int16),
        "actions": np.array(actions),
        "observations": np.array(observations),
        "rewards": np.array(rewards),
        "ends": np.array(ends),
        "egos": np.array(egos),
        **({"lateral": np.array(lateral)} if lateral[0] else {}),
    }


def lateral_of(env):
    """Speed [m/s] to the right and rate of turning [rad/s] of an ego car that slides."""
    return [env.vehicle.lateral_speed, env.vehicle.yaw_rate] if hasattr(env.vehicle, "yaw_rate") else []


def networks():
    """Of each lane of each network its numbers, and points on it with their headings."""
    found = {}
    for world in NETWORKS:
        env = gymnasium.make(IDS[world]).unwrapped
        env.reset(seed=0)
        rows = []
        for lane in env.road.network.lanes_dict().values():
            row = [lane.length, lane.width, lane.speed_limit, lane.priority, float(lane.forbidden)]
            for along in np.linspace(0.0, lane.length, 5):
                row += [*lane.position(along, 1.0), lane.heading_at(along)]
            rows.append(row)
        found[world] = np.array(rows)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("world", choices=(*IDS, "networks"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=199, help="of an episode, at most")
    parser.add_argument("--out", required=True)
    asked = parser.parse_args()
    found = networks() if asked.world == "networks" else {}
    for seed in range(asked.seeds if asked.world in IDS else 0):
        found |= {f"{seed}/{name}": value for name, value in record(asked.world, seed, asked.steps).items()}
    np.savez_compressed(asked.out, version=highway_env.__version__, seeds=asked.seeds, **found)


if __name__ == "__main__":
    main()
