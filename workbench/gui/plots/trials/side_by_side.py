"""Dots that would cover each other, laid side by side."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import product

Dot = tuple[float, float]


def side_by_side(dots: Sequence[Dot], apart: float, most: int) -> list[Dot]:
    """The dots, some of them moved to the left or right until none is nearer than `apart` to
    another one; heights stay. A dot is moved by at most so many steps of `apart`: where there is no
    free place it stays, and covers others.
    """
    steps = [0, *(side * step for step in range(1, most + 1) for side in (1, -1))]
    cells: defaultdict[Dot, list[Dot]] = defaultdict(list)
    found = []
    for x, y in dots:
        tried = ((x + step * apart, y) for step in steps)
        free = next((dot for dot in tried if _is_free(dot, cells, apart)), None)
        if free is not None:
            cells[_cell(free, apart)].append(free)
        found.append(free or (x, y))
    return found


def _is_free(dot: Dot, cells: defaultdict[Dot, list[Dot]], apart: float) -> bool:
    column, line = _cell(dot, apart)
    around = product((column - 1, column, column + 1), (line - 1, line, line + 1))
    near = (other for cell in around if cell in cells for other in cells[cell])
    return all(math.dist(dot, other) >= apart for other in near)


def _cell(dot: Dot, apart: float) -> Dot:
    """A square of the side `apart`: what is nearer than that is in it, or in one around it."""
    return (dot[0] // apart, dot[1] // apart)
