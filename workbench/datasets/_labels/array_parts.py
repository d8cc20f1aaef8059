"""Arrays beside images and labels that say the part of each image: words, yes and no, places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import list_text, plain_name
from workbench.core.params import TextParam
from workbench.core.specs import Inference
from workbench.datasets._labels.said_parts import UNDIVIDED, SaidParts, column_of, said_parts
from workbench.datasets._npz_file import Member
from workbench.errors import DatasetError
from workbench.pictures.listed.given import NONE

Array = np.ndarray[Any, Any]

SPLIT = TextParam(
    "split",
    "",
    "The array with train, valid or test for each image; none for no such array; empty: found by "
    "its name and its words.",
    title="Split array",
    is_advanced=True,
)
_PLACES = frozenset({"idx", "idxs", "index", "indexes", "indices", "ind", "inds", "mask", "rows"})
"""What is left of the names of arrays with places of images, or with yes and no, of one part."""


def split_members(
    members: Sequence[Member], size: int, given: str, meaning: Callable[[str], tuple[str, str]]
) -> tuple[Member, ...]:
    """Arrays that may say the part of each image, by their names and shapes.

    Args:
        members: Those that are neither images nor labels.
        size: How many images there are.
        given: The one that a person has chosen, NONE for none, "" for all that may do so.
        meaning: Part, and what is left, of a name.

    Raises:
        DatasetError: the one that was chosen is not there, or has not a value for each image.
    """
    if given == NONE:
        return ()
    one_each = [each for each in members if each.shape in {(size,), (size, 1)}]
    if given:
        found = tuple(each for each in one_each if each.name == given)
        if not found:
            raise DatasetError(
                "The file has no such array with a value for each image.",
                received=plain_name(given),
                expected=", ".join(each.name for each in one_each)[:300],
            )
        return found
    return tuple(
        each
        for each in members
        if _part_of_places(each, size, meaning)
        or (each in one_each and (each.dtype.kind in "SU" or _is_named(each.name)))
    )


def _is_named(name: str) -> bool:
    return column_of(name, ["1"]).is_named_split


def _part_of_places(member: Member, size: int, meaning: Callable[[str], tuple[str, str]]) -> str:
    """The part whose images an array lists; "" for another array."""
    part, rest = meaning(member.name)
    is_mask = member.dtype.kind == "b" and member.shape == (size,)
    is_places = member.dtype.kind in "iu" and len(member.shape) == 1
    return part if rest in _PLACES and (is_mask or is_places) else ""


def parts_of_images(
    arrays: Mapping[Member, Array],
    labels: Array,
    given: str,
    meaning: Callable[[str], tuple[str, str]],
    path: Path,
) -> SaidParts:
    """The part of each image; "" where it is in none.

    Args:
        arrays: Those of `split_members`.
        labels: The label of each image.
        given: The array that a person has chosen; "" for none.
        meaning: Part, and what is left, of a name.
        path: The file, for messages.

    Raises:
        DatasetError: an array for the parts holds other words.
    """
    size = len(labels)
    places = {each: part for each in arrays if (part := _part_of_places(each, size, meaning))}
    cells = {
        each.name: [_cell(value) for value in array.reshape(-1).tolist()]
        for each, array in arrays.items()
        if each not in places
    }
    shown = [_cell(value) for value in labels.reshape(-1).tolist()] if labels.size == size else []
    everywhere = ["train"] * size
    said = said_parts(cells, everywhere, shown, given, where=str(path), noun="array")
    if said.name or not {"train"} < {*places.values()}:
        return said
    return _by_places({part: arrays[each] for each, part in places.items()}, list(places), size)


def _by_places(arrays: Mapping[str, Array], members: Sequence[Member], size: int) -> SaidParts:
    """The parts by lists of places, which count from 0, or by yes and no."""
    names = ", ".join(each.name for each in members)
    rows = {p: np.flatnonzero(a) if a.dtype.kind == "b" else a for p, a in arrays.items()}
    joined = np.concatenate(list(rows.values())).astype(np.int64)
    is_plain = bool(joined.size) and joined.min() >= 0 and joined.max() < size
    if len(arrays) < len(members) or not is_plain or len(np.unique(joined)) < len(joined):
        doubt = "They may divide the images, but are not different places, counted from 0."
        found = Inference("split_array", "The split arrays", "none", names, doubt)
        return SaidParts("", ["train"] * size, (found,))
    parts = np.full(size, "", object)
    for part, places in rows.items():
        parts[places] = part
    counts = [f"{part} {len(places):,}" for part, places in rows.items()]
    left = size - len(joined)
    doubt = f"{left:,} images are in none, and are not used." if left else ""
    found = Inference(
        "split_array", "The split arrays", names, f"places of images: {list_text(counts)}", doubt,
        "split", (UNDIVIDED,),
    )  # fmt: skip
    return SaidParts(names, parts.tolist(), (found,))


def _cell(value: Any) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()
