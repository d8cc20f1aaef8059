"""Which features of an example are the image and the label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.class_names import normal
from workbench.core.format import plain_name
from workbench.core.specs import Inference, Option
from workbench.datasets._records.example import BadExampleError, Feature
from workbench.pictures.listed.names import LABEL_ORDER, LABEL_RANKS, squeezed
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff

_IMAGES = ("image/encoded", "image", "image_raw", "image_bytes", "img", "picture", "encoded")
_TEXTS = ("image/class/text", "label/text", "class_name", "label_name", "text", "label", "class")
_NUMBERS = ("image/class/label", "label", "class", "label_id", "class_id", "target", "y")
_ONE_HOT = ("one_hot_class", "one_hot", "label_one_hot", "label", "class")
"""Names under which they are looked for, the best first."""

_MAX_TEXT = 200
_FEW = 10
"""From so many records on, they do not have a class each."""
_FEW_RUNNING = 5
"""The same for numbers that follow each other."""


@dataclass(frozen=True)
class Keys:
    """The features that hold the image and the label."""

    image: str
    label: str


@dataclass(frozen=True)
class FoundKeys:
    """The features that are read, and how they were found."""

    keys: Keys
    inferences: tuple[Inference, ...] = ()


def find_keys(examples: Sequence[Mapping[str, Feature]], given: Keys) -> FoundKeys:
    """The features of some records, but for those that are `given`.

    Raises:
        BadExampleError: there is no image or no label, or not the feature that is given.
    """
    names = list(dict.fromkeys(name for example in examples for name in example))
    for name in (given.image, given.label):
        if name and name not in names:
            raise BadExampleError(f"there is no feature “{plain_name(name)}”")
    images = [given.image] if given.image else _images(examples, names)
    if not images:
        raise BadExampleError("no feature is an encoded image (JPEG, PNG, ...)")
    labels = [given.label] if given.label else _labels(examples, names, images[0])
    if not labels:
        raise BadExampleError("no feature is a label (" + ", ".join(_TEXTS[:4]) + ", label, ...)")
    said = _image_inference(images, given), _label_inference(labels, examples, given)
    return FoundKeys(Keys(images[0], labels[0]), said)


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
    evidence = f"{kind}, by its name"
    if same:
        evidence += f"; {', '.join(map(plain_name, same[:3]))} holds the same classes"
    doubt = f"{', '.join(map(plain_name, rivals[:3]))} may be meant." if rivals else ""
    options = tuple(Option(name, plain_name(name)) for name in (*rivals, *same))
    return Inference(
        "label_feature", "The label feature", plain_name(best), evidence, doubt, "label", options,
        is_told=bool(given.label),
    )  # fmt: skip


def image_of(example: Mapping[str, Feature], key: str) -> bytes:
    """The encoded image; raises BadExampleError."""
    feature = example.get(key)
    if feature is None or len(feature.texts) != 1:
        raise BadExampleError(f"no image in the feature “{plain_name(key)}”")
    return feature.texts[0]


def label_of(example: Mapping[str, Feature], key: str) -> str | int:
    """The label, as text or as a number; raises BadExampleError."""
    feature = example.get(key, Feature())
    if _is_text(feature):
        return normal(plain_name(feature.texts[0]))
    if _is_number(feature):
        return int((feature.numbers or (0,))[0])
    if _is_one_hot(feature):
        return (feature.numbers or ()).index(1)
    raise BadExampleError(f"no label in the feature “{plain_name(key)}”")


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
    """The features that may be the label: texts first, as they name the class."""
    found: dict[str, bool] = {}
    for known, is_right in ((_TEXTS, _is_text), (_NUMBERS, _is_number), (_ONE_HOT, _is_one_hot)):
        ranked = sorted(filter(_is_label_name, names), key=_rank_of_label)
        for name in dict.fromkeys((*known, *ranked)):
            there = [example[name] for example in examples if name in example]
            if name == image or not there or sum(map(is_right, there)) * 2 <= len(there):
                continue
            if not _is_single(there):
                found.setdefault(name, _is_constant(there))
    return sorted(found, key=found.__getitem__)  # what never changes is the last resort


def _is_label_name(name: str) -> bool:
    return squeezed(name.rsplit("/", 1)[-1]) in LABEL_RANKS


def _rank_of_label(name: str) -> int:
    return LABEL_ORDER[squeezed(name.rsplit("/", 1)[-1])]


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
    if len(feature.texts) != 1 or not 0 < len(feature.texts[0]) <= _MAX_TEXT:
        return False
    try:
        return bool(feature.texts[0].decode("utf-8").strip())
    except UnicodeDecodeError:
        return False


def _is_number(feature: Feature) -> bool:
    return feature.is_whole and feature.numbers is not None and len(feature.numbers) == 1


def _is_one_hot(feature: Feature) -> bool:
    numbers = feature.numbers or ()
    return len(numbers) > 1 and set(numbers) <= {0, 1} and sum(numbers) == 1
