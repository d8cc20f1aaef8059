"""Roles of the arrays of a NumPy file: images, labels and class names, and of which part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import list_text, plain_name
from workbench.core.params import ChoiceParam, Params, TextParam
from workbench.core.specs import Inference, Option
from workbench.datasets._labels.texts import UNDIVIDED, SaidParts, column_of, said_parts
from workbench.datasets._npz_file import Member
from workbench.errors import DatasetError
from workbench.pictures.listed.column import part_of_word
from workbench.pictures.listed.given import NONE

# array parts ---------------------------------------------------------------------------------
# Arrays beside images and labels that say the part of each image: words, yes and no, places.

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


# npz arrays ----------------------------------------------------------------------------------

PARTS = ("train", "test", "validation")

_IMAGES = ("x", "images", "image", "img", "imgs", "pictures", "photos", "data", "samples", "inputs",
           "features", "pixels", "faces", "frames", "arrays", "")  # fmt: skip
_LABELS = ("y", "labels", "label", "targets", "target", "classes", "class", "truth", "gt", "lbl",
           "lbls", "labs", "ids", "categories", "category", "species", "output", "outputs",
           "finelabels", "finelabel", "cleanlabels", "cleanlabel", "truelabels", "truelabel",
           "noisylabels", "noisylabel", "coarselabels", "coarselabel")  # fmt: skip
_NAMES = ("classnames", "labelnames", "targetnames", "classes", "names", "categories",
          "labelstrings", "classlabels", "categorynames", "class", "labels")  # fmt: skip
"""Names under which images, labels and class names are looked for, the best first."""

_NUMBERED = re.compile(r"arr_(\d+)")
EXPECTED = "x_train, y_train, x_test, y_test, or x, y"
_MAX_LISTED = 12

IMAGES = TextParam(
    "images",
    "",
    "The array with the training images, or those of training, test and validation with commas "
    "between them; empty: found by their names.",
    title="Arrays of images",
    is_advanced=True,
)
LABELS = TextParam(
    "labels",
    "",
    "The arrays with the labels, in the order of those of images; empty: found by their names.",
    title="Arrays of labels",
    is_advanced=True,
)
AXES = ChoiceParam(
    "channels",
    "auto",
    "Which axis holds the colors: auto finds it by the shape.",
    title="Color axis",
    choices=("auto", "last", "first"),
    titles={"auto": "automatic"},
    is_advanced=True,
)


@dataclass(frozen=True)
class Arrays:
    """The arrays that are used.

    Attributes:
        parts: Images and labels of each part: training first.
        names: The class names of the file; None without.
        inferences: How they were found.
        splits: Those that may say the part of each image.
        others: All that are neither images nor labels nor names.
    """

    parts: Mapping[str, tuple[Member, Member]]
    names: Member | None = None
    inferences: tuple[Inference, ...] = ()
    splits: tuple[Member, ...] = ()
    others: tuple[Member, ...] = ()

    @property
    def members(self) -> list[Member]:
        """Images and labels of each part, one after the other."""
        return [member for pair in self.parts.values() for member in pair]

    def unused(self, split: str) -> list[str]:
        """A note of the arrays that are not used; those named in `split` are used, too."""
        unused = [each for each in self.others if each.name not in split.split(", ")]
        if not unused:
            return []
        words = [member.words() for member in unused[:_MAX_LISTED]]
        more = len(unused) - len(words)
        words += [f"{more} more"] if more else []
        return [f"Arrays not used: {'; '.join(words)}."]


def choose_arrays(members: Mapping[str, Member], params: Params, path: Path) -> Arrays:
    """Decides which arrays are used: those that are set, or those with usual names and shapes.

    Raises:
        DatasetError: there are no images with labels.
    """
    chooser = _Chooser(members, params, path)
    parts = chooser.parts()
    names = chooser.names(parts)
    used = {member.name for pair in parts.values() for member in pair}
    used |= {names.name} if names else set()
    others = tuple(member for name, member in members.items() if name not in used)
    size = max(shape_of_images(*parts["train"])[:1], default=0)
    given = str(params.get("split", ""))
    splits = split_members(others, size, given, meaning) if len(parts) == 1 else ()
    return Arrays(parts, names, tuple(chooser.found), splits, others)


@dataclass
class _Chooser:
    members: Mapping[str, Member]
    params: Params
    path: Path
    found: list[Inference] = field(default_factory=list)

    def parts(self) -> dict[str, tuple[Member, Member]]:
        """Images and labels of each part."""
        images, labels = (str(self.params.get(key, "")) for key in ("images", "labels"))
        if images and labels:
            parts = self._given(images, labels)
        elif images or labels:
            parts = self._one_given(images, labels)
        else:
            parts = self._by_names() or self._by_shapes()
        if "train" not in parts:
            raise self._refused()
        return parts

    def _given(self, images: str, labels: str) -> dict[str, tuple[Member, Member]]:
        pairs = [[each.strip() for each in text.split(",")] for text in (images, labels)]
        if len(pairs[0]) != len(pairs[1]) or len(pairs[0]) > len(PARTS):
            raise DatasetError(
                "The arrays of images and labels do not pair.",
                where=str(self.path),
                received=f"{images} and {labels}",
                expected="as many arrays of labels as of images, at most three",
            )
        parts = {
            part: (self._member(image), self._member(label))
            for part, image, label in zip(PARTS, *pairs, strict=False)
        }
        self.found.append(_inference(parts, "", is_told=True))
        return parts

    def _one_given(self, images: str, labels: str) -> dict[str, tuple[Member, Member]]:
        """Images or labels of the training part alone are set: the others are found."""
        parts = self._by_names() or self._by_shapes()
        if not parts:
            raise self._refused()
        train = parts["train"]
        image = self._member(images) if images else train[0]
        label = self._member(labels) if labels else train[1]
        parts = {"train": (image, label)} if (image, label) != train else parts
        self.found[:] = [_inference(parts, "", is_told=True)]
        return parts

    def _member(self, name: str) -> Member:
        if name not in self.members:
            raise DatasetError(
                "The file has no such array.",
                where=str(self.path),
                received=plain_name(name),
                expected="one of " + ", ".join(self.members)[:300],
            )
        return self.members[name]

    def _by_names(self) -> dict[str, tuple[Member, Member]]:
        """Arrays whose names say what they are."""
        parts, doubts, others = {}, [], []
        for part in (*PARTS, ""):
            images = self._of_role(part, _IMAGES, is_image=True)
            labels = self._of_role(part, _LABELS, is_image=False)
            if not images or not labels or (part == "" and "train" in parts):
                continue
            fitting = [each for each in labels if each.shape[:1] == images[0].shape[:1]]
            label = (fitting or labels)[0]
            parts[part or "train"] = (images[0], label)
            rivals = [
                each for each in fitting if each is not label and not _is_one_hot_of(each, label)
            ]
            if rivals and part in {"", "train"}:
                names = list_text([each.name for each in rivals])
                doubts.append(f"{names} may be the labels.")
                others += [Option(each.name, each.name) for each in rivals]
        if "train" not in parts:
            return {}
        parts = {part: parts[part] for part in PARTS if part in parts}
        # One array alone can be set where there is one part.
        options = others if len(parts) == 1 else []
        self.found.append(_inference(parts, " ".join(doubts), options=options))
        return parts

    def _of_role(self, part: str, roles: Sequence[str], *, is_image: bool) -> list[Member]:
        """Arrays of a part whose names mean a role, the best first: flat ones are last."""
        found: list[tuple[bool, int, int, Member]] = []
        for name, member in self.members.items():
            own, role = meaning(name)
            is_flat = len(member.shape) < 3
            if own != part or role not in roles or (role == "" and not part):
                continue
            if is_image and is_flat and member.dtype.kind in "SU" and role not in {"x", "images"}:
                continue
            found.append((is_image and is_flat, roles.index(role), len(found), member))
        return [member for *_, member in sorted(found, key=lambda each: each[:3])]

    def _by_shapes(self) -> dict[str, tuple[Member, Member]]:
        """Arrays that numpy has numbered: images have three axes or more."""
        numbered = {
            int(found[1]): member
            for name, member in self.members.items()
            if (found := _NUMBERED.fullmatch(name))
        }
        ordered = [numbered[number] for number in sorted(numbered)]
        images = [each for each in ordered if len(each.shape) >= 3]
        labels = [each for each in ordered if len(each.shape) < 3]
        if not images or len(images) != len(labels) or len(images) > len(PARTS):
            return {}
        doubt = "They have no names: which part is which was taken from their order."
        sizes = [each.shape[0] for each in images]
        if len(set(sizes)) == len(sizes):
            by_size = {each.shape[0]: each for each in labels if each.shape}
            labels = [by_size.get(size, label) for size, label in zip(sizes, labels, strict=True)]
        parts = dict(zip(PARTS, zip(images, labels, strict=True), strict=False))
        plain = "images have three axes or more"
        self.found.append(_inference(parts, doubt if len(parts) > 1 else "", evidence=plain))
        return parts

    def names(self, parts: Mapping[str, tuple[Member, Member]]) -> Member | None:
        """The array with the names of the classes."""
        used = {member.name for pair in parts.values() for member in pair}
        images = parts["train"][0].shape[:1]
        found = [
            (_NAMES.index(key), member)
            for name, member in self.members.items()
            if name not in used
            and (key := _squeezed(name)) in _NAMES
            # Labels that are not used are no names: they are as many as the images.
            and (member.shape != images or key in _NAMES[:3])
        ]
        return min(found, key=lambda each: each[0])[1] if found else None

    def _refused(self) -> DatasetError:
        words = ", ".join(member.words() for member in self.members.values())
        return DatasetError(
            "The file does not contain images and labels under known names.",
            where=str(self.path),
            received=words[:300] or "no arrays",
            expected=EXPECTED,
            fix="Name them in the source: "
            f'"npz:{self.path.name}?images=NAME&labels=NAME", or write the file with '
            "numpy.savez_compressed(file, x_train=..., y_train=...).",
        )


def shape_of_images(images: Member, labels: Member) -> tuple[int, ...]:
    """The shape with the number of images first, where the labels show that it is last: MATLAB
    files have (height, width, channels, n).
    """
    shape = images.shape
    count = num_labels(labels.shape)
    is_last = len(shape) == 4 and shape[3] == count != shape[0] and shape[2] in {1, 3}
    return (shape[3], *shape[:3]) if is_last else shape


def num_labels(shape: tuple[int, ...]) -> int:
    """How many labels an array of a shape holds: (n,), (n, ...), or (1, n)."""
    if len(shape) == 2 and shape[0] == 1:
        return shape[1]
    return shape[0] if shape else 0


def meaning(name: str) -> tuple[str, str]:
    """The part that a name means ("" for none), and what is left of it."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = [word.lower() for word in re.split(r"[\W_]+", spaced) if word]
    found = [(part, word) for word in words if word and (part := part_of_word(word))]
    if found:
        return found[0][0], "".join(word for word in words if word != found[0][1])
    whole = "".join(words)
    for word in ("training", "train", "validation", "valid", "val", "testing", "test", "tr", "te"):
        for rest in (whole.removeprefix(word), whole.removesuffix(word)):
            if rest != whole and (rest in _IMAGES or rest in _LABELS):
                return part_of_word(word) or "", rest
    return "", whole


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _is_one_hot_of(wide: Member, labels: Member) -> bool:
    """Whether an array may hold the same labels in one-hot form, or the other way around."""
    return len(wide.shape) != len(labels.shape)


def _inference(
    parts: Mapping[str, tuple[Member, Member]],
    doubt: str,
    *,
    evidence: str = "by their names",
    options: Iterable[Option] = (),
    is_told: bool = False,
) -> Inference:
    value = "; ".join(
        f"{part}: {image.name}, {label.name}" for part, (image, label) in parts.items()
    )
    return Inference(
        "arrays", "The arrays", value, evidence, doubt, "labels", tuple(options), is_told
    )
