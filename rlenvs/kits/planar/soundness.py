"""Whether shapes and contacts in a state that comes from outside hang together."""

from typing import Any

import numpy as np


def state_fault(p: Any, s: Any) -> str:
    """What is wrong with them, for `World.state_fault`; "" where nothing is."""
    shapes, contacts = int(s.shape_count), s.contact_order.size
    if (s.shape_first + s.shape_size > int(s.vertex_count))[:shapes].any():
        return "a shape has vertices that there are not"
    if int(s.static_count) + int(s.moving_count) > shapes:
        return f"it has {shapes} shapes, {int(s.static_count)} static and {int(s.moving_count)} moving ones"
    if not np.array_equal(np.sort(s.contact_order), np.arange(contacts)):
        return "its order of contacts holds one twice"
    seen = np.zeros(contacts, bool)
    for first in s.contact_head[s.moving_shapes[: int(s.moving_count)]]:
        contact = int(first)
        while contact >= 0:
            if seen[contact]:
                return "its list of a shape's contacts leads in a circle"
            seen[contact] = True
            contact = int(s.contact_next[contact])
    return ""
