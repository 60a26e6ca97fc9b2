"""The tasks of Meta-World's benchmarks, by their names in package metaworld 3.1.1, in the order of their codes."""

MT10 = (
    *("reach", "push", "pick-place", "door-open", "drawer-open", "drawer-close", "button-press-topdown"),
    *("peg-insert-side", "window-open", "window-close"),
)
MT25 = (
    *MT10,
    *("coffee-pull", "pick-out-of-hole", "disassemble", "pick-place-wall", "basketball", "stick-pull"),
    *("button-press-wall", "faucet-open", "door-lock", "lever-pull", "sweep-into", "faucet-close", "coffee-button"),
    *("button-press-topdown-wall", "dial-turn"),
)
MT50 = (
    *("assembly", "basketball", "bin-picking", "box-close", "button-press-topdown", "button-press-topdown-wall"),
    *("button-press", "button-press-wall", "coffee-button", "coffee-pull", "coffee-push", "dial-turn", "disassemble"),
    *("door-close", "door-lock", "door-open", "door-unlock", "hand-insert", "drawer-close", "drawer-open"),
    *("faucet-open", "faucet-close", "hammer", "handle-press-side", "handle-press", "handle-pull-side"),
    *("handle-pull", "lever-pull", "pick-place-wall", "pick-out-of-hole", "pick-place", "plate-slide"),
    *("plate-slide-side", "plate-slide-back", "plate-slide-back-side", "peg-insert-side", "peg-unplug-side"),
    *("soccer", "stick-push", "stick-pull", "push", "push-wall", "push-back", "reach", "reach-wall", "shelf-place"),
    *("sweep-into", "sweep", "window-open", "window-close"),
)
ML10 = (
    *("reach", "push", "pick-place", "door-open", "drawer-close", "button-press-topdown", "peg-insert-side"),
    *("window-open", "sweep", "basketball"),
)
HELD_OUT_45 = ("bin-picking", "box-close", "hand-insert", "door-lock", "door-unlock")
# MT50 without these, but for some places in the order
ML45 = (
    *("assembly", "basketball", "button-press-topdown", "button-press-topdown-wall", "button-press"),
    *("button-press-wall", "coffee-button", "coffee-pull", "coffee-push", "dial-turn", "disassemble", "door-close"),
    *("door-open", "drawer-close", "drawer-open", "faucet-open", "faucet-close", "hammer", "handle-press-side"),
    *("handle-press", "handle-pull-side", "handle-pull", "lever-pull", "pick-place-wall", "pick-out-of-hole"),
    *("push-back", "pick-place", "plate-slide", "plate-slide-side", "plate-slide-back", "plate-slide-back-side"),
    *("peg-insert-side", "peg-unplug-side", "soccer", "stick-push", "stick-pull", "push-wall", "push", "reach-wall"),
    *("reach", "shelf-place", "sweep-into", "sweep", "window-open", "window-close"),
)
# by name of the benchmark: the tasks to learn, and those that are held out; with such, goals are hidden
META_WORLD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "MT10": (MT10, ()),
    "MT25": (MT25, ()),
    "MT50": (MT50, ()),
    "ML10": (ML10, ("drawer-open", "door-close", "shelf-place", "sweep-into", "lever-pull")),
    # basketball, which the original also holds out, is among the tasks to learn
    "ML25": (MT25, ("door-close", "shelf-place", "sweep", "button-press")),
    "ML45": (ML45, HELD_OUT_45),
}
SINGLE = {  # benchmarks of a task that is chosen
    "MT1": "Meta-World's MT1: success of a policy in a task, at any step and at the end.",
    "ML1": "Meta-World's ML1: success of a policy in a task, goals hidden, other ones held out.",
}
# what the original also holds out although it is to be learnt, for `compat="metaworld"`
ALSO_HELD_OUT = {"ML25": ("basketball",)}
COMPAT = ("none", "metaworld")


def summary_of(name: str) -> str:
    """A sentence on a benchmark."""
    tasks, held_out = META_WORLD[name]
    rest = f" and {len(held_out)} held out ones, goals hidden" if held_out else ""
    return f"Meta-World's {name}: success of a policy in {len(tasks)} tasks{rest}, at any step and at the end."
