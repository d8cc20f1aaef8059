"""HTML and SVG made of elements: every text that is put into one is escaped, so that nothing from
a file can become markup. `Markup` is made here alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_EMPTY = frozenset({"br", "img", "meta", "path", "image"})
"""Elements without an end tag."""


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | None) -> Markup:
    """An element with its children: `Markup` as it is, other texts escaped.

    An attribute is left out where its value is None; an underscore in its name stands for a hyphen,
    one at its end for nothing.
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Several parts after each other, escaped where they are no markup."""
    return Markup("".join(p if isinstance(p, Markup) else escape(p) for p in parts))
