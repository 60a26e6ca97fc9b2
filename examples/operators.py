"""Operators: teams of a language model, a policy and scripts play the same battles, and are compared pair by pair.

    python examples/operators.py [FOLDER]       the log of every step and reply goes there

Put a language model in the place of `model`: it gets the text that its unit reads, and why its last reply was no legal
action.
"""

import re
import sys
import tempfile
from pathlib import Path

import rlenvs
from rlenvs.agents.lockstep import lock_step
from rlenvs.agents.operators import Language
from rlenvs.agents.paired import Comparison


def model(text, reason):
    """Stands for a language model: shoots at the first enemy that it may shoot at, else goes east. It says so at length
    until it is told that this is no action."""
    attacks = re.findall(r"<attack\(enemy_\d+\)>", text.rpartition("# Valid actions")[2])
    order = attacks[0] if attacks else "<move(east)>"
    return order if reason else f"I choose {order}"


print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "battles"
policy = rlenvs.load_agent("Battle-v0")
line_ups = {
    "random": "random",
    "script": "expert",
    "policy": policy,
    "words": Language(model, tries=2),  # asked again, with the reason, before its reply is replaced
    "mixed": {"ally_0": Language(model), "*": policy},
}
found = lock_step("Battle-v0", line_ups, episodes=20, log=folder, text_history=1, make=policy.card.keywords)
print(found)

pair = found.pair("mixed", "words")
print(f"\nmixed - words: {pair.difference:.2f}, 95 % interval {pair.low:.2f} to {pair.high:.2f}")
for name, row in zip(found.names, found.illegal, strict=True):
    print(f"illegal replies of {name}: {row.sum()}")
assert str(Comparison.load(folder)) == str(found)  # the log has it all
with (folder / "steps.jsonl").open() as lines:
    print(f"{sum(1 for _ in lines)} decisions in {folder.name}/steps.jsonl")
