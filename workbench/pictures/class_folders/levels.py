"""Choice of the level of folders that are the classes.

FOLDER/CLASS/*.jpg            pictures in folders inside belong to the class
FOLDER/GROUP/.../CLASS/*.jpg  where no folder holds pictures itself, the topmost that do
FOLDER/CLASS/images/*.jpg     a folder that only holds images is no class
FOLDER/CLASS/2019/*.jpg       nor is a year
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Literal

from workbench.core.format import plain_name, plural
from workbench.core.outside_text import Key, folded, unique_paths
from workbench.core.specs import Inference, Option
from workbench.pictures.class_folders.tree import (
    Branch,
    are_moments,
    are_numbered,
    is_aside,
    is_container,
    is_no_usual_class,
    is_set_aside,
    is_unsure,
    name_and_ends,
    part_name,
    tokens,
    without_aside_word,
)
from workbench.pictures.folders import entry_order

Level = Literal["auto", "top", "inner", "path", "names"]
"""Which folders are classes: "auto" by what is there, "top" those right inside, "inner" those that
hold the images, one class for all of a name, "path" the same with the folders around them, and
"names" no folders: the names of the files."""

LEVELS: Mapping[str, str] = {
    "auto": "by what is there",
    "top": "outer folders",
    "inner": "inner folders, by their names",
    "path": "every inner folder",
    "names": "names of the files",
}
_NAMED = 3
_FEW = 4
"""A folder's own images are few where the folders inside have at least so many times as many, on
average."""
_NEARLY_ALL = 0.9
_SEVERAL = ("masks", "annotations", "segmentations", "thumbnails", "thumbs", "heatmaps")
_PART_KINDS = frozenset({"train", "test", "validation", "evaluation", "unlabeled"})


@dataclass
class Classes:
    """Folders of images by class.

    Attributes:
        folders: The folders of each class: the images right inside of them are its own.
        aside: Folders that hold something made of the images, or set aside.
        groups: Folders around classes that hold a few images themselves, which are not used.
        inferences: How it was found that these are the classes.
    """

    folders: dict[Key, list[Branch]] = field(default_factory=dict)
    aside: list[Branch] = field(default_factory=list)
    groups: list[Branch] = field(default_factory=list)
    inferences: list[Inference] = field(default_factory=list)


def classes_below(
    tree: Branch, level: Level = "auto", *, has_aside: bool = False, is_chosen: bool = False
) -> Classes:
    """The class folders below a folder.

    Args:
        tree: The folder.
        level: Which of the folders are meant.
        has_aside: Folders of masks, thumbnails and the like hold images too.
        is_chosen: The folders right inside were chosen one by one, each as a class.
    """
    found = Classes()
    tops = _beside(tree.branches, found, is_looked_for=not has_aside)
    tops = _without_copies(tops, found) if level == "auto" else tops
    held = {} if level == "top" else _held(tops, found, is_looked_for=not has_aside)
    if level == "auto":
        chosen, inference = level_of(tops, held, is_chosen=is_chosen)
        if inference is not None and chosen != "top" and found.groups:
            inference = replace(inference, doubt=_joined(inference.doubt, loose(found.groups)))
        found.inferences += [inference] if inference is not None else []
    else:
        chosen = level
    if chosen == "top":
        held = {(top.name,): [top] for top in tops}
    elif chosen == "inner":
        held = _by_last(held)
    for key, folders in held.items():
        for folder in folders:
            inside = _own(folder, found, is_looked_for=not has_aside)
            found.folders.setdefault(key, []).extend(inside)
    if level == "auto" and not has_aside:
        found.inferences += _further(tops, held, found)
    return found


def _further(
    tops: tuple[Branch, ...], held: Mapping[Key, list[Branch]], found: Classes
) -> Iterator[Inference]:
    """What was taken without a sign of it: that folders inside a class are of the class, and that
    folders named as figures or masks are classes.
    """
    if not any(each.key == "class_folders" for each in found.inferences):
        yield from _inner_folders([each for folders in held.values() for each in folders], found)
    odd = [top for top in tops if is_no_usual_class(top.name)]
    if odd and len(tops) - len(odd) >= 2:
        yield Inference(
            "class_folders",
            "Classes with unusual names",
            _list([top.name for top in odd]),
            "they are beside the other class folders",
            "Move them away if they hold figures, masks and the like.",
        )


def _inner_folders(folders: list[Branch], found: Classes) -> Iterator[Inference]:
    """Yields the inference that folders inside of class folders are of the class."""
    own = {each.path: each for each in folders}
    inner = [
        branch
        for each in found.folders.values()
        for branch in each
        if branch.pictures and branch.path not in own and not _is_the_class(branch, own)
    ]
    if not inner:
        return
    names = list(dict.fromkeys(branch.name for branch in inner))
    unsure = [name for name in names if is_unsure(name)]
    few = [each.name for each in folders if _has_few(each, each.branches)]
    doubts = [f"{_list(unsure)} may hold images that are not meant."] if unsure else []
    doubts += [f"{_list(few)} holds few images itself: it may be around classes."] if few else []
    yield Inference(
        "inner_folders",
        "Folders inside class folders",
        f"their {plural(sum(len(branch.pictures) for branch in inner), 'image')} count to the "
        f"class around them: {_list(names)}",
        "they are beside images of the class, or the only ones",
        " ".join(doubts),
    )


def _is_the_class(inner: Branch, own: Mapping[Path, Branch]) -> bool:
    """Whether a folder inside a class adds nothing that could be meant otherwise: a date, or a
    folder for the images of one that holds none itself.
    """
    if are_moments([inner.name]):
        return True
    around = own.get(inner.path.parent)
    if around is None or around.pictures:
        return False
    return is_container(inner.name) or folded(inner.name) == folded(around.name)


def loose(groups: list[Branch]) -> str:
    """A sentence on the images of folders around classes."""
    count = sum(len(branch.pictures) for branch in groups)
    return f"{plural(count, 'image')} right in {_list([each.name for each in groups])}: not used."


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def is_group(branch: Branch) -> bool:
    """Whether a folder is around classes or parts: it holds no images itself, or few beside folders
    with many, or folders for training and test.
    """
    inner = [each for each in branch.branches if not is_aside(each.name)]
    if not branch.pictures or len(inner) < 2:
        return not branch.pictures
    kinds = {_kind(each.name) for each in inner}
    if "train" in kinds and len(kinds) >= 2 and kinds <= _PART_KINDS:
        return True
    names = [each.name for each in inner]
    return _has_few(branch, inner) and not are_moments(names) and not are_numbered(names)


def _has_few(branch: Branch, inner: Sequence[Branch]) -> bool:
    """Whether a folder holds few images itself beside those inside, of which there are several."""
    number = sum(each.num_pictures for each in inner)
    return len(inner) > 1 and 0 < len(branch.pictures) * _FEW * len(inner) <= number


def _without_copies(tops: tuple[Branch, ...], found: Classes) -> tuple[Branch, ...]:
    """The folders, without those that hold folders of the same names as those beside them again."""
    names = {folded(top.name) for top in tops if top.pictures}
    copies = [
        top
        for top in tops
        if top.branches
        and not top.pictures
        and all(folded(each.name) in names for each in top.branches)
    ]
    if copies and len(names) >= 2:
        again = _list([copy.name for copy in copies])
        count = sum(copy.num_pictures for copy in copies)
        found.inferences.append(
            Inference(
                "class_folders",
                "The classes",
                LEVELS["top"],
                "these hold images themselves",
                f"{again} holds folders of the same names again, with {count:,} files: not used.",
                param="classes",
                options=(Option("inner", LEVELS["inner"]),),
            )
        )
        return tuple(top for top in tops if top not in copies)
    return tops


def _by_last(held: Mapping[Key, list[Branch]]) -> dict[Key, list[Branch]]:
    """Folders of one name together: names that differ in nothing but case stay apart."""
    joined: dict[Key, list[Branch]] = {}
    for key, folders in held.items():
        joined.setdefault(key[-1:], []).extend(folders)
    return dict(sorted(joined.items(), key=lambda each: entry_order(each[0][-1])))


def _own(folder: Branch, found: Classes, *, is_looked_for: bool) -> Iterator[Branch]:
    """A class folder and those inside, without those that hold something made of its images."""
    yield folder
    inner = folder.branches
    if folder.pictures and is_looked_for:
        aside = [branch for branch in inner if is_aside(branch.name) or is_set_aside(branch.name)]
        found.aside += aside
        inner = tuple(branch for branch in inner if branch not in aside)
    for branch in _beside(inner, found, is_looked_for=is_looked_for):
        yield from _own(branch, found, is_looked_for=is_looked_for)


def _beside(
    branches: tuple[Branch, ...], found: Classes, *, is_looked_for: bool
) -> tuple[Branch, ...]:
    """The folders, without those of masks and the like that are beside one of images."""
    aside = aside_of(branches) if is_looked_for else []
    found.aside += aside
    return tuple(branch for branch in branches if branch not in aside)


def aside_of(branches: tuple[Branch, ...]) -> list[Branch]:
    """Folders that hold something made of the images of another one: by their names, where one for
    images is beside them, or one with folders of the same names inside, or several with files of
    the same names.
    """
    made = [branch for branch in branches if _is_made_of_one(branch, branches)]
    named = [branch for branch in branches if is_aside(branch.name) and branch not in made]
    others = [branch for branch in branches if branch not in named and branch not in made]
    if not named or any(is_container(branch.name) for branch in others):
        return [*named, *made] if others else []
    inside = {folded(each.name) for other in others for each in other.all()}
    again = [
        branch
        for branch in named
        if all(folded(each.name) in inside for each in branch.branches)
        and (branch.branches or _has_names_of(branch, others))
    ]
    return [*again, *made]


def _has_names_of(branch: Branch, others: list[Branch]) -> bool:
    """Whether the names of a folder's images begin or end as those of images in several others do,
    which are no mere numbers that each folder has.
    """
    stems = Counter(_stem(file) for other in others for file in other.all_pictures())
    single = {stem for stem, number in stems.items() if number == 1}
    if len(others) < 2 or 2 * len(single) < stems.total():
        return False
    hits = [any(part in single for part in name_and_ends(_stem(file))) for file in branch.pictures]
    return sum(hits) >= _NEARLY_ALL * len(hits)


def _is_made_of_one(branch: Branch, branches: tuple[Branch, ...]) -> bool:
    """Whether a folder is named as one beside it with such a word behind, and holds folders, or
    images with names of those in the other: "blue gray" beside "blue" may be a class. Names that a
    third folder has are no sign, unless the word is of several: "cats_masks".
    """
    stem = without_aside_word(branch.name)
    bases = [each for each in branches if each is not branch and tokens(each.name) == stem]
    if not stem or not bases or branch.branches:
        return bool(stem) and bool(bases)
    stems = {_stem(file) for each in bases for file in each.all_pictures()}
    if not branch.name.casefold().endswith(_SEVERAL):
        rest = [each for each in branches if each is not branch and each not in bases]
        stems -= {_stem(file) for each in rest for file in each.pictures}
    hits = [any(part in stems for part in name_and_ends(_stem(file))) for file in branch.pictures]
    return sum(hits) >= _NEARLY_ALL * len(hits)


def _stem(file: str) -> str:
    return PurePath(file).stem.casefold()


def _held(
    tops: Iterable[Branch], found: Classes, *, is_looked_for: bool
) -> dict[Key, list[Branch]]:
    """The topmost folders that hold images themselves, by the names that lead to them; a folder
    that only holds images stands for the one around it.
    """
    held: dict[Key, list[Branch]] = {}
    for top in tops:
        pairs = list(_topmost(top, found, is_looked_for=is_looked_for))
        # "raw" beside "cooked" is no word for images, nor are "original" and "fake".
        named = {
            key[:-1] for key, _ in pairs if not _only_holds(key[-1], has_aside=not is_looked_for)
        }
        for key, branch in pairs:
            is_only = key[:-1] not in named
            short = without_containers(key, has_aside=not is_looked_for) if is_only else key
            held.setdefault(short, []).append(branch)
    return held


def without_containers(key: Key, *, has_aside: bool) -> Key:
    """The names that lead to a folder, without those at the end that only say it holds images."""
    while len(key) > 1 and _only_holds(key[-1], has_aside=has_aside):
        key = key[:-1]
    return key


def _only_holds(name: str, *, has_aside: bool) -> bool:
    return is_container(name) or (has_aside and is_aside(name))


def _topmost(
    branch: Branch, found: Classes, *, is_looked_for: bool
) -> Iterator[tuple[Key, Branch]]:
    if not is_group(branch):
        yield (branch.name,), branch
        return
    found.groups += [branch] if branch.pictures else []
    for inner in _beside(branch.branches, found, is_looked_for=is_looked_for):
        for key, each in _topmost(inner, found, is_looked_for=is_looked_for):
            yield (branch.name, *key), each


def level_of(
    tops: Iterable[Branch], held: Mapping[Key, object], *, is_chosen: bool = False
) -> tuple[Level, Inference | None]:
    """Which level it is, and how that was found; None where there is only one level.

    Args:
        tops: The folders of the first level.
        held: The folders that hold images, by the names that lead to them.
        is_chosen: The first ones were chosen one by one, each as a class.
    """
    tops = tuple(tops)
    if all(len(key) == 1 for key in held):
        return "top", None
    if any(not is_group(top) for top in tops):
        return _uneven(tops, held)
    return _even(tops, held, is_chosen=is_chosen and len(tops) > 1)


def _even(
    tops: tuple[Branch, ...], held: Mapping[Key, object], *, is_chosen: bool
) -> tuple[Level, Inference]:
    """Chooses the level of the classes where no folder of the first one holds images itself, or
    only a few.
    """
    last = [key[-1] for key in held]
    below = [key[-1] for key in held if len(key) > 1]
    if are_moments(below):
        return "top", _levels("top", held, "the folders inside are years or dates")
    if is_chosen:
        doubt = "They hold folders with names of their own."
        return "top", _levels("top", held, "these folders were chosen", doubt)
    repeated = _repeated(last)
    if not repeated:
        inner = [[key[1] for key in held if key[0] == top.name and len(key) > 1] for top in tops]
        is_series = all(len(names) > 1 and are_numbered(names) for names in inner)
        doubt = "The folders inside differ in numbers only: patients or series?" * is_series
        few = "the folders right inside hold few images themselves"
        none = "no folder right inside holds images itself"
        evidence = few if any(top.pictures for top in tops) else none
        return "path", _levels("path", held, evidence, doubt)
    kinds = {_kind(top.name) for top in tops}
    if kinds == {"fold"}:
        return "inner", _levels("inner", held, "the folders around them are numbered folds")
    is_part = bool(kinds - {None})  # but there is no training part beside one of another kind
    level: Level = "inner" if is_part else "path"
    evidence = "folders of one name hold one class" if is_part else "the folders that hold images"
    return level, _levels(level, held, evidence, _doubt(repeated, tops))


def _uneven(tops: tuple[Branch, ...], held: Mapping[Key, object]) -> tuple[Level, Inference | None]:
    """Chooses the first level where some folders hold images and others only folders, with a doubt
    where that joins several folders with names of their own.
    """
    joined = [
        top.name
        for top in tops
        if is_group(top)
        and len(inner := [key[1:] for key in held if key[0] == top.name and len(key) > 1]) > 1
        and not are_moments(key[-1] for key in inner)
    ]
    if not joined:
        return "top", None
    hold = "holds" if len(joined) == 1 else "hold"
    doubt = f"{_list(joined)} {hold} several folders, and few or no images."
    return "top", _levels("top", held, "most hold images themselves", doubt)


def _kind(name: str) -> str | None:
    part = part_name(name)
    return part.kind if part is not None and not part.rest else None


def _repeated(names: Iterable[str]) -> list[str]:
    """Names that occur more than once."""
    first: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for name in names:
        if folded(name) in first:
            repeated[first[folded(name)]] = None
        first.setdefault(folded(name), name)
    return list(repeated)


def _doubt(repeated: list[str], tops: tuple[Branch, ...]) -> str:
    around = _list([top.name for top in tops])
    return f"The same names ({_list(repeated)}) are inside of {len(tops)} folders: {around}."


def _list(names: list[str]) -> str:
    words = ", ".join(f"“{plain_name(name)}”" for name in names[:_NAMED])
    return f"{words}, …" if len(names) > _NAMED else words


def level_told(level: Level) -> list[Inference]:
    """A level that was set; none where it was not."""
    others = tuple(Option(each, LEVELS[each]) for each in LEVELS if each != level)
    told = Inference(
        "class_folders", "The classes", LEVELS[level], param="classes", options=others, is_told=True
    )
    return [told] if level != "auto" else []


def _levels(level: Level, held: Mapping[Key, object], evidence: str, doubt: str = "") -> Inference:
    """The inference of a level, with the numbers of classes that the others would give."""
    counts: dict[Level, int] = {
        "top": len({key[0] for key in held}),
        "inner": len({key[-1] for key in held}),
        "path": len(unique_paths(held)),
    }
    titles = {each: f"{LEVELS[each]} ({number} classes)" for each, number in counts.items()}
    others = {each for each in counts if each != level}
    if counts["inner"] == counts["path"]:
        others -= {"inner"} if level == "path" else {"path"} if level == "inner" else {"inner"}
    return Inference(
        "class_folders",
        "The classes",
        titles[level],
        evidence,
        doubt,
        param="classes",
        options=tuple(Option(each, titles[each]) for each in counts if each in others),
    )
