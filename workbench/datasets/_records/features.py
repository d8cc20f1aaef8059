"""Choice of the features of an example that are the image and the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.core.format import list_text, plain_name
from workbench.core.specs import Inference, Option
from workbench.datasets._labels.texts import column_of
from workbench.datasets._records.frames import BadExampleError, Feature
from workbench.datasets._records.parts import cell_of, split_candidates
from workbench.pictures.listed.column import (
    LABEL_ORDER,
    LABEL_RANKS,
    LABEL_STEMS,
    WEAK_RANK,
    Column,
    squeezed,
)
from workbench.pictures.listed.given import NONE
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff

_IMAGES = ("image/encoded", "image", "image_raw", "image_bytes", "img", "picture", "encoded")
_TEXTS = ("image/class/text", "label/text", "class_name", "label_name", "text", "label", "class",
          "image/object/class/text")  # fmt: skip
_NUMBERS = ("image/class/label", "label", "class", "label_id", "class_id", "target", "y")
_ONE_HOT = ("one_hot_class", "one_hot", "label_one_hot", "label", "class")
"""Names under which they are looked for, the best first."""

_VAGUE = frozenset({"quality", "grade", "level", "severity", "kind", "type", "style", "output",
                    "answer", "annotation", "art", "material"})  # fmt: skip
"""Names that are often of the label, and as often of something else."""

_MAX_TEXT = 200
_MAX_LISTED = 12
_FEW = 10
"""Number of records from which on they do not have a class each."""
_FEW_RUNNING = 5
"""Number of records from which on consecutive numbers are no classes."""


@dataclass(frozen=True)
class Keys:
    """The features that hold the image and the label.

    Attributes:
        image: The name of the feature with the encoded image.
        label: The name of the feature with the label.
        width: The number of classes where labels are one-hot; 0 where they are single values.
        split: The name of the feature with the part that a person has chosen, NONE for no parts.
    """

    image: str
    label: str
    width: int = 0
    split: str = ""


class Surveyed(dict[str, Feature]):
    """The features of a record.

    Args:
        features: The features by name.
        name: The record, for messages.
    """

    def __init__(self, features: Mapping[str, Feature], name: str) -> None:
        super().__init__(features)
        self.name = name


@dataclass(frozen=True)
class FoundKeys:
    """The features that are read, and how they were found.

    Attributes:
        keys: Those of the image and the label.
        inferences: How they were found.
        splits: Those that may say the part of a record.
        others: Those that are neither image nor label, with their kind in words.
    """

    keys: Keys
    inferences: tuple[Inference, ...] = ()
    splits: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)

    def unused(self, split: str) -> list[str]:
        """A note of the features that are not used; `split` is used, too."""
        words = [f"{plain_name(n)} ({kind})" for n, kind in self.others.items() if n != split]
        if not words:
            return []
        more = [f"{len(words) - _MAX_LISTED:,} more"] if len(words) > _MAX_LISTED else []
        return [f"Features not used: {', '.join([*words[:_MAX_LISTED], *more])}."]


def find_keys(examples: Sequence[Surveyed], given: Keys) -> FoundKeys:
    """The features of some records, but for those that are `given`.

    Raises:
        BadExampleError: there is no image or no label, or not the feature that is given.
    """
    names = list(dict.fromkeys(name for example in examples for name in example))
    for name in (given.image, given.label, given.split):
        if name not in {"", NONE, *names}:
            raise BadExampleError(f"there is no feature “{plain_name(name)}”")
    images = [given.image] if given.image else _images(examples, names)
    if not images:
        raise BadExampleError("no feature is an encoded image (JPEG, PNG, ...)")
    labels = [given.label] if given.label else _with_likes(examples, names, images[0])
    if not labels:
        reasons = "; ".join(_reasons(examples, names, images[0]))
        raise BadExampleError(reasons or f"no feature is a label ({', '.join(_TEXTS[:4])}, ...)")
    width = _width([example[labels[0]] for example in examples if labels[0] in example])
    said = _image_inference(images, given), _label_inference(labels, examples, given)
    others = {
        name: next(example[name] for example in examples if name in example).words()
        for name in names
        if name not in {images[0], labels[0]}
    }
    splits = split_candidates(examples, list(others), given.split)
    return FoundKeys(Keys(images[0], labels[0], width), said, splits, others)


def _reasons(examples: Sequence[Surveyed], names: Sequence[str], image: str) -> Iterator[str]:
    """Why each feature with the name of a label is none, and in which record."""
    known = dict.fromkeys((*_TEXTS, *_NUMBERS, *_ONE_HOT, *filter(_is_label_name, names)))
    for name in known:
        there = [each for each in examples if name in each]
        if name == image or not there:
            continue
        wrong = [each for each in there if not is_label(each[name])]
        reason = "has another value in each record, as names of images have"
        if wrong:
            why, count = _why_not(wrong[0][name]), f"{len(wrong):,} of {len(examples):,}"
            reason = f"is no label in {count} records; in record {wrong[0].name} it {why}"
        elif _width([each[name] for each in there]) == 0 and not _is_single_value(there[0][name]):
            reason = "has one value in some records and several in others"
        yield f"“{plain_name(name)}” {reason}"


def _is_single_value(feature: Feature) -> bool:
    return _is_text(feature) or _is_number(feature)


def _why_not(feature: Feature) -> str:
    """Why a feature is no label, as the end of a sentence."""
    count = len(feature.texts) + len(feature.numbers or ())
    if not count or feature.texts == (b"",):
        return "is empty"
    if count > 1:
        return f"has {count:,} values"
    if feature.numbers is not None:
        return "is a float, not a whole number"
    return f"has {len(feature.texts[0]):,} bytes that are no text of at most {_MAX_TEXT}"


class SeveralLabelsError(BadExampleError):
    """A record has several labels."""


class NoLabelError(BadExampleError):
    """A record has no label, or none that fits the others."""


def _image_inference(images: Sequence[str], given: Keys) -> Inference:
    others = tuple(Option(name, plain_name(name)) for name in images[1:])
    doubt = "Other features are images, too." if others else ""
    return Inference(
        "image_feature", "The image feature", plain_name(images[0]), "encoded images", doubt,
        "image", others, is_told=bool(given.image),
    )  # fmt: skip


def _label_inference(
    labels: Sequence[str], examples: Sequence[Mapping[str, Feature]], given: Keys
) -> Inference:
    best = labels[0]
    same = [name for name in labels[1:] if _are_same(examples, best, name)]
    rivals = [name for name in labels[1:] if name not in same]
    kind = "text" if any(_is_text(e[best]) for e in examples if best in e) else "numbers"
    evidence = kind + _why(best, rivals)
    empty = sum(best not in e or not is_label(e[best]) for e in examples)
    if same:
        evidence += f"; {', '.join(map(plain_name, same[:3]))} holds the same classes"
    doubts = [f"{list_text(list(map(plain_name, rivals[:3])))} may be meant."] if rivals else []
    if not any(map(_is_named, (best, *same))) and not given.label:
        doubts.append("It may say something else about the images.")
    if empty and len(examples) > 1:
        doubts.append(f"It is empty or no label in {empty:,} of {len(examples):,} records.")
    doubts += _incomplete(labels[1:], examples)
    doubt = " ".join(doubts)
    options = tuple(Option(name, plain_name(name)) for name in (*rivals, *same))
    return Inference(
        "label_feature", "The label feature", plain_name(best), evidence, doubt, "label", options,
        is_told=bool(given.label),
    )  # fmt: skip


def _why(name: str, rivals: Sequence[str]) -> str:
    """Why a feature is taken as the label, as the end of a clause."""
    if _is_named(name):
        return ", by its name"
    return "" if rivals else ", nothing else may be it"


def _is_named(name: str) -> bool:
    """Whether a name says that it is the label."""
    if name in {*_TEXTS, *_NUMBERS, *_ONE_HOT}:
        return True
    word = _last_word(name)
    return LABEL_RANKS.get(word, WEAK_RANK) < WEAK_RANK and word not in _VAGUE


def _incomplete(names: Sequence[str], examples: Sequence[Mapping[str, Feature]]) -> Iterator[str]:
    """A sentence on each other feature with the text of labels that some records lack."""
    for name in names:
        there = [example[name] for example in examples if name in example]
        lacking = len(examples) - sum(map(_is_text, there))
        if any(map(_is_text, there)) and lacking:
            yield (
                f"“{plain_name(name)}” names classes, but {lacking:,} of {len(examples):,} records "
                "lack it."
            )


def image_of(example: Mapping[str, Feature], key: str) -> bytes:
    """The encoded image; raises BadExampleError."""
    feature = example.get(key)
    if feature is None or len(feature.texts) != 1:
        raise BadExampleError(f"no image in the feature “{plain_name(key)}”")
    return feature.texts[0]


def label_of(example: Mapping[str, Feature], keys: Keys) -> bytes | int:
    """The label: text as its bytes, b"" for empty text, or a number.

    Raises:
        SeveralLabelsError: the record has several.
        NoLabelError: it has none.
    """
    feature = example.get(keys.label, Feature())
    numbers = feature.numbers or ()
    name = f"the feature “{plain_name(keys.label)}”"
    if keys.width:
        if len(numbers) == keys.width and _is_one_hot(feature):
            return numbers.index(1)
        if len(numbers) == keys.width and sum(each == 1 for each in numbers) > 1:
            raise SeveralLabelsError(f"several labels in {name}")
        raise NoLabelError(f"no one-hot label of {keys.width} classes in {name}")
    if _is_text(feature) or feature.texts == (b"",):
        return feature.texts[0].strip()
    if _is_number(feature):
        return int(numbers[0])
    if len(feature.texts) > 1 or len(numbers) > 1:
        raise SeveralLabelsError(f"{len(feature.texts) + len(numbers):,} values in {name}")
    reason = f", which {_why_not(feature)}" if keys.label in example else ""
    raise NoLabelError(f"no label in {name}{reason}")


def is_label(feature: Feature) -> bool:
    """Whether a feature is a label of any form."""
    return _is_text(feature) or _is_number(feature) or _is_one_hot(feature)


def _width(features: Sequence[Feature]) -> int:
    """The number of classes of one-hot labels; 0 where some labels have another form."""
    widths = {len(feature.numbers or ()) for feature in features}
    if len(widths) == 1 and all(map(_is_one_hot, features)):
        return widths.pop()
    return 0


def _images(examples: Sequence[Mapping[str, Feature]], names: Sequence[str]) -> list[str]:
    """The features with encoded images, the likeliest first."""
    return [
        name
        for name in dict.fromkeys((*_IMAGES, *names))
        if any(_holds_image(example[name]) for example in examples if name in example)
    ]


def _holds_image(feature: Feature) -> bool:
    return len(feature.texts) == 1 and _is_image(feature.texts[0])


def _is_image(data: bytes) -> bool:
    return sniff(data[:HEAD_BYTES]) in DECODED


def _labels(
    examples: Sequence[Mapping[str, Feature]], names: Sequence[str], image: str
) -> list[str]:
    """The features that may be the label: those with the usual names, then those named as tables
    name it. Texts are first, as they name the class, unless some records have none; what never
    changes is the last resort.
    """
    found: dict[str, tuple[bool, int]] = {}
    ranked = sorted(filter(_is_label_name, names), key=_rank_of_label)
    explicit = [name for name in ranked if LABEL_RANKS[_last_word(name)] == 0]
    kinds = ((_TEXTS, _is_text), (_NUMBERS, _is_number), (_ONE_HOT, _is_one_hot))
    tried = [((*usual, *explicit), is_right) for usual, is_right in kinds]
    for names_, is_right in (*tried, *((ranked, is_right) for _, is_right in kinds)):
        for name in dict.fromkeys(names_):
            there = [example[name] for example in examples if name in example]
            right = sum(map(is_right, there))
            is_some = right * 2 > len(there) and (is_right is not _is_one_hot or _width(there) > 0)
            if name != image and there and is_some and not _is_single(there):
                found.setdefault(name, (_is_constant(there), len(examples) - right))
    return sorted(found, key=found.__getitem__)


def _with_likes(
    examples: Sequence[Mapping[str, Feature]], names: Sequence[str], image: str
) -> list[str]:
    """The features that may be the label: text that names the numbers of one goes first, features
    with the name of a label in theirs ("label_noisy") come last, those with many values before.
    """
    labels = _labels(examples, names, image)
    columns = {
        name: column_of(name, [cell_of(example.get(name, Feature())) for example in examples])
        for name in names
        if name not in {image, *labels}
    }
    fit = {
        name: each
        for name, each in columns.items()
        if not _why_no_class(each) and _are_single_values(examples, name)
    }
    if not labels:
        stemmed = [n for n, each in fit.items() if any(s in each.key for s in LABEL_STEMS)]
        return sorted(stemmed, key=lambda name: -len(fit[name].values))
    best = column_of(labels[0], [cell_of(each.get(labels[0], Feature())) for each in examples])
    of_numbers = [n for n, each in fit.items() if not each.is_number]
    of_numbers += [n for n in labels[1:] if all(_is_text(e[n]) for e in examples if n in e)]
    texts = [n for n in of_numbers if best.is_whole and _are_same(examples, n, labels[0])]
    labels = [name for name in labels if name not in texts]
    likes = [n for n, each in fit.items() if n not in texts and each.is_like_label(best)]
    return [*texts, *labels, *likes]


def _are_single_values(examples: Sequence[Mapping[str, Feature]], name: str) -> bool:
    there = [example[name] for example in examples if name in example]
    return sum(map(_is_single_value, there)) * 2 > len(there)


def _why_no_class(column: Column) -> str:
    """Why the values of a feature are no classes; "" where they may be."""
    is_single = len(column.values) == column.num_filled
    return column.why_no_label() or ("a value for each record" if is_single else "")


def _last_word(name: str) -> str:
    return squeezed(name.rsplit("/", 1)[-1])


def _is_label_name(name: str) -> bool:
    return _last_word(name) in LABEL_RANKS


def _rank_of_label(name: str) -> int:
    return LABEL_ORDER[_last_word(name)]


def _is_single(features: Sequence[Feature]) -> bool:
    """Whether each record has a value of its own: a number or name of the image."""
    values = {(feature.texts, feature.numbers) for feature in features}
    if len(values) < len(features):
        return False
    numbers = sorted(
        feature.numbers[0] for feature in features if _is_number(feature) and feature.numbers
    )
    is_running = len(numbers) >= _FEW_RUNNING and numbers[-1] - numbers[0] == len(numbers) - 1
    return len(features) >= _FEW or is_running


def _is_constant(features: Sequence[Feature]) -> bool:
    return len({(feature.texts, feature.numbers) for feature in features}) < 2 <= len(features)


def _are_same(examples: Sequence[Mapping[str, Feature]], one: str, other: str) -> bool:
    """Whether each value of one feature goes with one value of the other."""
    pairs = {
        ((e[one].texts, e[one].numbers), (e[other].texts, e[other].numbers))
        for e in examples
        if one in e and other in e
    }
    return len({a for a, _ in pairs}) == len(pairs) == len({b for _, b in pairs})


def _is_text(feature: Feature) -> bool:
    """Whether it is text in any encoding: bytes without control characters."""
    if len(feature.texts) != 1 or not 0 < len(feature.texts[0]) <= _MAX_TEXT:
        return False
    text = feature.texts[0]
    try:
        return bool(text.decode("utf-8").strip())
    except UnicodeDecodeError:
        return min(text) >= ord(" ") and not _is_image(text)


def _is_number(feature: Feature) -> bool:
    """Whether it is one whole number, perhaps as a float."""
    return (
        feature.numbers is not None
        and len(feature.numbers) == 1
        and (feature.is_whole or float(feature.numbers[0]).is_integer())
    )


def _is_one_hot(feature: Feature) -> bool:
    numbers = feature.numbers or ()
    return len(numbers) > 1 and set(numbers) <= {0, 1} and sum(numbers) == 1
