"""Labels that are text: bytes of any encoding, words and numbers that mean a missing label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.core.format import list_text, plain_name, plural
from workbench.core.outside_text import normal
from workbench.core.params import ChoiceParam, Params, TextParam
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.encodings import FoundEncoding, find_encoding
from workbench.pictures.listed.cells import flag_of, part_of_flag, split_doubts
from workbench.pictures.listed.column import FOLDS, MISSING, Column, part_of_word
from workbench.pictures.listed.given import ENCODINGS, NONE

# said parts ----------------------------------------------------------------------------------
# Parts of a data set that a feature or an array says: words such as train and test, or yes and no.
#
# The words are those of split columns of tables.

UNDIVIDED = Option(NONE, "none: all images are divided")
"""Offers that nothing says the parts."""

_NAMED = 3


@dataclass(frozen=True)
class SaidParts:
    """The feature or array that says the part of each image.

    Attributes:
        name: Its name; "" for none.
        parts: The part of each image, "" for none; those that were given where nothing says it.
        inferences: How it was found.
    """

    name: str
    parts: Sequence[str]
    inferences: tuple[Inference, ...] = ()


def column_of(name: str, cells: Sequence[str]) -> Column:
    """A feature as a column of a table: its name is what follows the last slash."""
    return Column(0, name.rsplit("/", 1)[-1], cells)


def may_say_parts(column: Column) -> bool:
    """Whether a column has a name for parts, or words for parts alone."""
    return bool(column.values) and (column.is_named_split or _has_parts_alone(column))


def _has_parts_alone(column: Column) -> bool:
    return column.is_split and column.label_rank is None and not column.is_flag


def said_parts(
    cells: Mapping[str, Sequence[str]],
    before: Sequence[str],
    labels: Sequence[str],
    given: str,
    *,
    where: str,
    noun: str,
) -> SaidParts:
    """The feature that divides the images, and their parts.

    Args:
        cells: What the features hold that may say the part, one for each image.
        before: The part that each image has otherwise.
        labels: The label of each image; none where they are not known.
        given: The feature that a person has chosen; "" for none.
        where: How messages name the source.
        noun: "feature" or "array".

    Raises:
        DatasetError: it holds other words than those of parts.
    """
    columns = {name: column_of(name, each) for name, each in cells.items()}
    named = [n for n, each in columns.items() if each.is_named_split and len(each.values) > 1]
    fit = [name for name in named if columns[name].is_split]
    fit += [n for n, each in columns.items() if n not in fit and _has_parts_alone(each)]
    chosen = [given] if given else fit or named[:1]
    for name in chosen:
        column = columns[name]
        if not column.is_split:
            return _strange(column, before, where, noun, is_told=bool(given))
        parts = _parts(column)
        if {"train"} < {*parts}:
            is_other = len({*before}) > 1 and parts != list(before)
            doubts = ["The names of the files say other parts."] if is_other else []
            found = _inference(column, parts, labels, noun, doubts)
            found = replace(found, value=plain_name(name), is_told=bool(given))
            return SaidParts(name, parts, (found,))
    return SaidParts("", before)


def _parts(column: Column) -> list[str]:
    """The parts that yes and no, or words, say."""
    flag, has_test = flag_of(column), column.has_test
    return [
        part_of_flag(flag, cell) if flag else part_of_word(cell, has_test=has_test) or "train"
        for cell in column.cells
    ]


def _inference(
    column: Column,
    parts: Sequence[str],
    labels: Sequence[str],
    noun: str,
    doubts: Sequence[str],
) -> Inference:
    flag = flag_of(column)
    more = split_doubts(column, flag, [(each,) for each in labels], has_test=column.has_test)
    words = ", ".join(f"{part} {n:,}" for part, n in sorted(Counter(parts).items()))
    evidence = f"it means {flag} by yes" if flag else "its words are parts"
    return Inference(
        f"split_{noun}", f"The split {noun}", column.title, f"{evidence}: {words}",
        " ".join([*doubts, *more]), "split", (UNDIVIDED,),
    )  # fmt: skip


def _strange(
    column: Column, before: Sequence[str], where: str, noun: str, *, is_told: bool
) -> SaidParts:
    """What is named like a split, or chosen for it, without words for parts alone."""
    unknown = [value for value in column.values if not part_of_word(value)]
    if is_told or len(unknown) < len(column.values):
        raise DatasetError(
            f"The split {noun} holds an unknown word.",
            where=f"{where}, {column.title}",
            received=plain_name(unknown[0]) if unknown else "no text",
            expected="train, valid or test",
            fix=f"Set the split {noun} to {NONE}, or to another one.",
        )
    words = list_text([plain_name(value) for value in unknown[:_NAMED]])
    is_fold = column.is_number and column.key in FOLDS
    doubt = "" if is_fold else "It may divide the images, but none of its words is a part."
    evidence = f"{column.title} holds {words}"
    found = Inference(f"split_{noun}", f"The split {noun}", "none", evidence, doubt)
    return SaidParts("", before, (found,))


# texts ---------------------------------------------------------------------------------------

Label = str | int

ENCODING = ChoiceParam(
    "encoding",
    "auto",
    "How labels that are bytes are encoded.",
    title="Encoding",
    choices=tuple(ENCODINGS),
    titles={"auto": "automatic", **{key: words for key, words in ENCODINGS.items() if words}},
    is_advanced=True,
)
MISSING_LABELS = TextParam(
    "missing",
    "",
    "Labels that mean that an image has none, with commas between them, such as -1; none for no "
    "label; empty: the usual words (nan, NA, null, ?, -) and empty text.",
    title="Missing labels",
    is_advanced=True,
)
FIRST = ChoiceParam(
    "first_label",
    "auto",
    "The number of the first class name, where labels are numbers of names.",
    title="Labels count from",
    choices=("auto", "0", "1"),
    titles={"auto": "automatic"},
    is_advanced=True,
)

_OPTIONS = 4
_SHOWN = 3
_LIKE_A_CLASS = 0.05  # of the images: a word for a missing label that is so frequent may be one
_FILLERS = frozenset({99, 255, 999, 9999, 65_535, 2**31 - 1, 2**32 - 1, 2**63 - 1})
_APART = 2  # a filler is larger than the largest other label, so many times


@dataclass(frozen=True)
class LabelSettings:
    """What a person has set about labels; "" and "auto" where it is inferred.

    Attributes:
        encoding: A key of ENCODINGS.
        missing: Labels that mean none, with commas between them; NONE for no label.
        first: The number of the first class name: auto, 0 or 1.
    """

    encoding: str = "auto"
    missing: str = ""
    first: str = "auto"

    @staticmethod
    def of(params: Params) -> LabelSettings:
        """Out of the parameters of a data set."""
        values = (
            str(params.get(key.key, key.default)) for key in (ENCODING, MISSING_LABELS, FIRST)
        )
        return LabelSettings(*values)


# bytes -------------------------------------------------------------------------------------


def decode_labels(
    values: Iterable[bytes], settings: LabelSettings, where: str
) -> tuple[dict[bytes, str], tuple[Inference, ...]]:
    """The text of each label; different bytes that are no UTF-8 stay different.

    Raises:
        DatasetError: the bytes are no text in the encoding that is set, or in any.
    """
    texts = sorted(set(values))
    if settings.encoding != "auto":
        found = _decoded(texts, settings.encoding)
        if found is None:
            raise _no_text(texts, where, settings.encoding)
        return found, (_encoding_inference(texts, settings.encoding, ""),)
    found = _decoded(texts, "utf-8")
    if found is not None:
        return found, ()
    likely = find_encoding(texts, can_be_utf8=False)
    for encoding in (likely.key, "cp1252", "latin-1"):
        found = _decoded(texts, encoding)
        if found is not None and len(set(map(normal, found.values()))) == len(texts):
            evidence = "they are not UTF-8"
            return found, (_encoding_inference(texts, encoding, evidence, likely, found),)
    raise _no_text(texts, where, "any encoding")


def _decoded(texts: Collection[bytes], encoding: str) -> dict[bytes, str] | None:
    try:
        return {text: text.decode(encoding) for text in texts}
    except UnicodeDecodeError:
        return None


def _encoding_inference(
    texts: Collection[bytes],
    encoding: str,
    evidence: str,
    likely: FoundEncoding | None = None,
    found: Mapping[bytes, str] | None = None,
) -> Inference:
    first = (*likely.others, *likely.ranked) if likely is not None else ()
    foreign = [text for text in (found or {}).values() if not text.isascii()]
    shown = list_text([f"“{plain_name(text)}”" for text in foreign[:_SHOWN]]) if foreign else ""
    others = [
        Option(key, ENCODINGS[key])
        for key in dict.fromkeys((*first, *ENCODINGS))
        if key not in {encoding, "auto", "utf-8"} and _decoded(texts, key) is not None
    ]
    doubt = f"The letters of {shown} may be others." if found else ""
    return Inference(
        "encoding", "The encoding of the labels", ENCODINGS.get(encoding) or encoding, evidence,
        doubt, ENCODING.key, tuple(others[:_OPTIONS]), is_told=found is None,
    )  # fmt: skip


def _no_text(texts: Collection[bytes], where: str, encoding: str) -> DatasetError:
    return DatasetError(
        "The labels are bytes that are no text.",
        where=where,
        received=", ".join(map(repr, list(texts)[:_SHOWN]))[:200],
        expected=f"text in {'UTF-8' if encoding == 'any encoding' else encoding}",
        fix="Choose another encoding, or write the labels as UTF-8 or as numbers.",
    )


# missing -----------------------------------------------------------------------------------


def missing_labels(
    counts: Mapping[Label, int],
    settings: LabelSettings,
    *,
    known: Collection[str] = (),
    noun: str = "image",
    none: Collection[int] = (),
) -> tuple[set[Label], tuple[Inference, ...]]:
    """The labels that are none, and what was inferred about them.

    Args:
        counts: How often each label occurs; texts in their normal form.
        settings: What is set.
        known: Labels that the file names as classes.
        noun: What is counted, for messages.
        none: Numbers that mean no label in files of this kind.
    """
    given = settings.missing.strip()
    if given:
        words = {word.strip().lower() for word in given.split(",")}
        found = {each for each in counts if given != NONE and str(each).lower() in words}
        value = list_text(sorted(words)) if given != NONE else "none"
        what = "Labels that mean none"
        return found, (
            Inference("missing_labels", what, value, param=MISSING_LABELS.key, is_told=True),
        )
    absent = {
        each
        for each in counts
        if (each in none or (isinstance(each, str) and _is_missing(each))) and each not in known
    }
    absent = absent if len(absent) < len(counts) else set()
    inferences = [_missing_words(absent, counts, noun)] if absent else []
    inferences += _fillers({each: n for each, n in counts.items() if each not in absent}, noun)
    return absent, tuple(inferences)


def _is_missing(text: str) -> bool:
    """Whether a text is a word for a missing label; "None" as Python writes it is one."""
    return not text or text.lower() in MISSING or text == "None"


def _missing_words(absent: set[Label], counts: Mapping[Label, int], noun: str) -> Inference:
    number = sum(counts[each] for each in absent)
    words = [f"“{plain_name(each)}”" if each else "empty text" for each in sorted(map(str, absent))]
    is_large = number >= _LIKE_A_CLASS * sum(counts.values()) or bool({"None", ""} & absent)
    option = Option(NONE, "no label: they are classes")
    return Inference(
        "missing_labels", "Labels that mean none", list_text(words[:_SHOWN]),
        f"{plural(number, noun)}, not used", "It may be a class." if is_large else "",
        MISSING_LABELS.key, (option,),
    )  # fmt: skip


def _fillers(counts: Mapping[Label, int], noun: str) -> list[Inference]:
    """A doubt about a number that often stands for no label: one that is apart from the others."""
    numbers = {value: each for each in counts if (value := _number(each)) is not None}
    if len(numbers) != len(counts) or len(numbers) < 3:
        return []
    low, high = min(numbers), max(numbers)
    others = sorted(numbers)
    odd = []
    if low < 0 <= others[1]:
        odd.append(numbers[low])
    if high in _FILLERS and high > _APART * max(1, others[-2]):
        odd.append(numbers[high])
    if not odd:
        return []
    count = sum(counts[each] for each in odd)
    words = list_text(list(map(str, odd)))
    option = Option(",".join(map(str, odd)), f"no label: {words}")
    doubt = "It often means that an image has no label: leave the class out in that case."
    what = f"The label {words}"
    where = plural(count, noun)
    options = (option,)
    return [Inference("missing_labels", what, "a class", where, doubt, MISSING_LABELS.key, options)]


def _number(label: Label) -> int | None:
    try:
        return int(label)
    except ValueError:
        return None


# parts -------------------------------------------------------------------------------------


def untrained(
    parts: Mapping[str, Collection[int]], names: Collection[str]
) -> tuple[Inference, ...]:
    """A doubt about classes that have images in other parts than training only.

    Args:
        parts: The class numbers that occur in each part; "train" is one of them.
        names: The names of the classes.
    """
    train = set(parts["train"])
    listed = list(names)
    lost = sorted({number for each in parts.values() for number in each} - train)
    if not lost:
        return ()
    shown = list_text([f"“{listed[number]}”" for number in lost[:_SHOWN]])
    shown += f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    doubt = "The labels of the parts may be written in different ways: they cannot be learned."
    for part, numbers in parts.items():
        if part != "train" and {number + 1 for number in train} == set(numbers):
            doubt = f"Those of {part} may count from 1, and those of training from 0."
    return (
        Inference(
            "untrained_classes", "Classes without training images", shown,
            "they are in other parts only", doubt,
        ),
    )  # fmt: skip
