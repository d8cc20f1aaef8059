"""Figures as values: rectangles, lines, texts and pixels in a plane, y downwards.

A color is a token of `resources/styles/colors.json`, such as "accent", so that a page can be light
or dark, or "#rrggbb" where it is the same in both.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

import msgspec

Anchor = Literal["start", "middle", "end"]

_NARROW = frozenset("iljtfrI.,:;'|!()[] -")
_WIDE = frozenset("mwMW@%&—…")


class Rect(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="rect"):
    """A rectangle; `title` is shown where a mouse is over it. No fill or stroke where ""."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    radius: float = 0.0
    opacity: float = 1.0
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="line"):
    """Straight pieces through points; with `is_smooth` S-curves from one to the next."""

    points: list[tuple[float, float]]
    stroke: str
    width: float = 1.5
    is_dashed: bool = False
    is_smooth: bool = False
    has_arrow: bool = False
    opacity: float = 1.0


class Label(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="label"):
    """A text whose base line begins, is centered or ends at (x, y), turned by `turn` degrees."""

    x: float
    y: float
    text: str
    size: float = 12.0
    color: str = "text"
    anchor: Anchor = "start"
    is_bold: bool = False
    turn: float = 0.0
    title: str = ""


class Pixels(msgspec.Struct, frozen=True, kw_only=True, tag_field="mark", tag="pixels"):
    """An image as PNG, its pixels drawn as sharp squares."""

    x: float
    y: float
    width: float
    height: float
    png: bytes


Mark = Rect | Line | Label | Pixels


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """Marks in a plane of `width` × `height`; the later ones are on top."""

    width: float
    height: float
    marks: list[Mark]


def text_width(text: str, size: float) -> float:
    """About how wide a text is: fonts differ, so that room is kept on the safe side."""
    return size * sum(map(_letter_width, text))


def fitted(text: str, width: float, size: float) -> str:
    """The text, cut with "…" where it is wider than there is room."""
    if text_width(text, size) <= width:
        return text
    room = width - size
    for count, letter in enumerate(text):
        room -= size * _letter_width(letter)
        if room < 0:
            return f"{text[:count].rstrip()}…"
    return text


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _WIDE:
        return 0.9
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.0 if unicodedata.combining(letter) else 0.62 if not letter.isupper() else 0.7
