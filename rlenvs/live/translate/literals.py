"""Plain values as JavaScript writes them."""

from __future__ import annotations

import json
from typing import Any


def literal(value: Any) -> str:
    """A number, a text, a truth value or None."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 2**53 else f"{value}n"
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    return json.dumps(value, ensure_ascii=False)
