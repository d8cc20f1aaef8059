"""Labels that are text: bytes of any encoding, words and numbers that mean a missing label."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from workbench.core.class_names import normal
from workbench.core.format import list_text, plain_name, plural
from workbench.core.params import ChoiceParam, Params, TextParam
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.encodings import FoundEncoding, find_encoding
from workbench.pictures.listed.given import ENCODINGS, NONE
from workbench.pictures.listed.names import MISSING

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
