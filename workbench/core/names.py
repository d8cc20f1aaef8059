"""Names of nodes: shown to people, given to Keras, used as variables in exported Python."""

from __future__ import annotations

import re

MAX_NAME_LENGTH = 64
NAME_RULE = f"a letter, then letters, digits or underscores, at most {MAX_NAME_LENGTH} characters"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_name(text: str) -> bool:
    """True for a text that can name a node, see NAME_RULE."""
    return len(text) <= MAX_NAME_LENGTH and _NAME.fullmatch(text) is not None
