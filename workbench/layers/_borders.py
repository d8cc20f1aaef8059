"""Rows and columns at the four sides of an image. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.core.params import Params, SizeParam

SIDES = ("top", "bottom", "left", "right")


def sides_param(key: str, title: str, default: int, help_text: str) -> SizeParam:
    """How many rows or columns at each side."""
    return SizeParam(
        key,
        (default,) * 4,
        help_text,
        title=title,
        axes=SIDES,
        minimum=0,
        maximum=16_384,
        unit="px",
    )


def sides_arguments(key: str) -> Callable[[Params], dict[str, Any]]:
    """`keras_arguments`: Keras takes ((top, bottom), (left, right))."""

    def keras_arguments(params: Params) -> dict[str, Any]:
        top, bottom, left, right = params[key]
        return {key: ((top, bottom), (left, right))}

    return keras_arguments


def describe_sides(key: str) -> Callable[[Params], str]:
    """`describe`: one number where all sides are equal, else all four."""

    def describe(params: Params) -> str:
        sides = params[key]
        if len(set(sides)) == 1:
            return f"{sides[0]} px on each side"
        return ", ".join(f"{name} {n}" for name, n in zip(SIDES, sides, strict=True) if n)

    return describe
