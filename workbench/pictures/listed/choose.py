"""Which columns of a table are the image, the label and the part: set, inferred, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.core.class_names import folded
from workbench.core.format import list_text, plain_name
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.evidence import AGREEING, agrees, folders_of, one_hot
from workbench.pictures.listed.files import Files
from workbench.pictures.listed.flags import flag_of, split_doubts
from workbench.pictures.listed.given import FOLDERS, INDICATORS, NONE, Given
from workbench.pictures.listed.names import (
    FOLDS,
    LABEL_ORDER,
    WEAK_RANK,
    part_of_word,
    squeezed,
)
from workbench.pictures.listed.text import EXPECTED, refused

_MOST_OPTIONS = 8
_NO_NAME = "No name says that it is the label."


@dataclass(frozen=True)
class Chosen:
    """The columns that are read.

    Attributes:
        image: Place of the column with the files.
        folder: Place of the column with their folders, -1 for none.
        labels: Places of the columns with the label: one, or several of zeros and ones; none where
            the folder is the label.
        split: Place of the column with the part, -1 for none.
        flag: The part that a split column of yes and no means by yes; "" for a column of words.
        has_test: Whether a word of the split column is plainly the test part.
        has_part_folders: Whether the first folder of a path names the part.
        unused: The titles of the other columns, with the reason where one is known.
        inferences: How they were found.
    """

    image: int
    folder: int = -1
    labels: tuple[int, ...] = ()
    split: int = -1
    flag: str = ""
    has_test: bool = False
    has_part_folders: bool = False
    unused: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()


@dataclass
class Chooser:
    """Decides on the columns of one table.

    Attributes:
        path: The table, for messages.
        columns: Its columns, without the header.
        given: What a person has set.
        files: Finds the files of cells.
        classes: Names that labels are known to have; none where they are not known.
        has_header: Whether the columns have names.
    """

    path: Path
    columns: Sequence[Column]
    given: Given
    files: Files
    classes: Collection[str] = ()
    has_header: bool = True
    _found: list[Inference] = field(default_factory=list)
    _strange: list[tuple[int, Inference]] = field(default_factory=list)

    def choose(self, image: int, names: Sequence[str]) -> Chosen:
        """The columns beside that of the images, whose files have these names.

        Raises:
            DatasetError: a column that was set is not there, or none is plainly the label.
        """
        others = [each for each in self.columns if each.number != image]
        folders = folders_of(names)
        split = self._split(others, folders)
        others = [each for each in others if each.number != split.split]
        labels = self._labels(others, folders)
        self._found += [each for number, each in self._strange if number not in labels]
        chosen = replace(split, image=image, labels=labels)
        self._doubt_split(chosen)
        unused = [
            f"{each.title} ({why})" if (why := each.why_no_label()) else each.title
            for each in others
            if each.number not in labels
        ]
        return replace(chosen, unused=tuple(unused), inferences=tuple(self._found))

    # image ---------------------------------------------------------------------------------

    def image(self) -> int:
        """The column with the files; raises DatasetError where there is none."""
        if self.given.image:
            found = self._named(self.given.image, "image")
            self._say(IMAGE, found.title, is_told=True)
            return found.number
        scores = {each.number: self._image_score(each) for each in self.columns}
        best = max(scores, key=lambda number: (scores[number][0], -number))
        score, evidence = scores[best]
        if score <= 0:
            received = f"the columns {', '.join(self._titles())}"
            raise refused(self.path, received, EXPECTED, _FIX_IMAGE)
        rivals = [n for n, (other, _) in scores.items() if n != best and other > score - 0.5 > 0]
        others = [self.columns[number] for number in rivals]
        doubt = f"{list_text([each.title for each in others])} may be meant." if others else ""
        self._say(IMAGE, self.columns[best].title, evidence, doubt, map(self._option, others))
        return best

    def _image_score(self, column: Column) -> tuple[float, str]:
        """How well a column names images, and by what."""
        if not column.values or column.is_flag:
            return 0.0, ""
        is_name = column.share_of_paths > 0
        is_many = len(column.values) * 2 > column.num_filled and not _is_real(column)
        could_be = is_name or column.is_named_image or is_many
        there = self.files.share_of(column.values, is_deep=True) if could_be else 0.0
        score = 2 * there + column.share_of_paths
        evidence = f"{there:.0%} of its cells name files that are there" if there else ""
        if column.is_named_image and is_many:
            score += 0.6
            evidence = evidence or "by its name"
        return score - (1.0 if column.is_of_other_files else 0.0), evidence or "image endings"

    # split ---------------------------------------------------------------------------------

    def _split(self, others: Sequence[Column], folders: Sequence[Sequence[str]]) -> Chosen:
        given = self.given.split
        if given:
            return self._given_split(given)
        named = [each for each in others if each.is_named_split and each.values]
        fit = [each for each in named if each.is_split]
        if not fit and len(others) > 1:
            fit = [
                each
                for each in others
                if each.is_split and each.label_rank is None and not each.is_flag
            ]
        if fit:
            return self._column_split(fit[0])
        for each in named:
            self._say_strange_split(each)
        parts = {part_of_word(each[0]) for each in folders if each}
        if folders and all(folders) and None not in parts and len(parts) > 1 and "train" in parts:
            names = list_text(sorted(map(str, parts)))
            options = [Option(NONE, "none: all images are divided")]
            self._say(SPLIT, _OF_FIRST_FOLDERS, f"named {names}", "", options)
            return Chosen(0, has_part_folders=True)
        return Chosen(0)

    def _given_split(self, given: str) -> Chosen:
        value = {NONE: "none", FOLDERS: _OF_FIRST_FOLDERS}.get(given, "")
        found = None if value else self._named(given, "split")
        self._say(
            SPLIT,
            value or (found.title if found else ""),
            options=[Option("", "as it is inferred")],
            is_told=True,
        )
        if found is None:
            return Chosen(0, has_part_folders=given == FOLDERS)
        return Chosen(0, split=found.number, flag=flag_of(found), has_test=found.has_test)

    def _column_split(self, column: Column) -> Chosen:
        flag = flag_of(column)
        evidence = f"it means {flag} by yes" if flag else "its words are parts"
        options = [Option(NONE, "none: all images are divided")]
        self._say(SPLIT, column.title, evidence, "", options)
        return Chosen(0, split=column.number, flag=flag, has_test=column.has_test)

    def _doubt_split(self, chosen: Chosen) -> None:
        """Adds to the inference of a split column why it may be something else."""
        if chosen.split < 0 or self.given.split:
            return
        column = self.columns[chosen.split]
        labels = zip(*(self.columns[number].cells for number in chosen.labels), strict=True)
        words = split_doubts(column, chosen.flag, list(labels), has_test=chosen.has_test)
        self._found = [
            replace(each, doubt=" ".join(words)) if each.key == SPLIT[0] else each
            for each in self._found
        ]

    def _say_strange_split(self, column: Column) -> None:
        """A column that is named like a split, without its words."""
        known = [value for value in column.values if part_of_word(value)]
        if known:
            words = next(value for value in column.values if not part_of_word(value))
            raise DatasetError(
                "The split column holds an unknown word.",
                where=f"{self.path}, {column.title}",
                received=plain_name(words),
                expected="train, valid or test",
                fix=f'Correct it, or read the table without: "csv:{self.path.name}?split=none".',
            )
        words = list_text([plain_name(value) for value in list(column.values)[:3]])
        doubt = "It may divide the images, but none of its words is a part."
        is_fold = column.is_number and column.key in FOLDS
        evidence = f"{column.title} holds {words}"
        inference = Inference(*SPLIT[:2], "none", evidence, "" if is_fold else doubt, SPLIT[2])
        self._strange.append((column.number, inference))

    # label ---------------------------------------------------------------------------------

    def _labels(
        self, others: Sequence[Column], folders: Sequence[Sequence[str]]
    ) -> tuple[int, ...]:
        fit = [each for each in others if not self._why_not(each, others)]
        if self.given.label:
            return self._given_label(self.given.label, others, fit)
        known = {folded(name) for name in self.classes}
        agreeing = [each for each in others if known and each.share_in(known) >= AGREEING]
        named = sorted((each for each in fit if each.label_rank is not None), key=_by_name)
        by_folder = [each for each in fit if agrees(each, folders)]
        constant = [each for each in others if each.label_rank == 0 and len(each.values) == 1]
        if agreeing:
            found = self._take(agreeing[0], "its values are classes of the model", (), fit)
        elif named:
            found = self._take_named(named, fit)
        elif indicators := one_hot(others):
            found = self._take_indicators(indicators)
        elif by_folder:
            found = self._take(by_folder[0], "its values are the folders of the images", (), fit)
        elif fit:
            found = self._take_by_content(fit, others)
        elif constant:
            found = self._take(constant[0], "by its name", (), ())
        else:
            found = self._take_folders(others, folders)
        return found

    def _why_not(self, column: Column, others: Sequence[Column]) -> str:
        """Why a column cannot be the label; few lines with a class each are allowed by name."""
        why = column.why_no_label()
        if why or column.label_rank is not None or len(others) == 1:
            return why
        return "hardly a value twice" if column.is_mostly_single and column.num_filled > 2 else ""

    def _given_label(
        self, given: str, others: Sequence[Column], fit: Sequence[Column]
    ) -> tuple[int, ...]:
        columns: tuple[Column, ...] = ()
        if given == INDICATORS:
            columns = tuple(one_hot(others) or [each for each in others if each.is_binary])
        elif given != FOLDERS:
            columns = self._all_named(given)
        if given == INDICATORS and len(columns) < 2:
            raise self._no_label(others, "There are no columns of zeros and ones.")
        words = _titles(columns) if columns else _OF_FOLDERS
        options = [self._option(each) for each in fit if each not in columns]
        self._say(LABEL, words, options=[Option("", "as it is inferred"), *options], is_told=True)
        return tuple(each.number for each in columns)

    def _take_named(self, named: list[Column], fit: Sequence[Column]) -> tuple[int, ...]:
        best = named[0]
        texts = [each for each in fit if not each.is_number and each.is_same_as(best)]
        if best.is_whole and texts:
            evidence = f"the names of the numbers in {best.title}"
            return self._take(min(texts, key=_by_name), evidence, (), fit)
        rank = best.label_rank or 0
        least = max(rank, 1 if rank else 0)
        rivals = [each for each in named[1:] if (each.label_rank or 0) <= least]
        rivals += [each for each in fit if each not in named and each.is_like_label(best)]
        if rank == WEAK_RANK:
            rivals = list(fit)
        return self._take(best, "by its name", rivals, fit)

    def _take_by_content(self, fit: Sequence[Column], others: Sequence[Column]) -> tuple[int, ...]:
        """Text goes before numbers, few values before many."""
        if len(fit) > 1 and all(each.is_binary for each in fit):
            raise self._no_label(others)
        best = min(fit, key=lambda each: (each.is_number, len(each.values)))
        if len(fit) > 1:
            return self._take(best, "its values repeat", fit, fit)
        if len(others) == 1:
            doubt = _NO_NAME if best.name else ""
            return self._take(best, "the only column besides", (), (), doubt)
        doubt = _NO_NAME if best.is_number or best.name else ""
        return self._take(best, "the only one whose values repeat", (), (), doubt)

    def _take(
        self,
        best: Column,
        evidence: str,
        rivals: Iterable[Column],
        fit: Sequence[Column],
        doubt: str = "",
    ) -> tuple[int, ...]:
        """Takes a column. Rivals that are no other names of the same classes raise a doubt; all
        that fit can be chosen.
        """
        others = [each for each in rivals if each is not best and not each.is_same_as(best)]
        doubts = [
            doubt,
            f"{list_text([each.title for each in others[:4]])} may be meant." if others else "",
        ]
        if len(best.values) == best.num_filled > 1:
            doubts.append("Each line has a label of its own.")
        elif best.is_mostly_single and best.num_filled > 2:
            doubts.append("Most labels occur once.")
        options = [*others, *(each for each in fit if each is not best and each not in others)]
        self._say(
            LABEL,
            best.title,
            evidence,
            " ".join(filter(None, doubts)),
            [self._option(each) for each in options[:_MOST_OPTIONS]],
        )
        return (best.number,)

    def _take_indicators(self, columns: Sequence[Column]) -> tuple[int, ...]:
        self._say(LABEL, f"the columns {_titles(columns)}", "each line has a 1 in one of them")
        return tuple(each.number for each in columns)

    def _take_folders(
        self, others: Sequence[Column], folders: Sequence[Sequence[str]]
    ) -> tuple[int, ...]:
        names = [each[-1] for each in folders if each]
        counts = Counter(names)
        is_repeated = len(counts) >= 2 and len(counts) * 2 <= max(len(names), 4)
        if len(names) < len(folders) or not is_repeated or set(map(part_of_word, counts)) != {None}:
            raise self._no_label(others)
        shown = [
            f"{each.title}: {each.why_no_label() or 'values that hardly repeat'}" for each in others
        ]
        doubt = "No column is a label: " + "; ".join(shown[:6]) + "." if shown else ""
        doubt = doubt or "The table has no other column."
        self._say(LABEL, _OF_FOLDERS, f"the paths have {len(counts)} folders", doubt)
        return ()

    def _no_label(self, others: Sequence[Column], what: str = "") -> DatasetError:
        reasons = [f"{each.title} ({self._why_not(each, others) or 'could be'})" for each in others]
        binary = [each for each in others if each.is_binary]
        if len(binary) > 1 and len(binary) * 2 > len(others):
            what = what or "The table gives an image several labels."
        return DatasetError(
            what or "No column of the table is plainly the label.",
            where=str(self.path),
            received="; ".join(reasons)[:400] or "no other column",
            expected="a column whose values are the classes, each on several lines",
            fix=f'Choose the column: "csv:{self.path.name}?label=NAME", or Label column in the '
            "form of the data source.",
        )

    # naming --------------------------------------------------------------------------------

    def _named(self, given: str, param: str) -> Column:
        """The column that a name or number means; raises DatasetError."""
        text = given.strip()
        for form in (str, squeezed):
            found = [each for each in self.columns if each.name and form(each.name) == form(text)]
            if found:
                return found[0]
        if text.isdecimal() and 1 <= int(text) <= len(self.columns):
            return self.columns[int(text) - 1]
        raise DatasetError(
            f"The table has no such {param} column.",
            where=str(self.path),
            received=plain_name(given),
            expected="one of " + ", ".join(self._titles())[:300] + ", or its number",
        )

    def _all_named(self, given: str) -> tuple[Column, ...]:
        """One column whose name may hold commas, or several with commas between them."""
        try:
            return (self._named(given, "label"),)
        except DatasetError:
            if "," not in given:
                raise
        return tuple(self._named(each, "label") for each in given.split(","))

    def _option(self, column: Column) -> Option:
        same = [each for each in self.columns if each.key == column.key]
        is_named = bool(column.name) and len(same) == 1 and not column.name.strip().isdecimal()
        return Option(column.name if is_named else str(column.number + 1), column.title)

    def _titles(self) -> list[str]:
        return [each.title for each in self.columns]

    def _say(
        self,
        kind: tuple[str, str, str],
        value: str,
        evidence: str = "",
        doubt: str = "",
        options: Iterable[Option] = (),
        *,
        is_told: bool = False,
    ) -> None:
        key, what, param = kind
        found = Inference(key, what, value, evidence, doubt, param, tuple(options), is_told)
        self._found.append(found)


IMAGE = ("image_column", "The image column", "image")
LABEL = ("label_column", "The label column", "label")
SPLIT = ("split_column", "The split column", "split")
"""Key, words and parameter of the inferences."""

_OF_FOLDERS = "the folder of each image"
_OF_FIRST_FOLDERS = "the first folder of each path"
_FIX_IMAGE = (
    "Write it as text, one image per line, for example photos/1.jpg,rose, or choose the column "
    'with the files: "csv:PATH?image=NAME".'
)


def _titles(columns: Sequence[Column]) -> str:
    names = [each.title for each in columns]
    return ", ".join(names if len(names) <= 6 else [*names[:5], "…", names[-1]])


def _by_name(column: Column) -> tuple[int, int]:
    rank = column.label_rank
    return (9 if rank is None else rank), LABEL_ORDER.get(column.key, 9999)


def _is_real(column: Column) -> bool:
    return column.is_number and not column.is_whole
