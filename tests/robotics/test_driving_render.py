"""Images of driving worlds: the road is where cars drive, all of it is in the image, and the way to go is marked."""

import numpy as np
from support.scenes import count, is_color, scene_of, world_at_start

from rlenvs.robotics.driving.lane_keeping import WINDING
from rlenvs.robotics.driving.render import ASPHALT, ONCOMING


def test_the_middle_of_a_winding_lane_is_the_middle_of_its_road():
    batch, _, s = world_at_start("LaneKeeping-v0")
    s.lane = WINDING
    for x in (210.0, 260.0, 310.0):
        s.car[:2] = x, 8.0
        scene = scene_of(batch)
        for column in range(40, scene.shape[1], 60):
            road, line = is_color(scene[:, column], ASPHALT, 8), is_color(scene[:, column], "green", 40)
            rows = np.flatnonzero(road | line)
            assert abs(rows.mean() - np.flatnonzero(line).mean()) < 4.0


def test_the_whole_bend_of_a_u_turn_shows():
    batch, _, _ = world_at_start("UTurn-v0")
    scene = scene_of(batch)
    strip = scene[round(0.75 * len(scene)) :]
    road = is_color(strip, ASPHALT, 8)
    middle = road[:, strip.shape[1] // 2]
    assert (np.diff(np.flatnonzero(middle)) > 20).sum() == 1, "both directions"
    assert road.any(axis=0).mean() > 0.4


def test_the_way_to_go_is_green():
    for id, least in (("Intersection-v0", 100), ("Roundabout-v0", 100), ("UTurn-v0", 300)):
        batch, _, _ = world_at_start(id, simulation_hz=2)
        assert count(scene_of(batch), "green") > least, id


def test_the_exit_shows_before_it_is_reached():
    batch, _, s = world_at_start("Exit-v0", cars=0)
    s.x[s.ego] = 250.0
    assert count(scene_of(batch)[330:], "green") > 50


def test_who_comes_the_other_way_has_a_colour_of_its_own():
    batch, _, s = world_at_start("TwoWay-v0")
    oncoming = np.cos(s.heading[: s.movers]) < 0.0
    assert oncoming.sum() == 2
    s.x[np.flatnonzero(oncoming)] = s.x[s.ego] + np.array([20.0, 100.0])
    assert count(scene_of(batch), ONCOMING[0]) > 300
