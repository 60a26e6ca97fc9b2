"""Films for slides: an episode of random actions, of the scripted expert and of the reference agent in each world of
the exercises.

    python examples/classroom/films.py [OUTPUT] [ID ...]     (default: classroom-films, the worlds of docs/classroom.md)

OUTPUT/ID.html is a player that a browser shows without a network, state by state. OUTPUT/ID-random.gif, -expert.gif and
-agent.gif are for programs that show images alone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import rlenvs
from rlenvs.agents.video import pace, save, video

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs" / "classroom.md"
SECONDS = 6.0


def worlds() -> list[str]:
    """The worlds that the ladder of the guide names."""
    table = GUIDE.read_text(encoding="utf-8").partition("<!-- ladder -->")[2].partition("<!-- /ladder -->")[0]
    named = re.findall(r"\b[A-Z]\w+", " ".join(line.split("|")[3] for line in table.splitlines() if "|" in line))
    known = {id.partition("/")[2] for id in rlenvs.list_envs()}
    return sorted({f"{name}-v0" for name in named} & known)


def films(name: str, output: Path) -> None:
    """The films of one world."""
    showing = rlenvs.show_episode(name)
    showing.save(output / f"{name}.html")
    for episode in showing.film.episodes:
        policy = rlenvs.load_agent(name) if episode.policy == "agent" else episode.policy
        path = output / f"{name}-{episode.policy}.gif"
        every, rate = pace(path, showing.film.fps)
        save(path, video(name, policy, seconds=SECONDS, every=every), rate)


def main(output: Path, names: list[str]) -> None:
    """All films."""
    for name in names or worlds():
        films(name, output)
        print(f"films of {name} in {output}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "classroom-films"), sys.argv[2:])
