"""Whether two networks compute the same, and which call of one is which of the other.

Colors are refined along both directions of the graph until they stay (Weisfeiler and Leman, 1968).
Calls that still look alike are distinguished one by one; the result is checked edge by edge: what
is found is an isomorphism, whatever the colors say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from workbench.worker.foreign.architecture import Call

_MOST_TIES = 200
"""Calls distinguished one by one: each takes a walk over both networks."""


def match_calls(ours: Sequence[Call], theirs: Sequence[Call]) -> list[int] | None:
    """For each call of ours the place of the one of theirs that computes the same; None where the
    networks differ. Of calls that can be exchanged, those with the same name are taken.
    """
    if len(ours) != len(theirs):
        return None
    marks: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number in range(_MOST_TIES):
        colors = _Colors()
        own, other = colors.of(ours, marks[0]), colors.of(theirs, marks[1])
        if Counter(own) != Counter(other):
            return None
        tie = _first_tie(own)
        if tie is None:
            places = {color: place for place, color in enumerate(other)}
            found = [places[color] for color in own]
            return found if _is_same(ours, theirs, found) else None
        alike = [place for place, color in enumerate(other) if color == own[tie]]
        name = ours[tie].names[-1]
        chosen = next((place for place in alike if theirs[place].names[-1] == name), alike[0])
        marks[0][tie] = marks[1][chosen] = number
    return None


def looks_alike(calls: Sequence[Call]) -> list[int]:
    """A number for each call, the same for those that nothing in the network distinguishes."""
    return _Colors().of(calls, {})


def _first_tie(colors: Sequence[int]) -> int | None:
    counts = Counter(colors)
    return next((place for place, color in enumerate(colors) if counts[color] > 1), None)


class _Colors:
    """Numbers for what calls look like, the same numbers for several networks."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, calls: Sequence[Call], marks: Mapping[int, int]) -> list[int]:
        """The color of each call by all that leads to it, and all that it leads to."""
        above: list[int] = []
        for place, call in enumerate(calls):
            inputs = [above[each] if each >= 0 else -1 for each in call.inputs]
            if call.is_commutative:
                inputs.sort()
            above.append(self._number(call.label, marks.get(place, -1), tuple(inputs)))
        uses: list[list[tuple[int, int]]] = [[] for _ in calls]
        colors = [0] * len(calls)
        for place in reversed(range(len(calls))):
            call = calls[place]
            colors[place] = self._number("below", above[place], tuple(sorted(uses[place])))
            for port, source in enumerate(call.inputs):
                if source >= 0:
                    uses[source].append((colors[place], -1 if call.is_commutative else port))
        return colors

    def _number(self, *what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _is_same(ours: Sequence[Call], theirs: Sequence[Call], found: Sequence[int]) -> bool:
    """Whether each call has the inputs of the one that it is matched to."""
    for call, place in zip(ours, found, strict=True):
        own = [found[each] if each >= 0 else -1 for each in call.inputs]
        other = list(theirs[place].inputs)
        if call.is_commutative:
            own.sort()
            other.sort()
        if own != other or call.label != theirs[place].label:
            return False
    return len({*found}) == len(found)
