"""What is not used of a folder, in sentences, and what could be done about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbench.core.class_names import Key
from workbench.core.format import plain_name, plural
from workbench.core.specs import Inference, Option
from workbench.pictures.class_folders.file_names import by_name
from workbench.pictures.class_folders.parts import PartFolders, flat_parts, joined_words
from workbench.pictures.class_folders.tree import Branch, end_of
from workbench.pictures.class_folders.words import part_name

_MAX_NOTES = 12
_NAMED = 4


def unused_notes(tree: Branch, used: set[Path], why: Mapping[Path, str]) -> list[str]:
    """A sentence on each folder of which nothing is used, and on the images beside class
    folders.
    """
    notes, loose = [], 0

    def look(node: Branch, path: str) -> None:
        nonlocal loose
        if not any(each.path in used for each in node.all()):
            reason = next((why[e.path] for e in node.all() if e.path in why), "is not used")
            count = plural(node.num_pictures, "image")
            notes.append(f"Folder “{plain_name(path)}” with {count} {reason}.")
            return
        if node.path not in used:
            loose += len(node.pictures)
        for branch in node.branches:
            look(branch, f"{path}/{branch.name}" if path else branch.name)

    look(tree, "")
    if loose:
        notes.append(f"{plural(loose, 'image')} outside class folders are not used.")
    return notes


def empty_notes(tree: Branch, path: Callable[[Branch], str]) -> list[str]:
    """A sentence on each outermost folder without images; `path` says where it is."""
    return [
        f"Folder “{plain_name(path(each))}” has no images and is ignored."
        for node in tree.all()
        if node.pictures or node.branches
        for each in node.empty
    ]


def short(notes: list[str]) -> list[str]:
    """At most so many sentences that the Data view can show them."""
    more = len(notes) - _MAX_NOTES
    return [*notes[:_MAX_NOTES], f"{more:,} more folders: the same."] if more > 1 else notes


def quoted(names: list[str]) -> str:
    """The first names in quotes, and how many there are besides."""
    words = ", ".join(f"“{plain_name(name)}”" for name in names[:_NAMED])
    return f"{words} and {len(names) - _NAMED} more" if len(names) > _NAMED else words


def aside_inference(aside: list[Branch]) -> Inference:
    """Inference that folders of masks, thumbnails and the like are not used."""
    names = list(dict.fromkeys(branch.name for branch in aside))
    count = sum(branch.num_pictures for branch in aside)
    return Inference(
        "aside",
        "Folders beside the images",
        f"not used: {quoted(names)}",
        "their names say that they hold something made of the images, or set aside",
        f"They hold {plural(count, 'image')}.",
        param="aside",
        options=(Option("use", "all images, these too"),),
    )


def masks_inference(files: Sequence[str]) -> Inference:
    """Inference that masks and the like beside their images are not used."""
    return Inference(
        "aside_files",
        "Files beside their images",
        f"not used: {quoted([Path(file).name for file in files])}",
        "they are named after an image beside them, as masks and depth maps are",
        f"They are {plural(len(files), 'image')}.",
        param="aside",
        options=(Option("use", "all images, these too"),),
    )


def alike_inference(ends: Mapping[str, int]) -> Inference:
    """Inference that images named after others beside them are used as these are."""
    return Inference(
        "aside_files",
        "Images named after others",
        f"used: {sum(ends.values()):,}, with {quoted(list(ends))} behind the name of another",
        "nothing says that they are masks and the like",
        "If they are made of the images beside them, each of these counts several times, also in "
        "training and validation.",
    )


def part_doubts(parts: PartFolders) -> list[str]:
    """Doubts about folders that were taken as parts: several as one, or none for training."""
    doubts = []
    for part, folders in parts.folders.items():
        words = [word for each in folders if (word := part_name(each.name))]
        if len({word.rest for word in words}) > 1:
            doubts.append(f"{quoted([each.name for each in folders])} are one part: {part}.")
        if part == "train" and any(word.kind != "train" for word in words):
            doubts.append("No folder is named as that of training.")
    return doubts


def part_words(found: Mapping[Key, object]) -> list[Inference]:
    """A doubt where classes are named as parts beside others that are not."""
    named = [key[-1] for key in found if (part := part_name(key[-1])) and part.is_exact]
    named = named if len(named) > 1 else joined_words([key[-1] for key in found])
    if len(named) < 2:
        return []
    doubt = Inference(
        "parts",
        "The parts",
        f"none: {quoted(named)} are classes",
        "other classes are beside them",
        "These names are usual for parts of a data set.",
    )
    return [doubt]


def hint(start: Branch, tree: Branch) -> str:
    """What could be done where there are no classes."""
    if len(by_name(end_of(start).pictures)) >= 2:
        return "Or set “Classes” to the names of the files (classes=names)."
    if flat_parts(start) is not None:
        return (
            "The folders are named as parts and have no class folders inside. Sort their images "
            "into one folder per class, or set “Parts” to none (parts=none) to make them classes."
        )
    tables = [end for each in tree.all() for end in each.files if end in {".csv", ".tsv"}]
    return "If a table names the classes, choose that file instead." if tables else ""
