"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from itertools import pairwise
from string import Template

from workbench.assets import resource_path
from workbench.report.blocks import (
    DARK,
    LIGHT,
    Block,
    Document,
    Drawing,
    Facts,
    Figure,
    Gallery,
    Label,
    Line,
    Mark,
    Picture,
    Pixels,
    Rect,
    Section,
    Table,
    Text,
)

# markup --------------------------------------------------------------------------------------
# HTML and SVG made of elements: every text that is put into one is escaped, so that nothing from
# a file can become markup. `Markup` is made here alone.

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


# svg -----------------------------------------------------------------------------------------
# Drawings as SVG: with classes for a page that is light or dark, or with one set of colors.

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


# page ----------------------------------------------------------------------------------------

_LONG_TABLE = 40
"""Rows from which a table is folded away."""


def page(document: Document) -> bytes:
    """The whole file, UTF-8."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    template = Template(resource_path("report/page.html").read_text(encoding="utf-8"))
    text = template.substitute(
        style=style,
        digest=digest,
        title=joined([document.title]),
        subtitle=joined([document.subtitle]),
        contents=_contents(document.sections),
        sections=joined(_section(number, each) for number, each in enumerate(document.sections)),
        project=_project(document),
        footer=joined([document.footer]),
    )
    return text.encode("utf-8", "replace")


def _style() -> str:
    """The style sheet, with the colors of the two themes and a class for each color of a figure."""
    light, dark = (_variables(colors) for colors in (LIGHT, DARK))
    figure = "".join(
        f".fill-{name}{{fill:var(--{name})}}.stroke-{name}{{stroke:var(--{name})}}"
        for name in LIGHT
    )
    template = Template(resource_path("report/style.css").read_text(encoding="utf-8"))
    return template.substitute(light=light, dark=dark, figure=figure)


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}:{color};" for name, color in colors.items())


def _contents(sections: list[Section]) -> Markup:
    links = (
        element("li", element("a", each.title, href=f"#part-{number}"))
        for number, each in enumerate(sections)
        if number
    )
    return element("ul", joined(links))


def _section(number: int, section: Section) -> Markup:
    heading = element("h2", section.title, id=f"part-{number}")
    blocks = joined(map(_block, section.blocks))
    return element("section", heading, blocks, aria_labelledby=f"part-{number}")


def _block(block: Block) -> Markup:
    if isinstance(block, Text):
        return _text(block)
    if isinstance(block, Facts):
        return _facts(block)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block)
    return _gallery(block)


def _text(block: Text) -> Markup:
    if block.role == "code":
        return element("pre", element("code", block.text))
    lines = block.text.split("\n")
    parts: list[str] = [lines[0]]
    for line in lines[1:]:
        parts += [element("br"), line]
    return element("p", *parts, class_=block.role or None, dir="auto")


def _facts(block: Facts) -> Markup:
    rows = (
        element("div", element("dt", name), element("dd", value, dir="auto"))
        for name, value in block.rows
    )
    return element("dl", joined(rows), class_="large" if block.is_large else None)


def _table(block: Table) -> Markup:
    head = joined(
        element("th", title, scope="col", class_=_alignment(block, place))
        for place, title in enumerate(block.columns)
    )
    rows = joined(_row(block, row) for row in block.rows)
    table = element(
        "table",
        element("caption", block.title),
        element("thead", element("tr", head)),
        element("tbody", rows),
    )
    scrolled = element(
        "div", table, class_="scrolled", tabindex="0", role="region", aria_label=block.title
    )
    if len(block.rows) <= _LONG_TABLE:
        return scrolled
    summary = element("summary", f"{block.title}: {len(block.rows):,} rows")
    return element("details", summary, scrolled)


def _row(block: Table, row: list[str]) -> Markup:
    first = element("th", row[0], scope="row", dir="auto")
    others = (
        element("td", cell, class_=_alignment(block, place), dir="auto")
        for place, cell in enumerate(row[1:], 1)
    )
    return element("tr", first, *others)


def _alignment(block: Table, place: int) -> str | None:
    return "number" if place >= block.num_text else None


def _figure(block: Figure) -> Markup:
    drawing = element("div", svg(block.drawing, block.alt), class_="drawing")
    return element("figure", drawing, element("figcaption", block.caption))


def _gallery(block: Gallery) -> Markup:
    pictures = joined(map(_picture, block.pictures))
    is_wide = any(picture.heat_jpeg is not None for picture in block.pictures)
    kind = "pictures wide" if is_wide else "pictures"
    return element("div", element("h3", block.title), element("div", pictures, class_=kind))


def _picture(picture: Picture) -> Markup:
    images = [_image(picture.jpeg, picture.alt)]
    if picture.heat_jpeg is not None:
        images.append(_image(picture.heat_jpeg, f"Heat map: {picture.alt}"))
    strong, *others = picture.lines
    words = [element("strong", strong, dir="auto")]
    words += [element("span", line, dir="auto") for line in others]
    return element(
        "figure",
        element("div", *images, class_="pair"),
        element("figcaption", *words),
        class_=f"picture {picture.tone}".strip(),
    )


def _image(jpeg: bytes, alt: str) -> Markup:
    return element("img", src=_data("image/jpeg", jpeg), alt=alt)


def _project(document: Document) -> Markup:
    """The link that saves the project file."""
    if not document.project:
        return Markup("")
    link = element(
        "a",
        f"Save {document.project_name}",
        href=_data("application/json", document.project.encode("utf-8", "replace")),
        download=document.project_name,
    )
    return element("p", link, class_="save")


def _data(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
