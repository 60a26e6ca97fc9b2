"""What observations hold of the past, where they are asked to: accounts of bandits, what memory games have shown."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.gridworld.cells import cell_at
from rlenvs.single.memory.arena import middle_of
from rlenvs.single.memory.mystery_rules import tile_of


def records(env):
    return env.unwrapped.batch.records(0)


# --- bandits ----------------------------------------------------------------------------------------------------------


def test_the_picture_alone_is_a_number_and_with_more_it_is_a_vector():
    assert rlenvs.make("ContextualBandit-v0").observation_space == spaces.Discrete(5)
    last = rlenvs.make("ContextualBandit-v0", recall="last").observation_space
    assert isinstance(last, spaces.Box)
    assert last.shape == (1 + 10 + 1,)
    assert rlenvs.make("ContextualBandit-v0", recall="accounts", arms=4).observation_space.shape == (1 + 4 + 4,)
    with pytest.raises(ParameterError, match="one_hot"):
        rlenvs.make("Bandit-v0", recall="last", encoding="one_hot")


def test_the_last_pull_is_what_was_pulled_and_paid():
    env = rlenvs.make("Bandit-v0", recall="last", arms=3)
    seen, _ = env.reset(seed=3)
    assert seen.tolist() == [0, 0, 0, 0, 0]
    for arm in (2, 0, 1):
        seen, paid, *_ = env.step(arm)
        assert seen[1:4].tolist() == np.eye(3)[arm].tolist()
        assert seen[4] == np.float32(paid)
    assert env.reset()[0].tolist() == [0, 0, 0, 0, 0]


def test_accounts_are_of_the_picture_that_is_shown():
    env = rlenvs.make("ContextualBandit-v0", recall="accounts", arms=2, contexts=3)
    seen, _ = env.reset(seed=1)
    payouts = {(picture, arm): [] for picture in range(3) for arm in range(2)}
    for step in range(60):
        picture, arm = int(seen[0]), step % 2
        seen, paid, *_ = env.step(arm)
        payouts[picture, arm].append(paid)
        own = [payouts[int(seen[0]), other] for other in range(2)]
        np.testing.assert_allclose(seen[1:3], [sum(part) / (len(part) + 1) for part in own], rtol=1e-5)
        np.testing.assert_allclose(seen[3:5], [(len(part) + 1) ** -0.5 for part in own], rtol=1e-6)


def test_accounts_are_what_is_to_be_believed():
    """With means N(0, 1) and noise N(0, 1), the mean after n payouts is N(sum / (n + 1), 1 / (n + 1))."""
    batch = rlenvs.make_batch("Bandit-v0", 20_000, recall="accounts", arms=2)
    batch.seed(0)
    batch.reset()
    for _ in range(3):
        batch.step(np.zeros((20_000, 1), int))
    off = batch.states["means"][:, 0, 0] - batch.observations[:, 0, 1]
    assert off.mean() == pytest.approx(0.0, abs=0.02)
    assert off.std() == pytest.approx(batch.observations[0, 0, 3], rel=0.03)


def test_payouts_are_clipped():
    env = rlenvs.make("Bandit-v0", recall="last", spread=10.0, noise=10.0)
    env.reset(seed=0)
    seen = np.array([env.step(k % 10)[0] for k in range(300)])
    assert np.abs(seen[:, -1]).max() == 10.0


# --- memory games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["MortarMayhem-v0", "MortarMayhemB-v0", "MortarMayhemGrid-v0", "EndlessMortarMayhem-v0"])
def test_the_target_is_told_when_it_is_due(id):
    env = rlenvs.make(id, level="recall")
    seen, _ = env.reset(seed=2)
    p, s = records(env)
    told = 0
    for _ in range(150):
        way = (middle_of(p, s.target_x) - s.x) / 14, (middle_of(p, s.target_y) - s.y) / 14
        if id == "EndlessMortarMayhem-v0":  # the torus is six tiles and a radius long: 90 pixels
            way = [min((one - 90 / 14, one, one + 90 / 14), key=abs) for one in way]
        np.testing.assert_allclose(seen[-2:], np.float32(way) if s.cues_left == 0 else [0, 0])
        told += s.cues_left == 0
        seen, _, over, late, _ = env.step(env.unwrapped.expert_action())
        if over or late:
            break
    assert told > 20


def test_recall_stands_beside_the_screen_too():
    space = rlenvs.make("MortarMayhemB-v0", recall=True).observation_space
    assert space["screen"].shape == (84, 84, 3)
    assert space["state"].shape == (20 * 9 + 2,)
    assert rlenvs.make("MysteryPath-v0", recall=True).observation_space["state"].shape == (6,)


def known_ways(s, column, row, fallen, walked, first):
    """What is known of four tiles, from the direction `first` on, to the left."""
    here, ways = 7 * column + row, []
    for across, down in [((1, 0), (0, -1), (-1, 0), (0, 1))[(first + k) % 4] for k in range(4)]:
        tile = 7 * (column + across) + row + down
        inside = 0 <= column + across < 7 and 0 <= row + down < 7
        if not inside or tile in fallen or (tile in walked and s.place_of[tile] < s.place_of[here]):
            ways.append(-1)
        else:
            ways.append(int(tile in walked))
    return ways


@pytest.mark.parametrize("id", ["MysteryPath-v0", "MysteryPathGrid-v0"])
def test_ways_are_told_once_they_are_found_out(id):
    env = gymnasium.make(f"rlenvs/{id}", level="recall")
    assert env.observation_space.shape == (11 + 4 + 2,)
    env.action_space.seed(0)
    seen, _ = env.reset(seed=5)
    _, s = records(env)
    walked, fallen, told = {int(s.path[0])}, set(), set()
    for step in range(400):
        column, row = int(s.x) // 12, int(s.y) // 12
        first = 0 if id == "MysteryPath-v0" else (int(s.facing) - 6) // 2 % 4
        ways = [0, 0, 0, 0] if s.off else known_ways(s, column, row, fallen, walked, first)
        assert seen[11:15].tolist() == ways
        across, down = int(s.path[0]) // 7 - column, int(s.path[0]) % 7 - row
        axes = [(across, -down), (-down, -across), (-across, down), (down, across)][first]
        np.testing.assert_allclose(seen[15:], np.float32(axes) / 7, rtol=1e-6)
        told |= set(ways)
        seen, _, over, late, _ = env.step(env.unwrapped.expert_action() if step % 5 else env.action_space.sample())
        (fallen if s.off else walked).add(tile_of(s))
        if over or late:
            seen, _ = env.reset()
            walked, fallen = {int(s.path[0])}, set()
    assert told == {-1, 0, 1}


@pytest.mark.parametrize("id", ["SearingSpotlights-v0", "EndlessSearingSpotlights-v0"])
def test_place_and_goal_are_told_in_the_dark(id):
    env = rlenvs.make(id, level="recall", light_dim_off_duration=0)
    assert env.observation_space.shape == (53 + 4,)
    seen, _ = env.reset(seed=4)
    _, s = records(env)
    coins = 0
    for _ in range(200):
        coin = (s.coin_x[0], s.coin_y[0]) if s.coins else (s.exit_x, s.exit_y)
        told = s.x / 42 - 1, s.y / 42 - 1, (coin[0] - s.x) / 42, (coin[1] - s.y) / 42
        np.testing.assert_allclose(seen[-4:], np.float32(told), rtol=1e-6)
        seen, _, over, late, info = env.step(env.unwrapped.expert_action())
        coins += info["reward_coin"]
        if over or late:
            break
    assert coins > 0


def test_no_goal_is_told_where_there_is_none():
    env = rlenvs.make("SearingSpotlights-v0", recall=True, use_exit=False, num_coins=[])
    assert env.reset(seed=0)[0]["state"][2:].tolist() == [0, 0]


def test_ways_of_the_endless_path_are_told_once_they_are_found_out():
    env = rlenvs.make("EndlessMysteryPath-v0", level="recall")
    assert env.observation_space.shape == (6 + 7 * 6 + 3,)
    seen, _ = env.reset(seed=5)
    _, s = records(env)
    rng, walked, fallen, told = np.random.default_rng(0), set(), set(), set()
    for _ in range(3000):
        column, row = int(s.x) // 12, int(s.y) // 12
        here, ways = 7 * column + row, []
        for across, down in ((1, 0), (0, -1), (0, 1)):
            tile = here + 7 * across + down
            inside = 0 <= row + down < 7
            back = inside and tile == s.back[here] and not s.off
            if (column + across, row + down if inside else "out") in fallen or back:
                ways.append(-1)
            else:
                ways.append(int(inside and tile == s.onward[s.place] and tile in walked))
        assert seen[-3:].tolist() == ([0, 0, 0] if s.off else ways)
        told |= set(ways) if not s.off else set()
        action = rng.integers(1, 4) if rng.random() < 0.1 else env.unwrapped.expert_action()
        seen, _, over, late, _ = env.step(action)
        column, row = int(s.x) // 12, int(s.y) // 12
        if s.off:
            fallen.add((column, row if 0 <= s.y < 84 else "out"))
        else:
            walked.add(7 * column + row)
        if over or late:
            seen, _ = env.reset()
            walked, fallen = set(), set()
    assert told == {-1, 0, 1}


def test_cards_that_are_known_to_make_a_pair_are_told():
    env = rlenvs.make("Concentration-v0", level="recall", pairs_of="colors")
    assert env.observation_space.shape == (104,)
    seen, _ = env.reset(seed=0)
    _, s = records(env)
    rng, known = np.random.default_rng(0), set()
    for step in range(103):
        down = {k for k in range(52) if s.lies[k] == 0 or (s.lies[k] == 1 and s.first == 0)}
        for k in range(52):
            others = [s.first - 1] if s.first else (known & down) - {k}
            pair = k in known & down and any(s.deck[k] == s.deck[other] for other in others)
            assert seen[52 + k] == (1 if pair else -int(k in known))
        pairs = np.flatnonzero(seen[52:] == 1)
        card = int(pairs[0]) if len(pairs) and step % 5 else int(rng.choice(sorted(down)))
        known.add(card)
        seen, _, over, *_ = env.step(card)
        if over:
            break
    assert s.pairs > 10


def test_who_knows_all_that_was_told_finds_most_pairs():
    """What a perfect memory is worth: known pairs first, else a card that was never turned."""
    env = rlenvs.make("Concentration-v0", level="recall")
    returns = []
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        returns.append(0.0)
        over = late = False
        while not over and not late:
            told = np.where(env.unwrapped.action_masks(), seen[52:], -2)
            seen, reward, over, late, _ = env.step(int(np.argmax(told)))
            returns[-1] += reward
    assert np.mean(returns) > 0.4


# --- the hallway ------------------------------------------------------------------------------------------------------


def test_the_object_at_the_beginning_of_the_hallway_is_told():
    env = rlenvs.make("MiniGridMemoryS7-v0", level="recall")
    plain = rlenvs.make("MiniGridMemoryS7-v0")
    assert env.observation_space == plain.observation_space
    objects = set()
    for seed in range(8):
        seen, _ = env.reset(seed=seed)
        usual, _ = plain.reset(seed=seed)
        p, s = records(env)
        for _ in range(4):
            there = s.grid[cell_at(p, 1, 2)]
            assert seen[3, 6].tolist() == [there & 15, 1, 0]
            usual[3, 6] = seen[3, 6]
            assert (seen == usual).all()
            objects.add(int(there) & 15)
            action = env.unwrapped.expert_action()
            (seen, _, over, *_), (usual, *_) = env.step(action), plain.step(action)
            if over:
                break
    assert objects == {5, 6}


def test_other_tasks_have_nothing_to_recall():
    told, plain = (rlenvs.make("MiniGridDoorKey5x5-v0", recall=recall) for recall in (True, False))
    assert (told.reset(seed=0)[0] == plain.reset(seed=0)[0]).all()


def test_who_starts_at_random_in_the_hallway_looks_anywhere():
    def directions(**options):
        batch = rlenvs.make_batch("MiniGridMemoryS9-v0", 64, **options)
        batch.seed(0)
        batch.reset()
        return set(batch.states["direction"].ravel().tolist())

    assert directions() == {0}
    assert directions(random_start=True) == {0, 1, 2, 3}


# --- the rover's surroundings -----------------------------------------------------------------------------------------


def test_rays_tell_the_border_and_what_is_unseen():
    """At the start, half a cell from the upper and the left border, looking along the row."""
    env = rlenvs.make("MarsExplorerContinuous-v0", observation="rays")
    seen, _ = env.reset(seed=0)
    blocked, unseen = seen[:24], seen[24:48]
    assert blocked[12] == blocked[18] == pytest.approx(1 - (0.625 / 20) ** 0.5)  # looked at in eighths of a cell
    assert ((blocked > 0) != (unseen > 0)).all()  # each ray ends at one of the two: all lie within 20 cells
    assert env.observation_space.shape == (24 + 24 + 1 + 4 + 1,)


def test_rays_turn_with_the_rover_and_tell_bumps():
    env = rlenvs.make("MarsExplorerContinuous-v0", observation="rays", turn_rate=np.pi / 12)
    before, _ = env.reset(seed=0)
    after, *_ = env.step(np.array([0.0, 1.0], np.float32))
    np.testing.assert_allclose(after[:23], before[1:24], atol=0.02)
    assert after[48] == 0.0
    bumped, *_, info = env.step(np.array([-1.0, 0.0], np.float32))
    assert bumped[48] == 1.0
    assert info["cost"] == 1.0
