"""The frame of every image: head, caption and legend; and that its numbers are those of the episode, or unknown."""

import copy
import math
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from toys import pursuit

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.canvas import COLORS, FAINT_EDGE, HEAD, HEAD_COLOR, LEGEND_COLOR, ROW, Canvas, Head
from rlenvs.core.forms.render import EpisodeTotals, Renderer, draw
from rlenvs.wrappers import ActionRepeat, wrap

SPREAD, POINT, SEA = "ParticleSpread-v0", "SafePointGoal-v0", "DeepSeaTreasure-v0"


def plain(id, **keywords):
    return rlenvs.make(id, backend="python", render_mode="rgb_array", **keywords)


def head_of(env, index=0):
    batch = env.unwrapped.batch
    return batch.totals.head(batch, index)


def part(pixels, color, tolerance=6):
    """The share of pixels of a colour."""
    color = COLORS[color] if isinstance(color, str) else color
    return (np.abs(pixels.astype(int) - color).max(axis=2) <= tolerance).mean()


# --- the head's numbers -----------------------------------------------------------------------------------------------


def test_return_cost_and_step_are_those_of_the_episode():
    env = plain(POINT)
    env.reset(seed=3)
    total = cost = 0.0
    for _ in range(40):
        _, reward, _, _, info = env.step([1.0, 0.3])
        total, cost = total + reward, cost + info["cost"]
    head = head_of(env)
    assert head.title == POINT
    assert head.step == "step 40 / 1000"
    assert head.totals == f"return {total:.2f}   cost {cost:.2f} / 25"
    env.reset()
    assert head_of(env).totals == "return 0.00   cost 0.00 / 25"
    _, reward, *_ = env.step([1.0, 0.3])
    assert head_of(env).totals.startswith(f"return {reward:.2f} ")


def test_after_a_snapshot_the_totals_are_unknown_until_the_next_episode():
    env = plain(POINT)
    env.reset(seed=3)
    for _ in range(5):
        env.step([1.0, 0.3])
    snapshot = env.unwrapped.get_state()
    env.unwrapped.set_state(snapshot)  # the same number of steps: the numbers may be those of another episode
    assert head_of(env).totals == "return -   cost - / 25"
    env.step([1.0, 0.3])
    assert head_of(env).totals == "return -   cost - / 25"
    env.render()
    env.reset()
    env.step([0.0, 0.0])
    assert "-" not in head_of(env).totals.replace("return -0", "")


def test_planning_in_place_makes_the_totals_unknown():
    env = plain(SEA)
    env.reset(seed=0)
    env.step(3)
    batch = env.unwrapped.batch
    batch.rollout(np.full((1, 3, 1, 1), 3, np.int64))
    assert head_of(env).totals == "return -"


@pytest.mark.parametrize("mode", AutoresetMode)
def test_every_world_of_a_vector_has_its_own_totals(mode):
    count, steps = 3, 8
    envs = rlenvs.make_vec(SEA, count, backend="python", render_mode="rgb_array", autoreset_mode=mode, horizon=5)
    envs.reset(seed=0)
    totals, elapsed = np.zeros(count), np.zeros(count, int)
    over = np.zeros(count, bool)
    for t in range(steps):
        if mode is AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over.copy()})
            totals[over], elapsed[over], over[:] = 0.0, 0, False
        begin = over.copy() if mode is AutoresetMode.NEXT_STEP else np.zeros(count, bool)
        _, rewards, terminated, truncated, _ = envs.step(np.array([3, 1, 3 if t % 2 else 1]))
        totals, elapsed = np.where(begin, 0.0, totals + rewards), np.where(begin, 0, elapsed + 1)
        over = terminated | truncated
        if mode is AutoresetMode.SAME_STEP:
            totals[over], elapsed[over] = 0.0, 0
        for i in range(count):
            assert head_of(envs, i).totals == f"return {totals[i]:.2f}"
            assert head_of(envs, i).step == f"step {elapsed[i]} / 5"
    assert [frame.shape for frame in envs.render()] == [(512, 512, 3)] * count


def test_copies_go_on_with_the_totals():
    env = plain(POINT)
    env.reset(seed=3)
    env.step([1.0, 0.3])
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.step([1.0, 0.3])
        assert math.isfinite(float(head_of(twin).totals.split()[1]))
        twin.close()
    env.step([1.0, 0.3])
    assert head_of(twin).totals == head_of(env).totals


def test_wrappers_that_step_worlds_one_by_one_are_seen():
    env = wrap(plain(POINT), ActionRepeat(2))
    env.reset(seed=0)
    total = sum(env.step(env.action_space.sample())[1] for _ in range(6))
    assert head_of(env).step == "step 12 / 1000"
    assert float(head_of(env).totals.split()[1]) == pytest.approx(total, abs=0.01)


def test_a_team_shows_the_sum_over_its_agents_and_sides_their_own():
    env = rlenvs.parallel_env(SPREAD, backend="python", render_mode="rgb_array")
    env.reset(seed=0)
    rewards = env.step(dict.fromkeys(env.agents, 1))[1]
    assert head_of(env).totals.split()[1] == f"{sum(rewards.values()):.2f}"
    batch = KernelBatch(pursuit.SPEC, backend="python")
    batch.totals = EpisodeTotals(batch)
    batch.seed([0])
    batch.reset()
    batch.step(np.zeros((1, 3), np.int64))
    hunter, *hares = batch.rewards[0]
    assert batch.totals.head(batch, 0).totals == f"return {hunter:.2f} : {sum(hares):.2f}"


def test_success_is_marked_and_the_end():
    env = plain(SEA)
    env.reset(seed=0)
    assert head_of(env).mark == ""
    while not env.unwrapped.batch.over[0]:
        env.step(env.unwrapped.expert_action())
    assert (head_of(env).mark, head_of(env).success) == ("success", True)
    env = plain(SEA, horizon=1)
    env.reset(seed=0)
    env.step(3)
    assert (head_of(env).mark, head_of(env).success) == ("over", False)


def test_environments_without_images_are_not_watched():
    env = rlenvs.make(SEA, backend="python")
    assert env.unwrapped.batch.totals is None


# --- what it looks like -----------------------------------------------------------------------------------------------


def test_the_head_is_there_and_can_be_switched_off():
    images = []
    for text in (True, False):
        env = plain(SEA, render_text=text)
        env.reset(seed=0)
        images.append(env.render())
    with_text, without = images
    assert with_text.shape == without.shape == (512, 512, 3)
    assert part(with_text[:HEAD], HEAD_COLOR) > 0.7
    assert part(with_text[:HEAD], "white", 40) > 0.01, "no letters"
    assert part(without[:HEAD], HEAD_COLOR) == 0.0


def test_parallel_and_vector_forms_can_switch_it_off():
    env = rlenvs.parallel_env(SPREAD, backend="python", render_mode="rgb_array", render_text=False)
    env.reset(seed=0)
    assert part(env.render()[:HEAD], HEAD_COLOR) == 0.0
    envs = rlenvs.make_vec(SEA, 1, backend="python", render_mode="rgb_array", render_text=False)
    envs.reset(seed=0)
    assert part(envs.render()[0][:HEAD], HEAD_COLOR) == 0.0


def test_head_and_legend_take_their_place_from_the_scene_and_cover_nothing():
    canvas = Canvas()
    assert canvas.scene == (512, 512 - HEAD)
    canvas.legend(("green", "goal"), ("red", "hazard", "ring"))
    assert canvas.scene == (512, 512 - HEAD - ROW)
    canvas.view(0.0, 1.0, 0.0, 1.0)
    canvas.rectangle(-1.0, -1.0, 2.0, 2.0, "pink")
    pixels = canvas.pixels()
    assert part(pixels[HEAD : 512 - ROW, 30:480], "pink") == 1.0
    assert part(pixels[:HEAD], "pink") == part(pixels[512 - ROW :], "pink") == 0.0
    assert part(pixels[512 - ROW :], "green") > 0.005
    canvas.clear()
    assert canvas.scene == (512, 512 - HEAD)


def test_a_long_legend_takes_more_rows():
    canvas = Canvas()
    canvas.legend(*[("green", f"kind of thing {k}") for k in range(7)])
    assert canvas.scene == (512, 512 - HEAD - 2 * ROW)
    canvas.pixels()


def test_a_square_of_the_legend_with_the_colour_of_its_ground_has_an_edge():
    edges = {}
    for color in (LEGEND_COLOR, (130, 140, 150)):
        canvas = Canvas()
        canvas.legend((color, ""))
        edges[color] = np.abs(canvas.pixels()[512 - ROW + 2 :, :30].astype(int) - FAINT_EDGE).max(axis=-1).min()
    assert edges[LEGEND_COLOR] < 8
    assert edges[130, 140, 150] > 15


def test_long_words_in_the_head_are_cut_and_do_not_run_into_each_other():
    canvas = Canvas()
    canvas.caption("word " * 60)
    short = Canvas()
    for one in (canvas, short):
        one.head(
            Head("DefeatZerglingsAndBanelings-v0", "step 1000 / 1000", "return -10000   cost 9.00 / 25", "success")
        )
    np.testing.assert_array_equal(canvas.pixels()[22:HEAD, 340:], short.pixels()[22:HEAD, 340:])


def test_an_unframed_canvas_has_no_words():
    canvas = Canvas(framed=False)
    canvas.caption("nothing")
    canvas.legend(("green", "goal"))
    assert canvas.scene == (512, 512)
    assert (canvas.pixels() == COLORS["background"]).all()


def test_a_photo_keeps_its_pixels():
    camera_image = np.random.default_rng(0).integers(0, 255, (512 - HEAD, 512, 3)).astype(np.uint8)
    canvas = Canvas()
    canvas.paste(camera_image)
    assert np.abs(canvas.pixels()[HEAD:].astype(int) - camera_image).max() <= 1


def test_frames_have_other_sizes_too():
    canvas = Canvas(1024, 768)
    canvas.legend(("green", "goal"))
    assert canvas.scene == (1024, 768 - 2 * (HEAD + ROW))
    assert part(canvas.pixels()[: 2 * HEAD], HEAD_COLOR) > 0.95


def test_drawing_does_not_change_a_world():
    batch = rlenvs.make_batch(POINT, backend="python")
    batch.seed([0])
    batch.reset()
    before = batch.get_state()
    first = draw(batch, 0, Canvas())
    assert batch.get_state() == before
    np.testing.assert_array_equal(first, draw(batch, 0, Canvas()))


def test_a_renderer_without_a_mode_draws_nothing():
    renderer = Renderer(None, None)
    assert renderer.image(0) is None
    renderer.close()
