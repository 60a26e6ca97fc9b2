"""What agents of social dilemmas want beside their own gain: the reward of all, or little inequity."""

from rlenvs.core import choice, f8, kernel, param, term

REWARD = choice(
    "own", "collective", "inequity", doc="own gain, the sum of all agents' gains, or own gain with inequity aversion"
)
OWN, COLLECTIVE = REWARD.codes("own", "collective")

PARAMS = {
    "envy": param(5.0, 0.0, 100.0, "", 'weight of what others have more, for reward="inequity"'),
    "guilt": param(0.05, 0.0, 100.0, "", 'weight of what others have less, for reward="inequity"'),
    "smoothing": param(
        0.975, 0.0, 0.999, "", 'share of the gains of a step that counts in the next, for reward="inequity"'
    ),
}
STATE = {"gain": f8("agents"), "wealth": f8("agents")}  # of this step; smoothed
# the largest inequity: the largest envy times the largest gap of gains in a step, Harvest's 2502, over 1 - 0.999
TERMS = {"social": term(-3e8, 1e6, 1.0, "gains of the others, or minus the inequity; 0 with reward=own")}
PROBE = {name: {"reward": "inequity"} for name in PARAMS}


@kernel
def add_social(p, s, r):
    """Fill `r.social` from `s.gain`, what each agent gained in this step."""
    if p.reward == OWN:
        return
    agents, total = s.gain.size, 0.0
    for k in range(agents):
        s.wealth[k] = p.smoothing * s.wealth[k] + s.gain[k]
        total += s.gain[k]
    for k in range(agents):
        if p.reward == COLLECTIVE:
            r.social[k] = total - s.gain[k]
        else:
            r.social[k] = -inequity(p, s, k)


@kernel
def inequity(p, s, k):
    """How unequal agent k finds what all have: the mean over the others of what they have more and less, weighted."""
    more, less = 0.0, 0.0
    for j in range(s.wealth.size):
        more += max(s.wealth[j] - s.wealth[k], 0.0)
        less += max(s.wealth[k] - s.wealth[j], 0.0)
    return (p.envy * more + p.guilt * less) / max(s.wealth.size - 1, 1)
