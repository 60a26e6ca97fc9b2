"""STORM: recorded games of JaxMARL, move for move; its slips, which are not repeated; games of pairs, and refusals."""

import numpy as np
import pytest
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

RECORDED = np.load(DATA / "jaxmarl_dilemmas.npz")
STORM, TRIES = "Storm-v0", 8  # seeds with which each step is played, as chance decides who gets a cell
LEFT, RIGHT, FORWARD, ZAP, STAY = range(5)
DOWN, ACROSS = (0, 1, 0, -1), (1, 0, -1, 0)
GAMES = {2: (0, 1, 2), 3: (3, 4, 5), 8: (6, 7)}


def recorded(name):
    return {key.removeprefix(f"{name}_"): array for key, array in RECORDED.items() if key.startswith(f"{name}_")}


def put(batch, game, steps):
    """The recorded states of steps, one in each world."""
    s, places = batch.states, game["places"][steps]
    s["position"][:] = places[..., 0] * 8 + places[..., 1]
    s["facing"][:] = places[..., 2]
    s["grid"][:] = game["grid"][steps].reshape(len(steps), -1)
    s["tokens"][:] = game["tokens"][steps]
    s["frozen"][:] = np.maximum(game["frozen"][steps], -1)
    s["clock"][:, 0], s["clock"][:, 1] = game["clock_of_cooperation"][steps], game["clock_of_defection"][steps]


def contested(game):
    """Whether several agents want to go to a cell and none of them gets it, of each step: a slip of the original."""
    found = []
    for t, actions in enumerate(game["actions"]):
        places = game["places"][t].tolist()
        moves = zip(places, actions, game["frozen"][t] <= 0, strict=True)
        wanted = [(x + DOWN[way], y + ACROSS[way]) for (x, y, way), a, free in moves if a == FORWARD and free]
        later = [(x, y) for x, y, _ in game["places"][t + 1].tolist()]
        found.append(any(wanted.count(cell) > 1 and cell not in later for cell in wanted))
    return np.array(found)


def hidden(game):
    """Whether an agent is below a token or another agent on the original's grid, of each state: another slip."""
    return np.array(
        [
            [grid[x, y] != k + 1 for k, (x, y, _) in enumerate(places)]
            for grid, places in zip(game["grid"], game["places"].tolist(), strict=True)
        ]
    ).any(axis=1)


def paid(rewards, partners):
    """What the original pays for the same games: with two agents nothing, or else for the last pair of an agent in the
    order of pairs alone."""
    agents = rewards.shape[-1]
    last = np.full(agents, agents)  # 1 + index of the partner in the last pair
    last[-1] = agents - 1
    return np.where(partners == last, rewards, 0.0) if agents > 2 else np.zeros_like(rewards)


@pytest.mark.parametrize(("agents", "seed"), [(n, seed) for n, seeds in GAMES.items() for seed in seeds])
def test_recorded_games_are_the_same(agents, seed):
    """Moves, tokens, the grid, who stands still, clocks and, but for the slips named in the world's text, payoffs."""
    game = recorded(f"storm_{agents}_{seed}")
    length = len(game["actions"])
    steps = np.repeat(np.arange(length), TRIES)
    batch = begun(STORM, len(steps), agents=agents)
    put(batch, game, steps)
    batch.step(game["actions"][steps])
    later, again = game["places"][1:], game["frozen"][:-1] == 1  # who starts again does so anywhere
    s = {name: batch.states[name] for name in ("position", "facing", "tokens", "grid", "frozen", "clock", "partner")}
    ours = {name: array.reshape(length, TRIES, *array.shape[1:]) for name, array in s.items()}
    same = ours["position"] == (later[..., 0] * 8 + later[..., 1])[:, None]
    same = (same & (ours["facing"] == later[..., 2][:, None]) | again[:, None]).all(axis=2)
    slips = hidden(game)[:-1] | hidden(game)[1:] | contested(game)
    assert slips.sum() <= {2: 8, 3: 5, 8: 25}[agents]
    fine = np.flatnonzero(~slips)
    assert same[fine].any(axis=1).all()
    still = game["frozen"][1:] == 5
    plays = same & ((ours["partner"] > 0) == still[:, None]).all(axis=2)
    tries = np.where(plays.any(axis=1), plays.argmax(axis=1), same.argmax(axis=1))
    games = 0
    for t in fine:
        now = {name: array[t, tries[t]] for name, array in ours.items()}
        np.testing.assert_array_equal(now["tokens"], game["tokens"][t + 1])
        clocks = np.stack([game["clock_of_cooperation"][t + 1], game["clock_of_defection"][t + 1]])
        before = np.stack([game["clock_of_cooperation"][t], game["clock_of_defection"][t]])
        np.testing.assert_array_equal(now["clock"][before > 1], clocks[before > 1])
        moved = np.isin(np.arange(64), [*now["position"][again[t]], *(later[t] @ [8, 1, 0])[again[t]]])
        np.testing.assert_array_equal(now["grid"][~moved], game["grid"][t + 1].ravel()[~moved])
        if not plays[t].any():  # of eight agents the original looks at eight of 28 pairs
            assert agents == 8
            assert still[t].sum() < (now["partner"] > 0).sum()
            continue
        rewards = batch.rewards.reshape(length, TRIES, agents)[t, tries[t]]
        np.testing.assert_allclose(game["rewards"][t], paid(rewards, now["partner"]), rtol=1e-6)
        np.testing.assert_array_equal(now["frozen"], np.maximum(game["frozen"][t + 1], -1))
        games += still[t].sum() // 2
    assert games >= {2: 1, 3: 2, 8: 5}[agents]


@pytest.mark.parametrize(("agents", "seed"), [(2, 0), (3, 4), (8, 7)])
def test_recorded_views_are_the_same(agents, seed):
    """But for planes of agents that are not there, and for directions: agent k of the original looks for the codes
    k + 2 ... k + n, which are of other things too, shows there the direction of the next agent or, behind the last one,
    -128, and computes modulo 5."""
    game = recorded(f"storm_{agents}_{seed}")
    length = len(game["actions"])
    batch = begun(STORM, length, agents=agents)
    put(batch, game, np.arange(length))
    batch.sync_from_state(np.arange(length))
    seen = batch.observations[..., : 25 * (agents + 8)].reshape(length, agents, 5, 5, agents + 8)
    theirs = game["view"]
    shown = ~hidden(game)[:-1]
    np.testing.assert_array_equal(seen[shown][..., :agents], theirs[shown][..., :agents])
    np.testing.assert_array_equal(seen[..., agents : agents + 4], theirs[..., 8:12])
    facing = game["places"][:-1, :, 2].astype(np.int8)
    for k in range(agents):
        codes = theirs[:, k, ..., :12] @ np.arange(1, 13)
        codes = np.where(codes == 1, k + 1, np.where(codes == k + 1, 1, codes))  # its own plane is the first
        angle = np.zeros(codes.shape, np.int8)
        for j in range(k + 2, k + agents + 1):
            shown_way = facing[:, j] if j < agents else np.full(length, -128, np.int8)
            angle += np.where(codes == j, ((shown_way - facing[:, k] + np.int8(1)) % np.int8(5))[:, None, None], 0)
        np.testing.assert_array_equal(theirs[:, k, ..., 12:], angle[..., None] == np.arange(1, 5))
    inventory = batch.observations[..., 25 * (agents + 8) :]
    for k in range(agents):
        order = (k + np.arange(agents)) % agents
        told = [*game["inventory"][:, :2, k].T, *game["inventory"][:, 2, order].T]
        for j in order[1:]:
            told += [*game["inventory"][:, 3:, j].T]
        np.testing.assert_array_equal(inventory[:, k], np.transpose(told))


def test_recorded_views_of_pairs_are_the_same():
    """All planes, directions too, and the inventory, in storm_2p."""
    game = recorded("pair")
    length = len(game["view"])
    batch = begun(STORM, length)
    s, places = batch.states, np.stack([game["first"], game["second"]], axis=1)
    s["position"][:], s["facing"][:] = places[..., 0] * 8 + places[..., 1], places[..., 2]
    codes = np.array([0, 1, 2, 9, 10, 11, 12])  # nothing, agents, tokens, wall, zap
    s["grid"][:] = codes[game["grid"]].reshape(length, -1)
    s["tokens"][:] = np.stack([game["first_tokens"], game["second_tokens"]], axis=1)
    s["frozen"][:] = np.maximum(game["frozen"], -1)[:, None]
    batch.sync_from_state(np.arange(length))
    theirs = np.concatenate([game["view"].reshape(length, 2, -1), game["inventory"]], axis=2)
    np.testing.assert_array_equal(batch.observations, theirs)


# --- rules ------------------------------------------------------------------------------------------------------------


def placed(*agents, **keywords):
    """One world with agents at (row, column, direction, tokens of cooperation, of defection), and no tokens to find."""
    batch = begun(STORM, agents=len(agents), **keywords)
    s = batch.states
    s["grid"][:], s["clock"][:] = 0, 100
    for k, (row, column, facing, *tokens) in enumerate(agents):
        s["position"][0, k], s["facing"][0, k], s["tokens"][0, k] = row * 8 + column, facing, tokens
        s["grid"][0, row * 8 + column] = k + 1
    return batch


@pytest.mark.parametrize(
    ("first", "second", "paid"),
    [((1, 0), (3, 0), (3, 3)), ((2, 0), (0, 1), (0, 5)), ((0, 1), (0, 9), (1, 1)), ((1, 1), (1, 3), (1.375, 2.625))],
)
def test_games(first, second, paid):
    """Shares of tokens are mixed strategies: x M y' with M = [[3, 0], [5, 1]]."""
    batch = placed((3, 3, 0, *first), (3, 4, 2, *second))
    batch.step(np.array([[ZAP, ZAP]]))
    np.testing.assert_allclose(batch.rewards[0], paid)
    x, y = np.array(first) / sum(first), np.array(second) / sum(second)
    np.testing.assert_allclose(batch.rewards[0], [x @ [[3, 0], [5, 1]] @ y, y @ [[3, 0], [5, 1]] @ x])


def test_games_need_two_zaps_and_tokens_of_both():
    for tokens, actions in ((((1, 0), (1, 0)), (ZAP, STAY)), (((1, 0), (0, 0)), (ZAP, ZAP))):
        batch = placed((3, 3, 0, *tokens[0]), (3, 4, 2, *tokens[1]))
        batch.step(np.array([actions]))
        assert batch.rewards[0].tolist() == [0, 0]
    batch = placed((3, 3, 0, 1, 0), (3, 4, 1, 1, 0))  # the second one looks elsewhere
    batch.step(np.array([[ZAP, ZAP]]))
    assert batch.rewards[0].tolist() == [0, 0]


def test_zaps_reach():
    """Two cells ahead, and those to the left and right of the first."""
    reached = []
    for row in range(8):
        for column in range(8):
            if (row, column) == (3, 3):
                continue
            for facing in range(4):
                batch = placed((3, 3, 0, 1, 0), (row, column, facing, 1, 0))
                batch.step(np.array([[ZAP, ZAP]]))
                if batch.rewards[0, 0] > 0:
                    reached.append((row, column))
    assert set(reached) == {(3, 4), (3, 5), (2, 4), (4, 4)}


def test_after_a_game():
    """Both stand still for five steps and show their tokens; then they start again at a border, with none."""
    batch = placed((3, 3, 0, 2, 1), (3, 4, 2, 0, 1))
    batch.step(np.array([[ZAP, ZAP]]))
    for _ in range(5):
        assert batch.states["position"][0].tolist() == [27, 28]
        assert batch.observations[0, 1, -2:].tolist() == [2, 1]
        batch.step(np.array([[FORWARD, LEFT]]))
    assert (batch.states["tokens"] == 0).all()
    assert batch.observations[0, 1, -2:].tolist() == [0, 0]
    for cell in batch.states["position"][0].tolist():
        assert cell // 8 in (0, 1, 6, 7)
        assert cell % 8 in (0, 1, 2, 5, 6, 7)


def test_three_of_whom_two_can_play():
    """One of the pairs plays, each as often; the third agent goes on."""
    batch = begun(STORM, 900, agents=3)
    s = batch.states
    s["grid"][:], s["clock"][:], s["tokens"][:] = 0, 100, [1, 0]
    for k, (cell, facing) in enumerate(((27, 0), (28, 2), (29, 2))):
        s["position"][:, k], s["facing"][:, k], s["grid"][:, cell] = cell, facing, k + 1
    batch.step(np.full((900, 3), ZAP))
    pairs = [((s["partner"] > 0) == wanted).all(axis=1).sum() for wanted in ([1, 1, 0], [1, 0, 1])]
    assert sum(pairs) == 900
    assert abs(pairs[0] - 450) < 4 * 15
    np.testing.assert_array_equal(batch.rewards, np.where(s["partner"] > 0, 3.0, 0.0))


def test_tokens_come_back():
    """After 3 to 9 steps, where the cell is free."""
    batch = begun(STORM, 2000)
    assert (np.sort(batch.states["grid"][0][batch.states["source"][0].ravel()]) == [9] * 6 + [10] * 6).all()
    assert np.unique(batch.states["clock"]).tolist() == list(range(3, 10))
    batch.states["grid"][batch.states["grid"] >= 9] = 0
    source, free = batch.states["source"][:, 0, 0], None
    for step in range(1, 10):
        free = (batch.states["grid"][np.arange(2000), source] == 0).sum()
        batch.step(np.full((2000, 2), STAY))
        assert step >= 3 or free == 2000
    assert (batch.states["grid"][np.arange(2000), source] == 9).all()


def test_random_tokens():
    """Twelve tokens at the same places, six of each kind."""
    fixed, mixed = begun(STORM, 50), begun(STORM, 50, random_tokens=True)
    places = set(fixed.states["source"][0].ravel())
    assert all(set(source.ravel()) == places for source in mixed.states["source"])
    assert len({tuple(sorted(source[0])) for source in mixed.states["source"]}) > 40
    assert len({tuple(sorted(source[0])) for source in fixed.states["source"]}) == 1


@pytest.mark.parametrize("agents", [2, 8])
def test_no_two_agents_in_one_cell(agents):
    batch = begun(STORM, 200, agents=agents)
    dice = np.random.default_rng(0)
    for _ in range(150):
        batch.step(dice.choice(5, p=[0.1, 0.1, 0.5, 0.25, 0.05], size=(200, agents)))
        cells = np.sort(batch.states["position"], axis=1)
        assert (np.diff(cells, axis=1) > 0).all()


def test_players_meet():
    """Two cooperators get 3 a game, two defectors 1."""
    means = []
    for player in ("cooperator", "defector"):
        batch, rewards = begun(STORM, 50), []
        for _ in range(150):
            batch.step(batch.player_actions(player))
            rewards.append(batch.rewards.copy())
        assert set(np.unique(rewards)) == {0, 3 if player == "cooperator" else 1}
        means.append(np.count_nonzero(rewards) / 50)
    assert min(means) > 8


@pytest.mark.parametrize("payoffs", [[[1, 2, 3], [1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 2, 3]], [[1, 2]]])
def test_games_of_another_shape_are_refused(payoffs):
    with pytest.raises(ParameterError, match="payoffs="):
        rlenvs.make_batch(STORM, 1, payoffs=payoffs)


@pytest.mark.parametrize("agents", [1, 9])
def test_two_to_eight_agents(agents):
    with pytest.raises(ParameterError, match="agents="):
        rlenvs.make_batch(STORM, 1, agents=agents)


@pytest.mark.parametrize(
    ("code", "words"),
    [(3, "the grid shows agent 2; there are 2"), (8, "the grid shows agent 7"), (1, "an agent where it is not")],
)
def test_states_with_agents_that_are_not_there_are_refused(code, words):
    """Their directions would be read beyond the last agent's."""
    batch = begun(STORM)
    snapshot = batch.get_state()
    batch.set_state(snapshot)
    batch.states["grid"][0, 27] = code
    with pytest.raises(SnapshotError, match=words):
        batch.set_state(batch.get_state())
