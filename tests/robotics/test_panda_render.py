"""What is drawn over the images of the arm lies where MuJoCo's camera sees it."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.canvas import COLORS
from rlenvs.kits.engines.overlays import View, project
from rlenvs.robotics.manipulation import flip, handover, panda, slide

pytest.importorskip("mujoco")


def test_known_points_lie_where_perspective_puts_them():
    view = View((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), 90.0)
    np.testing.assert_allclose(project(view, (0.0, 0.0, 0.0)), [(0.0, 0.0, 2.0)], atol=1e-12)
    np.testing.assert_allclose(project(view, (1.0, 0.0, -1.0)), [(0.5, -0.5, 2.0)], atol=1e-12)
    np.testing.assert_allclose(project(view, (0.0, 2.0, 1.0)), [(0.0, 0.25, 4.0)], atol=1e-12)


@pytest.mark.parametrize(
    ("id", "view", "goal"),
    [
        ("PandaReach-v0", panda.OVERVIEW, "desired"),
        ("PandaSlide-v0", slide.VIEW, "desired"),
        ("PandaHandover-v0", handover.VIEW, "goal"),
    ],
)
def test_rings_lie_where_the_camera_sees_the_goals(id, view, goal):
    batch = rlenvs.make_batch(id, 1, backend="python")
    batch.seed([1])
    batch.reset()
    width, height = 300, 200
    camera_image = batch.camera_image(0, width, height).astype(int)
    rows, columns = np.nonzero(
        (camera_image[:, :, 1] > camera_image[:, :, 0] + 40) & (camera_image[:, :, 1] > camera_image[:, :, 2] + 10)
    )
    assert len(rows) > 20, "the goal is hidden from the start"
    x, y, _ = project(view, batch.records(0)[1][goal])[0]
    assert columns.mean() == pytest.approx(0.5 * width + 0.5 * height * x, abs=2.0)
    assert rows.mean() == pytest.approx(0.5 * height - 0.5 * height * y, abs=2.0)
    batch.close()


def test_a_goal_inside_the_hand_is_seen_and_named():
    env = rlenvs.make("PandaReach-v0", backend="python", render_mode="rgb_array")
    env.reset(seed=0)
    for _ in range(30):
        env.step(env.unwrapped.expert_action())
    image = env.render()
    assert (np.abs(image.astype(int) - COLORS["green"]).max(axis=2) < 6).sum() > 200
    env.close()


def test_a_image_does_not_depend_on_the_one_before():
    batch = rlenvs.make_batch("Ant-v0", 1, backend="python")
    batch.seed([1])
    batch.reset()
    np.testing.assert_array_equal(batch.camera_image(0, 300, 200), batch.camera_image(0, 300, 200))
    batch.close()


def test_a_cube_that_is_turned_in_the_air_stays_in_the_image():
    """PandaFlip's expert lifts it by half a metre."""
    batch = rlenvs.make_batch("PandaFlip-v0", 4)
    batch.seed(range(4))
    batch.reset()
    places = []
    for _ in range(40):
        batch.step(batch.expert_actions())
        places += [batch.records(i)[1].cube.copy() for i in range(4)]
    assert np.max(places, axis=0)[2] > 0.4
    assert np.abs(project(flip.VIEW, places)[:, :2]).max() < 0.88
    batch.close()
