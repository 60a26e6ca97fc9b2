"""Named datasets of CarRacing: pixels with distractions, after V-D4RL.

Qualities are those of V-D4RL (Lu et al., "Challenges and Opportunities in Offline Reinforcement Learning from Visual
Observations", TMLR 2023), and so are episodes of 500 steps. Its policies are learned; here they are the expert with a
share of random actions. The degrees of distraction are those of the Distracting Control Suite, 0.1, 0.2 and 0.3; it
changes colors, camera and background, and here the camera has other light and contrast in each episode, and is shifted
and partly covered in each frame.
"""

from rlenvs.core import mixed, recipe

EPISODES, STEPS = 20, 500
MEDIUM = 0.17  # share of random actions with half the expert's return
DEGREES = {"easy": 0.1, "medium": 0.2, "hard": 0.3}
SHIFT, COVER = 20.0, 100.0  # pixels of shift, and of the side of the covered square, at degree 1
FADING = (1.0, 0.6, 0.4, 0.3, MEDIUM)  # shares of random actions in the course of a training
QUALITIES = {
    "random": {"random": EPISODES},
    "medium_replay": {mixed("expert", share): EPISODES // len(FADING) for share in FADING},
    "medium": {mixed("expert", MEDIUM): EPISODES},
    "medium_expert": {mixed("expert", MEDIUM): EPISODES // 2, "expert": EPISODES // 2},
    "expert": {"expert": EPISODES},
}


def distraction(degree):
    """The wrapper for a degree of distraction."""
    return {
        "wrapper": "CameraNoise",
        "brightness": degree,
        "contrast": degree,
        "shift": round(SHIFT * degree),
        "cutout": round(COVER * degree),
    }


def offline_sets():
    """By name, without distractions and with each of three degrees."""
    wrappers = {"": [], **{f"-{name}": [distraction(degree)] for name, degree in DEGREES.items()}}
    return {
        f"pixels-{quality}{suffix}": recipe(
            episodes,
            layout="episodes",
            keywords={"horizon": STEPS},
            wrappers=chosen,
            doc=f"after V-D4RL's {quality}" + (f", with {suffix[1:]} distractions" if suffix else ""),
        )
        for suffix, chosen in wrappers.items()
        for quality, episodes in QUALITIES.items()
    }
