"""Reads class folders: parts, classes, and a count of every image that is not used.

ROOT/CLASS/*.jpg                  classes, as `levels` finds them
ROOT/train/CLASS/*.jpg            the same for each part, as `parts` finds them
ROOT/.../CLASS/train/*.jpg        classes with their parts inside
ROOT/ONLY/...                     a folder around all of these is looked through
ROOT/cat.0.jpg                    classes in the names of the files
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from workbench.core.format import plural
from workbench.core.outside_text import Key, KnownNames, matched, unique_paths
from workbench.core.projects.data_edits import PartName
from workbench.core.specs import Inference, Option
from workbench.pictures.class_folders.beginning import (
    AS_FOUND,
    PART_RULES,
    Beginning,
    PartFolders,
    Reading,
    alike_inference,
    aside_inference,
    empty_notes,
    flat_parts,
    hint,
    inner_end,
    joined_parts,
    leads_on,
    masks_inference,
    part_doubts,
    part_folders,
    part_words,
    parts_beside,
    parts_inside,
    quoted,
    short,
    unused_notes,
)
from workbench.pictures.class_folders.levels import (
    Classes,
    Level,
    classes_below,
    is_group,
    level_of,
    level_told,
    loose,
    without_containers,
)
from workbench.pictures.class_folders.tree import (
    Branch,
    by_name,
    end_of,
    ends_behind_others,
    is_evident,
    made_of_others,
    names_inference,
    other_files,
    other_notes,
    scan,
)
from workbench.pictures.folders import entry_order


@dataclass(frozen=True)
class ClassFolders:
    """Pictures by class name, for each part; the classes are those of `train`.

    Attributes:
        train, test, validation: The files of each class; no test or validation files where the
            folders do not say which they are.
        notes: What was left out, in sentences.
        inferences: What was taken for parts and classes, where there was a choice.
        num_loose: Pictures that are in no class folder.
        num_folders: Folders that could have been classes.
        num_inside: Pictures in these.
        hint: What could be done where there are no classes.
    """

    train: dict[str, list[str]] = field(default_factory=dict)
    test: dict[str, list[str]] = field(default_factory=dict)
    validation: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()
    num_loose: int = 0
    num_folders: int = 0
    num_inside: int = 0
    hint: str = ""


def class_folders(
    root: Path, check: Callable[[], None] = lambda: None, how: Reading = AS_FOUND
) -> ClassFolders:
    """Finds the classes below a folder; opens no file whose name is that of a picture.

    Args:
        root: The folder.
        check: Called for each folder; what it raises ends the search.
        how: How it is read, where that is set.

    Raises:
        DatasetError: a folder cannot be listed, they are nested too deeply, or `how.inside` is
            none of them.
    """
    return classes_of(scan(root, check), how)


def classes_of(tree: Branch, how: Reading = AS_FOUND) -> ClassFolders:
    """Finds the classes of a folder that is listed, or of several that stand for those in one."""
    return _Reader(tree, how).result()


class _Reader:
    """Reads one tree of folders; what it uses is written down, so that the rest can be counted."""

    def __init__(self, tree: Branch, how: Reading) -> None:
        self._tree, self._how = tree, how
        self._used: set[Path] = set()
        self._why: dict[Path, str] = {}
        self._begin = Beginning(tree, how)
        self._aside, self._inferences = self._begin.aside, self._begin.inferences
        self._notes: list[str] = []
        self._masks: list[str] = []
        self._alike: Counter[str] = Counter()
        self._files: dict[PartName, dict[str, list[str]]] = {
            "train": {}, "test": {}, "validation": {},
        }  # fmt: skip

    def result(self) -> ClassFolders:
        """What the tree holds."""
        start = self._begin.found()
        parts = None
        if self._how.parts != "none":
            parts = part_folders(start) or parts_beside(start) or joined_parts(start)
        if parts is not None and self._how.classes != "names":
            self._read_parts(parts)
        elif not self._read_named_parts(start) and not self._read_parts_inside(start):
            self._read_classes(start)
        if len(self._files["train"]) < 2 and self._how.classes in {"auto", "names"}:
            self._read_names(start)
        if self._aside:
            unused = {each.path: each for each in self._aside}
            self._inferences.append(aside_inference(list(unused.values())))
        if self._masks:
            self._inferences.append(masks_inference(self._masks))
        if self._alike:
            self._inferences.append(alike_inference(self._alike))
        self._inferences += other_files(self._tree)
        return self._listed(start)

    def _listed(self, start: Branch) -> ClassFolders:
        passed = {each.path for folder in self._aside for each in folder.all()}
        counted = self._used | passed
        unused = unused_notes(self._tree, counted, self._why) if self._used else []
        ignored = empty_notes(self._tree, self._begin.path)
        return ClassFolders(
            train=self._files["train"],
            test=self._files["test"],
            validation=self._files["validation"],
            notes=(*self._notes, *short(unused), *short(ignored), *other_notes(self._tree)),
            inferences=tuple(self._inferences),
            num_loose=len(start.pictures),
            num_folders=len(start.branches) + len(start.empty),
            num_inside=start.num_pictures - len(start.pictures),
            hint=hint(start, self._tree),
        )

    # parts ---------------------------------------------------------------------------------

    def _read_parts(self, parts: PartFolders) -> None:
        found = {
            part: [self._below(folder) for folder in folders]
            for part, folders in parts.folders.items()
        }
        names = self._name_training(found.pop("train"), parts.folders["train"])
        foreign: list[str] = []
        for part, each in found.items():
            for folder, classes in zip(parts.folders[part], each, strict=True):
                foreign += self._name_part(part, folder, classes, names)
        if self._how.parts == "merge":
            self._merge()
        self._inferences.insert(0, self._parts_inference(parts, foreign))

    def _below(self, folder: Branch) -> Classes:
        """The classes of one part; what was inferred of them is that of the training part."""
        node = folder
        while True:
            inner = self._begin.without_aside(node.branches)
            if len(inner) != 1 or not leads_on(inner[0], node):
                break
            node = inner[0]
        level: Level = "auto" if self._how.classes == "names" else self._how.classes
        classes = classes_below(node, level, has_aside=self._how.has_aside)
        self._aside += classes.aside
        return classes

    def _name_training(self, found: list[Classes], folders: Iterable[Branch]) -> dict[Key, str]:
        """Adds the training part; the names of its classes by key."""
        first, *others = found
        self._inferences += first.inferences
        names = unique_paths(first.folders)
        for key, branches in first.folders.items():
            self._take("train", names[key], branches)
        for folder, classes in zip(list(folders)[1:], others, strict=True):
            self._name_part("train", folder, classes, names)
        return names

    def _name_part(
        self, part: PartName, folder: Branch, classes: Classes, names: dict[Key, str]
    ) -> list[str]:
        """Adds the folders of a part to the classes they are named like; the others' names."""
        whole = matched(map("/".join, classes.folders), map("/".join, names))
        key_of = {"/".join(key): key for key in names}
        last = KnownNames(names.values())
        foreign: list[str] = []
        noted: set[str] = set()
        for key, branches in classes.folders.items():
            text = "/".join(key)
            name = names[key_of[whole.names[text]]] if text in whole.names else last.find(key[-1])
            if name:
                self._take(part, name, branches)
                noted.update(matched([key[-1]], [name]).notes)
            elif self._how.parts == "merge":
                names[key] = key[-1]
                self._take(part, names[key], branches)
            else:
                foreign.append(text)
                self._why[branches[0].path] = "matches no training class and is not used"
        self._notes += sorted(noted)
        if folder.pictures or not folder.branches:
            self._why.setdefault(folder.path, "is not used: it has no class folders")
        return foreign

    def _merge(self) -> None:
        """Puts the images of all parts into one."""
        others: tuple[PartName, ...] = ("test", "validation")
        for part in others:
            for name, files in self._files[part].items():
                self._files["train"].setdefault(name, []).extend(files)
            self._files[part] = {}
        ordered = sorted(self._files["train"].items(), key=lambda each: entry_order(each[0]))
        self._files["train"] = dict(ordered)

    def _parts_inference(self, parts: PartFolders, foreign: list[str]) -> Inference:
        told = self._how.parts == "merge"
        words = [
            f"{part} ({quoted([each.name for each in folders])})"
            for part, folders in parts.folders.items()
        ]
        doubts = part_doubts(parts)
        if foreign:
            doubts.append(f"{quoted(foreign)}: in another part, but no class of training.")
        absent = [
            part for part in parts.folders if part != "train" and not self._files[part] and not told
        ]
        doubts += [f"No image of {part} is in a class folder of training." for part in absent]
        doubts += self._left_beside(parts)
        others = [rule for rule in PART_RULES if rule != self._how.parts]
        return Inference(
            "parts",
            "The parts",
            PART_RULES["merge"] if told else ", ".join(words),
            "by the names of the folders",
            " ".join(doubts),
            param="parts",
            options=tuple(Option(rule, PART_RULES[rule]) for rule in others),
            is_told=told,
        )

    def _left_beside(self, parts: PartFolders) -> list[str]:
        """A doubt about folders beside the parts that have classes of the same names."""
        taken = {each.path for folders in parts.folders.values() for each in folders}
        around = next(iter(parts.folders["train"])).path.parent
        node = next((each for each in self._tree.all() if each.path == around), self._tree)
        known = KnownNames(self._files["train"])
        same = [
            each.name
            for each in node.branches
            if each.path not in taken and any(known.find(inner.name) for inner in each.branches)
        ]
        return [f"{quoted(same)}, with classes of the same names, is not used."] if same else []

    def _read_parts_inside(self, start: Branch) -> bool:
        """Reads classes with their parts inside, where every innermost folder is named as a part;
        whether that is so.
        """
        if self._how.parts == "none" or self._how.classes == "names":
            return False
        found = classes_below(start, "path", has_aside=self._how.has_aside)
        parts = parts_inside(list(found.folders))
        if parts is None:
            return False
        self._take_inner_parts(start, found, parts)
        told = self._how.parts == "merge"
        if told:
            self._merge()
        words = quoted(list(dict.fromkeys(key[-1] for key in parts)))
        self._inferences.append(
            Inference(
                "parts",
                "The parts",
                PART_RULES["merge"] if told else f"{words} inside of each class folder",
                "by the names of the folders",
                loose(found.groups) if found.groups else "",
                param="parts",
                options=tuple(
                    Option(rule, PART_RULES[rule]) for rule in PART_RULES if rule != self._how.parts
                ),
                is_told=told,
            )
        )
        return True

    def _take_inner_parts(
        self, start: Branch, found: Classes, parts: Mapping[Key, PartName | None]
    ) -> None:
        """Adds the folders of parts inside of classes, which may be on several levels."""
        around = {key: without_containers(key[:-1], has_aside=self._how.has_aside) for key in parts}
        level = self._how.classes
        told = level_told(self._how.classes)
        if level == "auto":
            tops = {key[0] for key in parts}
            level, inference = level_of(
                [each for each in start.branches if each.name in tops],
                dict.fromkeys(around.values()),
                is_chosen=self._how.is_chosen,
            )
            told = [inference] if inference is not None else []
        self._inferences += told
        cut = {"top": slice(0, 1), "inner": slice(-1, None)}.get(level, slice(None))
        names = unique_paths(dict.fromkeys(key[cut] for key in around.values()))
        for key, branches in found.folders.items():
            if (part := parts[key]) is not None:
                self._take(part, names[around[key][cut]], branches)

    # classes -------------------------------------------------------------------------------

    def _read_classes(self, start: Branch) -> None:
        """Reads the classes of a folder without parts."""
        if self._how.classes == "names":
            return
        level = self._how.classes
        is_flat = level == "auto" and self._how.parts != "none" and flat_parts(start) is not None
        if is_flat:
            return
        if level == "auto" and self._how.parts == "none":
            level = "path" if all(is_group(each) for each in start.branches) else "top"
        elif level == "auto" and self._how.parts == "merge":
            level = "inner"
        found = classes_below(
            start, level, has_aside=self._how.has_aside, is_chosen=self._how.is_chosen
        )
        self._aside += found.aside
        self._inferences += found.inferences or level_told(self._how.classes)
        for key, name in unique_paths(found.folders).items():
            self._take("train", name, found.folders[key])
        if self._how.parts == "auto":
            self._inferences += part_words(found.folders)

    def _take(self, part: PartName, name: str, branches: Iterable[Branch]) -> None:
        files = self._files[part].setdefault(name, [])
        for branch in branches:
            if branch.path not in self._used:
                self._used.add(branch.path)
                files.extend(self._without_masks(branch))

    def _without_masks(self, branch: Branch) -> list[str]:
        """The images of a folder without the masks and the like beside them."""
        if self._how.has_aside:
            return list(branch.pictures)
        stems = {file: PurePath(file).stem for file in branch.pictures}
        masks = made_of_others(stems.values())
        self._masks += [file for file in stems if stems[file] in masks]
        self._alike.update(ends_behind_others({*stems.values()} - masks))
        return [file for file in stems if stems[file] not in masks]

    # names of files ------------------------------------------------------------------------

    def _read_named_parts(self, start: Branch) -> bool:
        """Reads parts whose files are named by class; whether there are any."""
        parts = flat_parts(start) if self._how.parts != "none" else None
        if parts is None or "train" not in parts.folders:
            return False
        if self._how.classes not in {"auto", "names"}:
            return False
        ends = {part: tuple(map(inner_end, each)) for part, each in parts.folders.items()}
        named = {
            part: by_name([file for each in folders for file in each.pictures])
            for part, folders in ends.items()
        }
        num_train = sum(len(each.pictures) for each in ends["train"])
        if self._how.classes != "names" and not is_evident(named["train"], num_train):
            return False
        self._inferences.append(
            names_inference(named["train"], is_set=self._how.classes == "names")
        )
        self._take_named(ends, named)
        self._inferences.insert(0, self._parts_inference(parts, []))
        return True

    def _take_named(
        self,
        ends: Mapping[PartName, tuple[Branch, ...]],
        named: Mapping[PartName, dict[str, list[str]]],
    ) -> None:
        """Adds the files of each part that have one of the training part's classes in their
        names.
        """
        self._files["train"] = named["train"]
        for part, folders in ends.items():
            found = matched(named[part], named["train"])
            for name, known in found.names.items():
                if part != "train":
                    self._files[part].setdefault(known, []).extend(named[part][name])
            if taken := sum(len(named[part][name]) for name in found.names):
                self._used.update(each.path for each in folders)
                self._note_unnamed(sum(len(each.pictures) for each in folders) - taken)
        if self._how.parts == "merge":
            self._merge()

    def _note_unnamed(self, number: int) -> None:
        if number:
            self._notes.append(f"{plural(number, 'image')} without a class in the name: not used.")

    def _read_names(self, start: Branch) -> None:
        """Takes the classes in the names of the files of one folder."""
        end = end_of(start)
        files = list(end.pictures)
        found = by_name(files)
        is_set = self._how.classes == "names"
        if len(found) < 2 or not (is_set or is_evident(found, len(files))):
            return
        self._files["train"] = found
        self._used = {end.path}
        self._inferences[:] = [names_inference(found, is_set=is_set)]
        self._note_unnamed(len(files) - sum(map(len, found.values())))
