"""A folder with all that is inside of it: pictures, folders, and counts of everything else."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Literal

from workbench.core.format import plain_name, plural
from workbench.core.specs import Inference
from workbench.core.storage.foreign_file import is_file, is_folder
from workbench.errors import DatasetError
from workbench.pictures.folders import (
    count_pictures,
    entries_of,
    entry_order,
    is_picture,
    may_be_meant,
)

# words ---------------------------------------------------------------------------------------
# What the names of folders say: a part of a data set, a plain container, something beside it.


def _set(words: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", words))


Kind = Literal["train", "test", "validation", "evaluation", "unlabeled", "fold"]

_WORDS: Mapping[Kind, tuple[str, ...]] = {
    "train": (
        "train", "training", "trn", "trainval", "entrenamiento", "treino", "treinamento",
        "entrainement", "apprentissage", "addestramento", "训练", "訓練", "学習", "훈련",
    ),
    "test": (
        "test", "testing", "tst", "heldout", "holdout", "prueba", "pruebas", "teste", "тест",
        "测试", "測試", "テスト", "테스트",
    ),
    "validation": (
        "val", "valid", "validation", "validate", "validating", "dev", "validierung",
        "validacion", "validacao", "validazione", "валидация", "验证", "驗證", "検証", "검증",
    ),
    "evaluation": ("eval", "evaluation"),
    "unlabeled": (
        "pred", "predict", "prediction", "predictions", "unlabeled", "unlabelled", "unsup",
        "unsupervised", "inference", "submission",
    ),
    "fold": ("fold", "kfold"),
}  # fmt: skip
"""Words for parts, the usual first."""

_FOUND: Mapping[str, tuple[Kind, int]] = {
    word: (kind, place) for kind, words in _WORDS.items() for place, word in enumerate(words)
}
_CONTAINERS = _set(
    "image images img imgs picture pictures pic pics photo photos jpg jpgs jpeg jpegs jpegimages "
    "png pngs original originals raw rgb color colored data dataset files frames "
    "samples bilder fotos imagenes imagens immagini 图片 画像"
) | {"colour"}
"""Names of folders that only hold images."""

_FILLERS = _CONTAINERS | _set(
    "set sets datasets ds folder folders dir split splits part subset final full all the of my "
    "new class classes cls classification 集 数据集 セット"
)
"""Words beside that of a part that say nothing more."""

_ASIDE = _set(
    "mask masks annotation annotations annot segmentation segmentations segmented seg labels "
    "label groundtruth gt trimaps trimap bbox bboxes boxes depth edges grayscale  gray "
    "thumb thumbs thumbnail thumbnails preview previews augmented augmentation aug "
    "heatmaps saliency"
) | {"grey", "greyscale"}
"""Names of folders with something made of the images, beside those with the images."""

_SET_ASIDE = _set(
    "rejected reject rejects trash deleted removed discard discards discarded unused duplicate "
    "duplicates dupes backup backups bak copy copies excluded ignored junk garbage tmp temp"
)
"""Names of folders with images of a class that somebody took out of it."""

_UNSURE = _set("bad blurry old crop crops cropped flip flipped rotated noisy wrong unsorted")
"""Names of folders inside a class that may hold something else than more of its images."""

_PAPERS = _set(
    "docs documentation figures results result output outputs plots logs screenshots readme "
    "assets demo examples gradcam code src scripts resized preprocessed unsorted"
)
"""Names of folders with pictures that are about a data set."""

_AS_A_CLASS = _set("mask thumb label boxes gray") | {"grey"}
"""Words for things made of images that are usual names of classes, too."""

_GLUED = re.compile(
    r"(train|training|test|testing|val|valid|validation|dev|训练|訓練|测试|測試|验证|驗證|検証)"
    r"(set|data|dataset|dir|images?|imgs?|pics|folder|集|数据|数据集|データ)"
)
_PIECES = re.compile(r"[0-9]+|[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOMENT = re.compile(r"(19|20)[0-9]{2}([-_. ]?[01][0-9]([-_. ]?[0-3][0-9])?)?|[0-3]?[0-9]")


@dataclass(frozen=True)
class PartName:
    """A folder's name that has the word of one part in it.

    Attributes:
        kind: Which part.
        place: How usual the word is, 0 for the most usual.
        rest: The other words, but for those that say nothing more.
        is_exact: Nothing else is in the name, not even a number.
    """

    kind: Kind
    place: int
    rest: tuple[str, ...] = ()
    is_exact: bool = False

    @property
    def order(self) -> tuple[bool, bool, int]:
        """Sorts the usual name first."""
        return bool(self.rest), not self.is_exact, self.place


def tokens(name: str) -> tuple[str, ...]:
    """The words and numbers of a name, in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", unicodedata.normalize("NFC", name)))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    found = _PIECES.findall(unicodedata.normalize("NFC", letters).casefold())
    return tuple(word for piece in found for word in _unglued(piece))


def _unglued(word: str) -> tuple[str, ...]:
    glued = _GLUED.fullmatch(word)
    return glued.groups() if glued else (word,)


@lru_cache(maxsize=4096)
def part_name(name: str) -> PartName | None:
    """The part that a folder's name stands for; None for none, or for more than one."""
    words = tokens(name)
    hits = [place for place, word in enumerate(words) if word in _FOUND]
    kinds = {_FOUND[words[place]][0] for place in hits}
    if words == ("train", "val"):
        kinds = {"train"}
    if "unlabeled" in kinds:
        kinds &= {"unlabeled"}  # "unlabeled test images"
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    place = min(_FOUND[words[at]][1] for at in hits if _FOUND[words[at]][0] == kind)
    plain = [
        word
        for word in words
        if word in _FOUND or (word not in _FILLERS and not word.isdecimal() and len(word) > 1)
    ]
    rest = tuple(word for word in plain if word not in _FOUND)
    if rest and plain[0] in rest and plain[-1] in rest:
        return None  # in the middle of other words
    return PartName(kind, place, rest, is_exact=len(words) == 1)


_PART = "|".join(word for word, (kind, _) in _FOUND.items() if kind not in {"unlabeled", "fold"})
_SET = r"(?:[-_ ]?(?:set|data|images?|imgs?))?"
_JOINED = (
    re.compile(rf"(?P<name>.+?)[-_. (\[]+(?P<part>{_PART}){_SET}[)\]]?", re.IGNORECASE),
    re.compile(rf"[(\[]?(?P<part>{_PART}){_SET}[)\]]?[-_. ]+(?P<name>.+)", re.IGNORECASE),
    re.compile(r"(?P<part>train|test|val)(?P<name>[A-Z].*)"),
)


def class_and_part(name: str) -> tuple[str, Kind] | None:
    """The class and the part that a folder's name joins: cat_train, "test cat", trainA."""
    for form in _JOINED:
        found = form.fullmatch(name)
        if found and any(map(str.isalpha, found["name"])):
            return found["name"], _FOUND[found["part"].casefold()][0]
    return None


def is_container(name: str) -> bool:
    """Whether a folder's name only says that it holds images."""
    words = [word for word in tokens(name) if not word.isdecimal()]
    return bool(words) and all(word in _FILLERS for word in words) and words[0] in _CONTAINERS


def is_aside(name: str) -> bool:
    """Whether a folder's name says that it holds masks, thumbnails or other things made of images,
    where it is beside images.
    """
    words = [word for word in tokens(name) if word not in _FILLERS and not word.isdecimal()]
    return words == ["ground", "truth"] or (bool(words) and all(word in _ASIDE for word in words))


def is_set_aside(name: str) -> bool:
    """Whether the name of a folder in a class says that its images were taken out."""
    return _is_all(name, _SET_ASIDE)


def is_unsure(name: str) -> bool:
    """Whether the name of a folder in a class leaves open if its images are those of the class."""
    return _is_all(name, _UNSURE)


def is_no_usual_class(name: str) -> bool:
    """Whether a folder that is read as a class is named as masks, figures and the like are."""
    return not _is_all(name, _AS_A_CLASS) and (is_aside(name) or _is_all(name, _PAPERS))


def _is_all(name: str, known: frozenset[str]) -> bool:
    words = [word for word in tokens(name) if word not in _FILLERS and not word.isdecimal()]
    return bool(words) and all(word in known for word in words)


def without_aside_word(name: str) -> tuple[str, ...]:
    """The words of a name before the last one, where that is of masks and the like; else none."""
    *before, last = tokens(name) or ("",)
    return tuple(before) if last in _ASIDE else ()


_MADE = (_ASIDE - _set("augmented augmentation aug grayscale gray") - {"grey", "greyscale"}) | _set(
    "edge heatmap silhouette silhouettes matte mattes overlay overlays annotated contour contours "
    "maskcrop depthcrop prediction predictions"
)
_PHOTO = _set("rgb image img color original photo picture raw crop") | {"colour", ""}
_BEHIND = re.compile(rf"(.+?)[-_. ]+({'|'.join(sorted(_MADE))})([-_. ]*\d+)?", re.IGNORECASE)
_BEFORE = re.compile(rf"({'|'.join(sorted(_MADE))})[-_. ]+(.+)", re.IGNORECASE)
_END = re.compile(r"(.*?)(?:[-_. ]+([a-z]+))?", re.IGNORECASE)


def made_of_others(stems: Iterable[str]) -> set[str]:
    """The names, without endings, of masks and the like that are beside their image: "1_mask"
    beside "1", "2_depth" beside "2_rgb", "mask_3" beside "3".
    """
    stems = list(stems)
    made = {stem: _of_image(stem) for stem in stems}
    images = {stem.casefold() for stem in stems if not made[stem]}
    for stem in stems:
        found = _END.fullmatch(stem)
        if not made[stem] and found and (found[2] or "").casefold() in _PHOTO:
            images.add(found[1].casefold())
    return {stem for stem, image in made.items() if image and image.casefold() in images}


def _of_image(stem: str) -> str:
    """The name of the image that a mask is named after; "" for another name."""
    if found := _BEHIND.fullmatch(stem):
        return found[1]
    found = _BEFORE.fullmatch(stem)
    return found[2] if found else ""


_LAST = re.compile(r"(.*[^-_. ])([-_. ]+[^\W\d_][^-_. ]*)")
_SEPARATOR = re.compile(r"[-_. ]+")
_LEAST_ALIKE = 3


def name_and_ends(stem: str) -> Iterator[str]:
    """A name, and what is before or behind each of its separators."""
    yield stem
    for found in _SEPARATOR.finditer(stem):
        yield from (stem[: found.start()], stem[found.end() :])


def ends_behind_others(stems: Iterable[str]) -> dict[str, int]:
    """What stands behind the names of most images in the names of others beside them, and how
    often: "_flip" where there are "1", "1_flip", "2", "2_flip" and so on.
    """
    known = {stem.casefold() for stem in stems}
    cut = [found for stem in known if (found := _LAST.fullmatch(stem)) and found[1] in known]
    ends = Counter(found[2] for found in cut)
    least = max(_LEAST_ALIKE, (len(known) - len(cut)) / 2)
    return {end: number for end, number in ends.items() if number >= least}


def are_moments(names: Iterable[str]) -> bool:
    """Whether names are years or dates, as photos are filed: "2019", "2019-07-01"."""
    names = list(names)
    is_year = [len(name) >= 4 and _MOMENT.fullmatch(name) is not None for name in names]
    return bool(names) and all(is_year)


def are_numbered(names: Iterable[str]) -> bool:
    """Whether names differ in nothing but numbers, as those of patients and series do, and are no
    WordNet numbers.
    """
    names = list(names)
    is_numbered = all(any(map(str.isdecimal, name)) for name in names)
    is_wordnet = all(map(_WORDNET.fullmatch, names))
    return is_numbered and not is_wordnet and len({re.sub(r"\d+", "", name) for name in names}) == 1


# classes in the names of files --------------------------------------------------------------

_CAMERA = _set(
    "img image images dsc dscn dscf pic picture photo p screenshot frame file scan imgp pxl mvimg "
    "vid wp c cimg sam im i x sample untitled unnamed download input output"
)
"""What cameras and programs name files, whatever is on them."""

_TAIL = re.compile(r"([-_. ]+([0-9a-f]*\d[0-9a-f]*)|[-_. ]*\(\d+\))+$", re.IGNORECASE)
_NUMBER = re.compile(r"\d+$")
_HEAD = re.compile(r"^\d+[-_. ]+(?=\D)")
_WORDNET = re.compile(r"n\d{8}")
_SEPARATORS = " -_."


def class_in_name(stem: str) -> str:
    """The class that a file's name without its ending begins or ends with, beside a number: "cat"
    of "cat.0", "dog_12", "rose (3)", "0012_cat"; "" where there is none.
    """
    name = _TAIL.sub("", stem)
    if name == stem:
        name = _NUMBER.sub("", stem)
    if name == stem:
        name = _HEAD.sub("", stem)
    is_cut, name = name != stem, name.strip(_SEPARATORS)
    if not is_cut or not any(map(str.isalpha, name)):
        return ""
    if name[-1].isdecimal() and not _WORDNET.fullmatch(name):
        return ""  # the number of a patient or an object, which has several images
    return "" if all(word in _CAMERA or word.isdecimal() for word in tokens(name)) else name


# file names ----------------------------------------------------------------------------------
# Classes out of the names of files that are in one folder: cat.0.jpg, dog_12.png.

_LEAST_SHARE = 0.95
"""Least share of files with a class in their name, for classes to be taken from names without being
asked to."""

_LEAST_IMAGES = 3
"""Images that a class has on average there: names of people or series have fewer."""

_NAMED = 5


def by_name(files: Sequence[str]) -> dict[str, list[str]]:
    """Files by the class in their names; those without one are left out."""
    found: dict[str, list[str]] = {}
    for file in files:
        if name := class_in_name(PurePath(file).stem):
            found.setdefault(name, []).append(file)
    return dict(sorted(found.items(), key=lambda each: entry_order(each[0])))


def is_evident(found: Mapping[str, Sequence[str]], num_files: int) -> bool:
    """Whether the names of files are plainly those of their classes."""
    num_named = sum(map(len, found.values()))
    enough = num_named >= _LEAST_SHARE * num_files and num_named >= _LEAST_IMAGES * len(found)
    return len(found) >= 2 and enough


def names_inference(found: Mapping[str, Sequence[str]], *, is_set: bool) -> Inference:
    """What was taken for the classes."""
    some = ", ".join(f"“{plain_name(name)}”" for name in list(found)[:_NAMED])
    more = ", …" if len(found) > _NAMED else ""
    first = next(iter(found.items()))
    example = f"{plain_name(PurePath(first[1][0]).name)} is “{plain_name(first[0])}”"
    return Inference(
        "class_folders",
        "The classes",
        f"{plural(len(found), 'name')} of files: {some}{more}",
        f"there are no class folders, and {example}",
        "The names may be those of people, places or series instead.",
        param="classes",
        is_told=is_set,
    )


# tree ----------------------------------------------------------------------------------------

_MAX_DEPTH = 100
_ENDINGS_NAMED = 4


@dataclass(frozen=True)
class Branch:
    """A folder with what it holds, naturally sorted.

    Attributes:
        path: Where it is.
        pictures: Its own picture files.
        branches: The folders inside that hold pictures, they or those inside them.
        empty: Visible folders inside without any picture.
        links: How many folders inside are links that were not followed.
        dangling: How many entries are links that lead nowhere, or no files at all.
        files: How many other files it holds, by ending.
        hidden: The hidden folders that hold images and are not made by programs, with how many.
        num_hidden: Image files that are hidden by the dot that their name begins with.
        called: What stands for its name, where that is not the folder's own.
    """

    path: Path
    pictures: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    empty: tuple[Branch, ...] = ()
    links: int = 0
    dangling: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    hidden: Mapping[str, int] = field(default_factory=dict)
    num_hidden: int = 0
    called: str = ""

    @property
    def name(self) -> str:
        """The folder's own name, or what stands for it."""
        return self.called or self.path.name

    def all(self) -> Iterator[Branch]:
        """Yields the folder and all folders inside, those without pictures too."""
        yield self
        for branch in (*self.branches, *self.empty):
            yield from branch.all()

    def all_pictures(self) -> Iterator[str]:
        """Its own pictures, then those of the folders inside."""
        for branch in self.all():
            yield from branch.pictures

    @property
    def num_pictures(self) -> int:
        """Its own and those of the folders inside."""
        return sum(len(branch.pictures) for branch in self.all())


def scan(folder: Path, check: Callable[[], None] = lambda: None, *, depth: int = 0) -> Branch:
    """A folder and all that is inside, hidden files and those of systems left out.

    Links to folders are followed right below `folder` and in the folders of its parts, where
    people put class folders of other disks together; never further, so that loops end.

    Args:
        folder: The folder.
        check: Called for each folder; what it raises ends the search.
        depth: How many of the scanned folders are around it.

    Raises:
        DatasetError: a folder cannot be listed, or they are nested too deeply.
    """
    check()
    if depth > _MAX_DEPTH:
        raise DatasetError(
            "The folders are nested too deeply.",
            where=str(folder)[:300],
            expected=f"at most {_MAX_DEPTH} folders in each other",
        )
    is_followed = depth == 0 or (depth == 1 and part_name(folder.name) is not None)
    found, inner = _entries(folder, is_followed=is_followed)
    scanned = [scan(path, check, depth=depth + 1) for path in inner]
    return replace(
        found,
        branches=tuple(each for each in scanned if each.pictures or each.branches),
        empty=tuple(each for each in scanned if not each.pictures and not each.branches),
    )


def _entries(folder: Path, *, is_followed: bool) -> tuple[Branch, list[Path]]:
    """What a folder holds itself, and the folders inside."""
    pictures, inner, links, dangling = [], [], 0, 0
    files: Counter[str] = Counter()
    visible, unseen = entries_of(folder)
    for entry in visible:
        if entry.is_dir(follow_symlinks=False):
            inner.append(Path(entry.path))
        elif is_folder(entry):
            if is_followed and not _leads_back(folder, entry.path):
                inner.append(Path(entry.path))
            else:
                links += 1
        elif not is_file(entry):
            dangling += 1
        elif is_picture(entry.path):
            pictures.append(entry.path)
        else:
            files[os.path.splitext(entry.name)[1].lower()] += 1  # noqa: PTH122 - a name
    hidden = {
        entry.name: number
        for entry in unseen
        if may_be_meant(entry.name)
        and entry.is_dir(follow_symlinks=False)
        and (number := count_pictures(entry.path))
    }
    own = Branch(
        folder,
        tuple(pictures),
        links=links,
        dangling=dangling,
        files=files,
        hidden=hidden,
        num_hidden=sum(map(_is_hidden_picture, unseen)),
    )
    return own, inner


def _is_hidden_picture(entry: os.DirEntry[str]) -> bool:
    """Whether somebody may miss it: macOS writes "._1.jpg" beside each "1.jpg", with no image."""
    is_own = entry.name.startswith(".") and not entry.name.startswith("._")
    return is_own and is_file(entry) and is_picture(entry.path)


def _leads_back(folder: Path, link: str) -> bool:
    """Whether a link leads to the folder it is in, or to one around it."""
    here, there = os.path.realpath(folder), os.path.realpath(link)
    return os.path.commonpath([here, there]) == there


def other_notes(tree: Branch) -> list[str]:
    """Sentences on what is neither a file nor a folder that was looked into."""
    notes = []
    if links := sum(branch.links for branch in tree.all()):
        notes.append(f"{plural(links, 'inner folder')}: links, not used.")
    if dangling := sum(branch.dangling for branch in tree.all()):
        notes.append(f"{plural(dangling, 'link')} to nothing, or no file: not used.")
    if unseen := sum(branch.num_hidden for branch in tree.all()):
        notes.append(f"{plural(unseen, 'image file')} hidden by a dot before the name: not used.")
    hidden: Counter[str] = Counter()
    for branch in tree.all():
        hidden.update(branch.hidden)
    for name, number in sorted(hidden.items())[:_ENDINGS_NAMED]:
        notes.append(
            f"{plural(number, 'image')} in “{plain_name(name)}”, a folder that is hidden or of "
            "the system: not used."
        )
    return notes


def other_files(*trees: Branch) -> tuple[Inference, ...]:
    """How many files are no images; nothing where all are."""
    files: Counter[str] = Counter()
    for tree in trees:
        for branch in tree.all():
            files.update(branch.files)
    return (not_images(files),) if files else ()


def not_images(files: Mapping[str, int]) -> Inference:
    """Inference that files of other kinds are not used.

    Args:
        files: How many there are, by ending.
    """
    kinds = [
        f"{count:,} {plain_name(end) if end else 'without ending'}"
        for end, count in sorted(files.items(), key=lambda each: (-each[1], each[0]))
    ]
    more = ["…"] if len(files) > _ENDINGS_NAMED else []
    return Inference(
        "other_files",
        "Other files",
        f"{sum(files.values()):,}, not used: {', '.join([*kinds[:_ENDINGS_NAMED], *more])}",
        "neither their names nor their first bytes are those of images",
    )


def end_of(node: Branch) -> Branch:
    """The folder that holds the images, where folders around it hold nothing else."""
    while not node.pictures and len(node.branches) == 1:
        node = node.branches[0]
    return node
