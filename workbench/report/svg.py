"""Drawings as SVG: with classes for a page that is light or dark, or with one set of colors."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from itertools import pairwise

from workbench.report.drawing import Drawing, Label, Line, Mark, Pixels, Rect
from workbench.report.markup import Markup, element, joined

FONTS = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
_ARROW = 4.0


def svg(drawing: Drawing, alt: str, colors: Mapping[str, str] | None = None) -> Markup:
    """A drawing as an SVG element.

    Args:
        drawing: What is drawn.
        alt: What it shows, in words.
        colors: Color of each token; None for the page's own, by class.
    """
    marks = joined(_mark(mark, colors) for mark in drawing.marks)
    size = {"width": _number(drawing.width), "height": _number(drawing.height)}
    return element(
        "svg",
        marks,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_number(drawing.width)} {_number(drawing.height)}",
        **size,
        role="img",
        aria_label=alt,
        font_family=FONTS,
    )


def _mark(mark: Mark, colors: Mapping[str, str] | None) -> Markup:
    if isinstance(mark, Rect):
        return _rect(mark, colors)
    if isinstance(mark, Line):
        return _line(mark, colors)
    if isinstance(mark, Label):
        return _label(mark, colors)
    return _pixels(mark)


def _paint(colors: Mapping[str, str] | None, fill: str, stroke: str) -> dict[str, str]:
    """The attributes of a fill and a stroke; "none" where there is none."""
    painted: dict[str, str] = {}
    classes = []
    for name, color in (("fill", fill), ("stroke", stroke)):
        if not color or color.startswith("#"):
            painted[name] = color or "none"
        elif colors is not None:
            painted[name] = colors[color]
        else:
            classes.append(f"{name}-{color}")
    return {**painted, "class_": " ".join(classes)} if classes else painted


def _rect(mark: Rect, colors: Mapping[str, str] | None) -> Markup:
    return element(
        "rect",
        _title(mark.title),
        x=_number(mark.x),
        y=_number(mark.y),
        width=_number(mark.width),
        height=_number(mark.height),
        rx=_number(mark.radius) if mark.radius else None,
        opacity=_number(mark.opacity, 3) if mark.opacity != 1 else None,
        **_paint(colors, mark.fill, mark.stroke),
    )


def _line(mark: Line, colors: Mapping[str, str] | None) -> Markup:
    line = element(
        "path",
        d=_smooth(mark.points) if mark.is_smooth else _straight(mark.points),
        stroke_width=_number(mark.width),
        stroke_linejoin="round",
        stroke_dasharray="5 4" if mark.is_dashed else None,
        opacity=_number(mark.opacity, 3) if mark.opacity != 1 else None,
        **_paint(colors, "", mark.stroke),
    )
    if not mark.has_arrow:
        return line
    x, y = mark.points[-1]
    tip = [(x - _ARROW, y - 1.6 * _ARROW), (x, y), (x + _ARROW, y - 1.6 * _ARROW)]
    return joined((line, element("path", d=_straight(tip), **_paint(colors, mark.stroke, ""))))


def _label(mark: Label, colors: Mapping[str, str] | None) -> Markup:
    place = {"x": _number(mark.x), "y": _number(mark.y)}
    turn = f"rotate({_number(mark.turn)} {place['x']} {place['y']})" if mark.turn else None
    return element(
        "text",
        _title(mark.title),
        mark.text,
        **place,
        font_size=_number(mark.size),
        font_weight="600" if mark.is_bold else None,
        text_anchor=mark.anchor if mark.anchor != "start" else None,
        transform=turn,
        **_paint(colors, mark.color, ""),
    )


def _pixels(mark: Pixels) -> Markup:
    data = base64.b64encode(mark.png).decode("ascii")
    return element(
        "image",
        x=_number(mark.x),
        y=_number(mark.y),
        width=_number(mark.width),
        height=_number(mark.height),
        href=f"data:image/png;base64,{data}",
        preserveAspectRatio="none",
        image_rendering="pixelated",
    )


def _title(text: str) -> Markup:
    return element("title", text) if text else Markup("")


def _straight(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _smooth(points: list[tuple[float, float]]) -> str:
    """S-curves that leave and arrive upright."""
    pieces = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        if x == to_x or y == to_y:
            pieces.append(f"L{_number(to_x)} {_number(to_y)}")
            continue
        middle = _number((y + to_y) / 2)
        ends = f"{_number(to_x)} {middle} {_number(to_x)} {_number(to_y)}"
        pieces.append(f"C{_number(x)} {middle} {ends}")
    return "".join(pieces)


def _number(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"
