"""The places of buffers in one piece of memory: those that are not needed at once share bytes."""

from __future__ import annotations

from workbench.exports._c.program import Buffer, Step

Span = tuple[int, int]
"""The first and the last step that a buffer is of."""


def plan(steps: list[Step]) -> tuple[dict[Buffer, int], int]:
    """(offset of each buffer without a name, size of all), in bytes.

    The largest buffer is placed first, as low as it fits beside those that live at the same time.
    """
    lives = _lives(steps)
    owners = _owners(steps, lives)
    spans: dict[Buffer, Span] = {}
    for buffer, owner in owners.items():
        (first, last), (begin, end) = lives[buffer], spans.get(owner, lives[buffer])
        spans[owner] = (min(first, begin), max(last, end))
    places: dict[Buffer, int] = {}
    for owner in sorted(spans, key=lambda each: (-each.size, spans[each])):
        places[owner] = _place(owner, places, spans)
    size = max((place + owner.size for owner, place in places.items()), default=0)
    return {buffer: places[owner] for buffer, owner in owners.items()}, size


def _lives(steps: list[Step]) -> dict[Buffer, Span]:
    lives: dict[Buffer, Span] = {}
    for number, step in enumerate(steps):
        for buffer in step.buffers:
            if not buffer.name:
                lives[buffer] = (lives.get(buffer, (number,))[0], number)
    return lives


def _owners(steps: list[Step], lives: dict[Buffer, Span]) -> dict[Buffer, Buffer]:
    """Whose place each buffer has: its own, or that of one that its step is the last to read, and
    reads no more where it has written.
    """
    owners = {buffer: buffer for buffer in lives}
    for number, step in enumerate(steps):
        source, target = step.shares, step.output
        if source not in owners or target not in owners or target.size > source.size:
            continue
        tenants = [each for each, owner in owners.items() if owner is owners[source]]
        if lives[target][0] == number and all(
            lives[each][1] <= number for each in tenants if each is not target
        ):
            owners[target] = owners[source]
    return owners


def _place(owner: Buffer, places: dict[Buffer, int], spans: dict[Buffer, Span]) -> int:
    begin, end = spans[owner]
    place = 0
    for low, high in sorted(
        (low, low + other.size)
        for other, low in places.items()
        if spans[other][0] <= end and begin <= spans[other][1]
    ):
        if place + owner.size <= low:
            break
        place = max(place, high)
    return place
