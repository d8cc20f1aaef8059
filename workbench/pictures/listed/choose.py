"""Choice of the columns of a table that are image, label and part: set, inferred, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.core.format import list_text, plain_name
from workbench.core.outside_text import folded
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.cells import (
    AGREEING,
    Chosen,
    PathParts,
    agrees,
    flag_of,
    folders_of,
    has_several,
    one_hot,
    part_columns,
    path_parts,
    prefix_of_label,
    split_doubts,
    without_classes,
)
from workbench.pictures.listed.column import (
    FOLDS,
    LABEL_ORDER,
    WEAK_RANK,
    Column,
    ColumnNames,
    part_of_cell,
    part_of_word,
    titles_of,
)
from workbench.pictures.listed.files import Files
from workbench.pictures.listed.given import FOLDERS, INDICATORS, NONE, Given
from workbench.pictures.listed.text import EXPECTED, refused

_MOST_OPTIONS = 8
_NO_NAME = "No name says that it is the label."


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
    _names: ColumnNames = field(init=False)
    _found: list[Inference] = field(default_factory=list)
    _strange: list[tuple[int, Inference]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names = ColumnNames(self.path, self.columns)

    def choose(self, image: int, names: Sequence[str]) -> Chosen:
        """The columns beside that of the images, whose files have these names.

        Raises:
            DatasetError: a column that was set is not there, or none is plainly the label.
        """
        others = [each for each in self.columns if each.number != image]
        folders = folders_of(names)
        split = self._split(others, names)
        of_parts = {split.split, *(number for number, _ in split.part_columns)}
        others = [each for each in others if each.number not in of_parts]
        labels = self._labels(others, folders)
        self._found += [each for number, each in self._strange if number not in labels]
        several = [self.columns[number] for number in labels[:-1] and labels]
        prefix = prefix_of_label(several) if several else ""
        chosen = replace(split, image=image, labels=labels, label_prefix=prefix)
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
            found = self._names.named(self.given.image, "image")
            self._say(IMAGE, found.title, is_told=True)
            return found.number
        scores = {each.number: self._image_score(each) for each in self.columns}
        best = max(scores, key=lambda number: (scores[number][0], -number))
        score, evidence = scores[best]
        if score <= 0:
            received = f"the columns {', '.join(self._names.titles())}"
            raise refused(self.path, received, EXPECTED, _FIX_IMAGE)
        rivals = [n for n, (other, _) in scores.items() if n != best and other > score - 0.5 > 0]
        others = [self.columns[number] for number in rivals]
        doubt = f"{list_text([each.title for each in others])} may be meant." if others else ""
        self._say(IMAGE, self.columns[best].title, evidence, doubt, map(self._names.option, others))
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

    def _split(self, others: Sequence[Column], names: Sequence[str]) -> Chosen:
        if self.given.split:
            return self._given_split(self.given.split, names)
        if found := part_columns(others):
            titles = titles_of([self.columns[number] for number, _ in found])
            self._say(SPLIT, f"the columns {titles}", "each line is marked in one", "", [_NO_SPLIT])
            return Chosen(0, part_columns=found)
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
        if column := self._split_named_as_label(others):
            return self._column_split(column)
        if paths := path_parts(names):
            doubt = "The names of files may say something else than their part."
            doubt = doubt if paths.is_of_names else ""
            evidence = f"named {list_text(paths.words)}"
            self._say(SPLIT, _where(paths), evidence, doubt, [_NO_SPLIT])
            return Chosen(0, paths=paths)
        return Chosen(0)

    def _split_named_as_label(self, others: Sequence[Column]) -> Column | None:
        """A column of the words of parts that is named like a label (kind, type), where another
        one may be the label.
        """
        for each in others:
            rest = [other for other in others if other is not each and not other.why_no_label()]
            better = [other for other in rest if _by_name(other) < _by_name(each)]
            is_of_parts = each.is_split and len(each.parts) > 1 and "train" in each.parts
            if is_of_parts and not each.is_flag and (better or (rest and each.label_rank)):
                return each
        return None

    def _given_split(self, given: str, names: Sequence[str]) -> Chosen:
        paths = (path_parts(names) or PathParts()) if given == FOLDERS else None
        value = "none" if given == NONE else _where(paths) if paths else ""
        found = None if value else self._names.named(given, "split")
        self._say(
            SPLIT,
            value or (found.title if found else ""),
            options=[Option("", "as it is inferred")],
            is_told=True,
        )
        if found is None:
            return Chosen(0, paths=paths)
        return Chosen(0, split=found.number, flag=flag_of(found), has_test=found.has_test)

    def _column_split(self, column: Column) -> Chosen:
        flag = flag_of(column)
        evidence = f"it means {flag} by yes" if flag else column.part_words
        is_plain = not column.label_rank or any(each.label_rank == 0 for each in self.columns)
        doubt = "" if column.label_rank is None or (column.label_rank and is_plain) else _LABEL_NAME
        self._say(SPLIT, column.title, evidence, doubt, [_NO_SPLIT])
        return Chosen(0, split=column.number, flag=flag, has_test=column.has_test)

    def _doubt_split(self, chosen: Chosen) -> None:
        """Adds to the inference of a split column why it may be something else."""
        if chosen.split < 0 or self.given.split:
            return
        column = self.columns[chosen.split]
        labels = zip(*(self.columns[number].cells for number in chosen.labels), strict=True)
        words = split_doubts(column, chosen.flag, list(labels), has_test=chosen.has_test)
        self._found = [
            replace(each, doubt=" ".join(filter(None, [each.doubt, *words])))
            if each.key == SPLIT[0]
            else each
            for each in self._found
        ]

    def _say_strange_split(self, column: Column) -> None:
        """A column that is named like a split, without its words."""
        known = [value for value in column.values if part_of_cell(value)]
        if known:
            words = next(value for value in column.values if not part_of_cell(value))
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
        is_fold = is_fold and (column.key == "fold" or column.is_even)
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
        groups = one_hot(others)
        fitting = [each for each in fit if each.label_rank is not None]
        named = sorted(without_classes(fitting, groups), key=_by_name)
        by_folder = [each for each in fit if agrees(each, folders)]
        constant = [each for each in others if each.label_rank == 0 and len(each.values) == 1]
        if agreeing:
            found = self._take_agreeing(agreeing, fit)
        elif named:
            found = self._take_named(named, fit)
        elif groups:
            found = self._take_indicators(groups, others)
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
            groups = one_hot(others)
            columns = tuple(groups[0] if groups else (e for e in others if e.is_binary))
        elif given != FOLDERS:
            columns = self._names.all_named(given)
        if given == INDICATORS and len(columns) < 2:
            raise self._no_label(others, "There are no columns of zeros and ones.")
        words = titles_of(columns) if columns else _OF_FOLDERS
        options = [self._names.option(each) for each in fit if each not in columns]
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

    def _take_agreeing(self, agreeing: list[Column], fit: Sequence[Column]) -> tuple[int, ...]:
        """Takes the best named column with classes of the model; predictions come last."""
        best = min(agreeing, key=lambda each: ("predict" in each.key, *_by_name(each)))
        doubt = "It holds predictions by its name." if "predict" in best.key else ""
        return self._take(best, "its values are classes of the model", agreeing, fit, doubt)

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
            [self._names.option(each) for each in options[:_MOST_OPTIONS]],
        )
        return (best.number,)

    def _take_indicators(
        self, groups: Sequence[Sequence[Column]], others: Sequence[Column]
    ) -> tuple[int, ...]:
        """Takes the first group. Others that are as good raise a doubt; beside two columns that
        may be any property, each other column of yes and no does.
        """
        best, prefix = groups[0], prefix_of_label(groups[0])
        rivals = [group for group in groups[1:] if len(group) == len(best)]
        rivals = [group for group in rivals if bool(prefix_of_label(group)) == bool(prefix)]
        if len(best) == 2 and not prefix:
            used = [each for group in (best, *rivals) for each in group]
            rest = [each for each in others if each.is_indicator and each not in used]
            rivals += [[each] for each in rest if len(each.values) > 1]
        titles = list_text([titles_of(each) for each in rivals[:4]]) if rivals else ""
        self._say(
            LABEL,
            f"the columns {titles_of(best)}",
            "each line has a 1 in one of them",
            f"{titles} may be meant." if rivals else "",
            [self._names.option(*each) for each in rivals[:_MOST_OPTIONS]],
        )
        return tuple(each.number for each in best)

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
            one = "The table gives an image several labels."
            none = "Most lines have no 1 in the columns of zeros and ones."
            what = what or (one if has_several(binary) else none)
        return DatasetError(
            what or "No column of the table is plainly the label.",
            where=str(self.path),
            received="; ".join(reasons)[:400] or "no other column",
            expected="a column whose values are the classes, each on several lines",
            fix=f'Choose the column: "csv:{self.path.name}?label=NAME", or Label column in the '
            "form of the data source.",
        )

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
_LABEL_NAME = "Its name may mean a label."
_NO_SPLIT = Option(NONE, "none: all images are divided")
_FIX_IMAGE = (
    "Write it as text, one image per line, for example photos/1.jpg,rose, or choose the column "
    'with the files: "csv:PATH?image=NAME".'
)


def _by_name(column: Column) -> tuple[int, int]:
    rank = column.label_rank
    return (9 if rank is None else rank), LABEL_ORDER.get(column.key, 9999)


def _is_real(column: Column) -> bool:
    return column.is_number and not column.is_whole


def _where(paths: PathParts) -> str:
    """What in the paths names the part."""
    if paths.is_of_names:
        return "the first word of each file name"
    if paths.place == 0:
        return "the first folder of each path"
    return "a folder of each path"
