"""Links in what declarations name as their sources: to repositories, to papers, else to a search for the paper."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus

REPOSITORIES = {
    "AirHockeyChallenge/air_hockey_challenge": "AirHockeyChallenge/air_hockey_challenge",
    "Boxoban": "google-deepmind/boxoban-levels",
    "CARL": "automl/CARL",
    "CaRL": "autonomousvision/CaRL",
    "Crafter": "danijar/crafter",
    "FastRLAP": "kylestach/fastrlap-release",
    "GPUDrive": "Emerge-Lab/gpudrive",
    "Gymnasium": "Farama-Foundation/Gymnasium",
    "HIL-SERL": "rail-berkeley/hil-serl",
    "Heterogeneous_Highway_Env": "wuxiyang1996/Heterogeneous_Highway_Env",
    "InforMARL": "nsidn98/InforMARL",
    "Jumanji": "instadeepai/jumanji",
    "MO-Gymnasium": "Farama-Foundation/MO-Gymnasium",
    "MOMAland": "Farama-Foundation/momaland",
    "MarsExplorer": "dimikout3/MarsExplorer",
    "Memory Gym": "MarcoMeter/endless-memory-gym",
    "Meta-World": "Farama-Foundation/Metaworld",
    "MicroRacer": "asperti/MicroRacer",
    "MiniGrid": "Farama-Foundation/Minigrid",
    "MultiCarRacing": "igilitschenski/multi_car_racing",
    "OfflineMania": "ganjiro/OfflineMania",
    "POGEMA": "CognitiveAISystems/pogema",
    "POPGym": "proroklab/popgym",
    "PettingZoo": "Farama-Foundation/PettingZoo",
    "PufferDrive": "Emerge-Lab/PufferDrive",
    "PushWorld": "google-deepmind/pushworld",
    "Roach": "zhejz/carla-roach",
    "SERL": "rail-berkeley/serl",
    "SMAC": "oxwhirl/smac",
    "SMAX": "FLAIROx/JaxMARL",
    "Safety-Gymnasium": "PKU-Alignment/safety-gymnasium",
    "VLM-RL": "zihaosheng/VLM-RL",
    "bsuite": "google-deepmind/bsuite",
    "f1tenth/f1tenth_gym": "f1tenth/f1tenth_gym",
    "gym-pybullet-drones": "utiasDSL/gym-pybullet-drones",
    "gym-sokoban": "mpSchrader/gym-sokoban",
    "highway-env": "Farama-Foundation/HighwayEnv",
    "iPLAN": "wuxiyang1996/iPLAN",
    "l5kit": "woven-planet/l5kit",
    "mpe2": "Farama-Foundation/MPE2",
    "panda-gym": "qgallouedec/panda-gym",
    "pysc2": "google-deepmind/pysc2",
    "strakam/generals-bots": "strakam/generals-bots",
}
ARXIV = {
    "Abels et al., ICML 2019": "1809.07803",
    "Benjamins et al., TMLR 2023": "2110.02102",
    "Bonnet et al., ICLR 2024": "2306.09884",
    "Chevalier-Boisvert et al., NeurIPS 2023": "2306.13831",
    "Hafner, ICLR 2022": "2109.06780",
    "Huang et al. 2024": "2412.15544",
    "Jaeger et al. 2025": "2504.17838",
    "Ji et al., NeurIPS 2023": "2310.12567",
    "Kazemkhani et al. 2024": "2408.01584",
    "Koutras et al., Electronics 10(22) 2751, 2021": "2107.09996",
    "Liu et al., NeurIPS 2024": "2411.05718",
    "Lowe et al., NeurIPS 2017": "1706.02275",
    "Morad et al., ICLR 2023": "2303.01859",
    "Nayak et al., ICML 2023": "2211.02127",
    "Osband et al., ICLR 2020": "1908.03568",
    'Panerati et al., "Learning to Fly", IROS 2021': "2103.02142",
    "Pardo et al., ICML 2018": "1712.00378",
    "Pleines et al., JMLR 26(6), 2025": "2309.17207",
    "Racaniere et al., NeurIPS 2017": "1707.06203",
    'Rutherford et al., "JaxMARL", NeurIPS 2024': "2311.10090",
    "Samvelyan et al., 2019": "1902.04043",
    "Schwarting et al., CoRL 2020": "2102.09812",
    "Skrynnik et al., ICLR 2025": "2407.14931",
    'Song et al., "Autonomous Drone Racing with Deep Reinforcement Learning", IROS 2021': "2103.08624",
    "Terry et al., NeurIPS 2021": "2009.14471",
    "Vinyals et al., 2017": "1708.04782",
    "Yang et al., NeurIPS 2019": "1908.08342",
    "Yang, Sun and Narasimhan, NeurIPS 2019": "1908.08342",
    "Zhang et al. 2021": "2108.08265",
}
PAGES = {
    "2048 (Gabriele Cirulli, 2014)": "https://github.com/gabrielecirulli/2048",
    "Atari Pong (Alcorn, 1972)": "https://en.wikipedia.org/wiki/Pong",
    "Breakthrough (Dan Troyka, 2000)": "https://en.wikipedia.org/wiki/Breakthrough_(board_game)",
    "Ingenious (Reiner Knizia, 2004)": "https://en.wikipedia.org/wiki/Ingenious_(board_game)",
    "Lights Out (Tiger Electronics, 1995)": "https://en.wikipedia.org/wiki/Lights_Out_(game)",
    "O'Kelly et al., NeurIPS 2019 Competition Track": "https://proceedings.mlr.press/v123/o-kelly20a.html",
    'SameGame (Kuniaki Moribe, "Chain Shot!", 1985)': "https://en.wikipedia.org/wiki/SameGame",
    "Sutton and Barto, Reinforcement Learning, 2018": "http://incompleteideas.net/book/the-book-2nd.html",
    "Vamplew et al., Machine Learning 2011": "https://doi.org/10.1007/s10994-010-5232-5",
    "the 15-puzzle (Noyes Chapman, 1880)": "https://en.wikipedia.org/wiki/15_puzzle",
}
PAPERS = {name: f"https://arxiv.org/abs/{number}" for name, number in ARXIV.items()} | PAGES
LINKS = {name: f"https://github.com/{path}" for name, path in REPOSITORIES.items()} | PAPERS
OURS = "this package"
SEARCH = "https://scholar.google.com/scholar?q="
OUTSIDE = re.compile(r";(?![^()]*\))")  # semicolons that are in no brackets
YEAR = r"(?:18|19|20)\d\d"
NAMES = "|".join(re.escape(name) for name in sorted(LINKS, key=len, reverse=True))
KNOWN = re.compile(rf"(?<![\w-])(?P<name>{NAMES})(?![\w])|arXiv (?P<arxiv>\d{{4}}\.\d{{4,5}})")
IN_BRACKETS = re.compile(rf"(?<=\()[^()\[\]]+, [^,()\[\]]*[A-Z][^,()\[\]]*{YEAR}(?=\))")  # authors, venue and year


def references(source: str) -> list[str]:
    """The parts of a source, in the order in which it has them."""
    return [part.strip() for part in OUTSIDE.split(source) if part.strip()]


def linked(source: str) -> str:
    """A declaration's source as Markdown in which repositories and papers are links."""
    return "; ".join(map(_linked, references(source)))


def _linked(part: str) -> str:
    """One reference: what is known by name is a link; a paper that is not known leads to a search for it."""
    known = list(KNOWN.finditer(part))
    found = KNOWN.sub(lambda match: _known(match, part), part)
    if part.startswith(OURS) or any(match["arxiv"] or match["name"] in PAPERS for match in known):
        return found
    if not known:
        return _link(part, SEARCH + quote_plus(part)) if re.search(YEAR, part) else part
    return IN_BRACKETS.sub(lambda match: _link(match[0], SEARCH + quote_plus(match[0])), found)


def _known(match: re.Match[str], part: str) -> str:
    """A link whose text has a year, where the reference itself has none."""
    if match["name"]:
        return _link(match[0], LINKS[match["name"]])
    number = match["arxiv"]
    year = "" if re.search(rf"\b{YEAR}\b(?!\.)", part) else f", 20{number[:2]}"
    return _link(f"{match[0]}{year}", f"https://arxiv.org/abs/{number}")


def _link(text: str, address: str) -> str:
    return f"[{text}]({quote(address, safe=':/?&=+%')})"
