import copy
import pickle

import gymnasium
import numpy as np
import pytest
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.cameras import CameraNoise
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.presets import camera
from rlenvs.wrappers.sensors import Sensor

BEACON = {"pixels": 32}


class Video(gymnasium.Env):
    """Images that tell their step: a grey level, or a given image."""

    def __init__(self, shape=(20, 30, 3), image=None, level=100):
        self.observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.image, self.level = image, level

    def _seen(self):
        if self.image is not None:
            return self.image.copy()
        return np.full(self.observation_space.shape, min(self.level + self.steps, 255), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        self.steps += 1
        return self._seen(), 0.0, False, False, {}


def frames(wrapper, steps=50, seed=1, **keywords):
    env = wrap(Video(**keywords), wrapper)
    seen = [env.reset(seed=seed)[0]]
    return np.array(seen + [env.step(0)[0] for _ in range(steps)])


def ramp(shape=(12, 16, 1)):
    return np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)


def test_noise_has_its_standard_deviation_in_grey_levels():
    x = frames(CameraNoise(noise=5.0), 100, image=np.full((20, 30, 3), 120, np.uint8)).astype(float) - 120
    assert x.std() == pytest.approx(np.hypot(5.0, np.sqrt(1 / 12)), rel=0.02)  # and rounding
    assert abs(x.mean()) < 0.05
    assert abs((x[1:] * x[:-1]).mean()) < 0.02 * 25
    black = frames(CameraNoise(noise=20.0), 5, image=np.zeros((20, 30, 3), np.uint8))
    assert (black == 0).mean() == pytest.approx(0.5, abs=0.02)  # saturates and does not wrap around


def test_brightness_and_contrast_last_for_an_episode():
    video = Video(image=np.full((4, 4, 1), 100, np.uint8), shape=(4, 4, 1))
    env = wrap(video, CameraNoise(brightness=0.3))
    levels = []
    for seed in range(300):
        first = env.reset(seed=seed)[0]
        assert (env.step(0)[0] == first).all()
        levels.append(first[0, 0, 0])
    assert min(levels) >= 70
    assert max(levels) <= 130
    assert np.std(levels) == pytest.approx(60 / np.sqrt(12), rel=0.1)
    grey = wrap(Video(image=ramp((16, 16, 1)), shape=(16, 16, 1)), CameraNoise(contrast=0.5))
    slopes = []
    for seed in range(300):
        seen = grey.reset(seed=seed)[0].astype(float).ravel()
        slopes.append((seen[160] - seen[96]) / 64)
        assert seen[127:129].mean() == pytest.approx(127.5, abs=1.0)
    assert 0.49 < min(slopes) < 0.6
    assert 1.4 < max(slopes) < 1.51


def test_shift_moves_the_image_and_repeats_edges():
    image = ramp()
    x = frames(CameraNoise(shift=4), 3000, image=image, shape=image.shape)
    padded = np.pad(image, ((4, 4), (4, 4), (0, 0)), mode="edge")
    crops = {padded[i : i + 12, j : j + 16].tobytes(): (i, j) for i in range(9) for j in range(9)}
    found = [crops[frame.tobytes()] for frame in x]
    counts = np.zeros((9, 9))
    for place in found:
        counts[place] += 1
    assert counts.min() > 15  # 37 are expected at each of 81 places
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 112  # chi squared, 1 %


def test_cutout_is_a_black_square_at_a_random_place():
    x = frames(CameraNoise(cutout=5), 400, level=255)
    black = (x == 0).all(axis=3)
    assert (black.sum(axis=(1, 2)) == 25).all()
    slots, columns = black.any(axis=2), black.any(axis=1)
    assert (slots.sum(axis=1) == 5).all()
    assert (columns.sum(axis=1) == 5).all()
    assert {int(slot.argmax()) for slot in slots} == set(range(16))
    assert {int(column.argmax()) for column in columns} == set(range(26))
    assert (frames(CameraNoise(cutout=20), 3, level=255) == 0).all(axis=(1, 3)).any(axis=1).all()


def test_specks_come_at_their_share():
    x = frames(CameraNoise(specks=0.03), 300, image=np.full((20, 30, 3), 120, np.uint8))
    hit = (x != 120).any(axis=3)
    assert hit.mean() == pytest.approx(0.03, rel=0.03)
    assert (x[hit] == 255).mean() == pytest.approx(0.5, abs=0.03)
    assert hit.mean(axis=0).max() < 0.08  # everywhere alike
    assert hit[:, 0, 0].mean() == pytest.approx(0.03, abs=0.03)


def test_a_lost_frame_repeats_the_last_one():
    x = frames(CameraNoise(drop=0.3), 2000, shape=(2, 2), level=0)[:, 0, 0].astype(int)
    x = x[:250]  # grey levels end at 255
    lost = x[1:] == x[:-1]
    assert lost.mean() == pytest.approx(0.3, abs=0.08)
    assert (x[1:][~lost] == np.arange(1, 250)[~lost]).all()
    assert x[0] == 0


def test_blur_is_the_mean_of_a_square():
    image = np.zeros((9, 9, 1), np.uint8)
    image[4, 4] = 225
    x = frames(CameraNoise(blur=1), 1, image=image, shape=(9, 9, 1))[0, :, :, 0]
    assert (x[3:6, 3:6] == 25).all()
    assert x.sum() == 225
    flat = frames(CameraNoise(blur=3), 1, image=np.full((9, 9, 1), 77, np.uint8), shape=(9, 9, 1))
    assert (flat == 77).all()


@pytest.mark.parametrize(
    ("shape", "leads"), [((20, 30), None), ((3, 20, 30), None), ((20, 30, 3), None), ((20, 30, 4), False)]
)
def test_images_of_every_shape(shape, leads):
    x = frames(CameraNoise(cutout=5, channels_first=leads), 20, shape=shape, level=255)
    black = (x == 0).reshape(21, *shape)
    plane = black if len(shape) == 2 else black.all(axis=1 if shape[0] == 3 else 3)
    assert plane.shape == (21, 20, 30)
    assert (plane.sum(axis=(1, 2)) == 25).all()


def test_nothing_changes_where_all_magnitudes_are_zero():
    bare, wrapped = (
        rlenvs.make("MoveToBeacon-v0", **BEACON),
        wrap(rlenvs.make("MoveToBeacon-v0", **BEACON), CameraNoise()),
    )
    one, two = bare.reset(seed=1)[0], wrapped.reset(seed=1)[0]
    for _ in range(5):
        assert all((one[name] == two[name]).all() for name in one)
        one, two = bare.step(0)[0], wrapped.step(0)[0]


NOISY = CameraNoise(noise=4.0, brightness=0.2, contrast=0.1, blur=1, shift=2, cutout=4, specks=0.02, drop=0.3)


def test_all_forms_agree():
    assert_forms_agree("MoveToBeacon-v0", NOISY, Sensor(noise=0.01), **BEACON)


def test_images_and_numbers_are_apart():
    env = wrap(rlenvs.make("MoveToBeacon-v0", **BEACON), CameraNoise("map", noise=9.0))
    seen, info = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    np.testing.assert_array_equal(seen["state"], info["true_obs"]["state"])
    assert (seen["map"] != info["true_obs"]["map"]).any()
    env = wrap(rlenvs.make("MoveToBeacon-v0", **BEACON), Sensor(noise=0.1))
    seen, info = env.reset(seed=1)
    np.testing.assert_array_equal(seen["map"], info["true_obs"]["map"])
    assert (seen["state"] != info["true_obs"]["state"]).any()


def test_copies_pickles_snapshots_and_specifications_go_on_the_same():
    env = wrap(rlenvs.make("MoveToBeacon-v0", **BEACON), NOISY)
    first, _ = env.reset(seed=2)
    again, _ = gymnasium.make(env.spec).reset(seed=2)
    np.testing.assert_array_equal(first["map"], again["map"])
    env.step(1)
    snapshot, copies = env.get_state(), [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    future = [env.step(1)[0]["map"] for _ in range(6)]
    for other in copies:
        np.testing.assert_array_equal([other.step(1)[0]["map"] for _ in range(6)], future)
    env.set_state(snapshot)
    np.testing.assert_array_equal([env.step(1)[0]["map"] for _ in range(6)], future)


def test_cameras_conform():
    assert_conforms("MoveToBeacon-v0", *camera(), **BEACON)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"noise": -1.0}, "noise"),
        ({"drop": 1.5}, "drop"),
        ({"shift": 40}, "shift"),
        ({"shift": 1.5}, "shift"),
        ({"cutout": 24}, "cutout"),
        ({"blur": -1}, "blur"),
        ({"names": "maps"}, "names.*Did you mean 'map'"),
        ({"names": ["map", "map"]}, "names.*once"),
    ],
)
def test_impossible_settings_are_refused_by_name(bad, message):
    with pytest.raises(ParameterError, match=f"CameraNoise: {message}"):
        wrap(rlenvs.make("MoveToBeacon-v0", **BEACON), CameraNoise(**bad))


def test_an_environment_without_images_is_refused():
    with pytest.raises(ParameterError, match="no images"):
        wrap(rlenvs.make("QuadHover-v0"), CameraNoise(noise=1.0))
