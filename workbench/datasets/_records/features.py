"""Which features of an example are the image and the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.core.format import plain_name
from workbench.datasets._records.example import BadExampleError, Feature
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff

_IMAGES = ("image/encoded", "image", "image_raw", "image_bytes", "img", "picture", "encoded")
_TEXTS = ("image/class/text", "label/text", "class_name", "label_name", "text", "label", "class")
_NUMBERS = ("image/class/label", "label", "class", "label_id", "class_id", "target", "y")
_ONE_HOT = ("one_hot_class", "one_hot", "label_one_hot", "label", "class")
"""Names under which they are looked for, the best first."""

_MAX_TEXT = 200


@dataclass(frozen=True)
class Keys:
    """The features that hold the image and the label."""

    image: str
    label: str


def find_keys(example: Mapping[str, Feature], given: Keys) -> Keys:
    """The features of a first record, but for those that are `given`.

    Raises:
        BadExampleError: there is no image or no label, or not the feature that is given.
    """
    for name in (given.image, given.label):
        if name and name not in example:
            raise BadExampleError(f"there is no feature “{plain_name(name)}”")
    image = given.image or next(_images(example), "")
    if not image:
        raise BadExampleError("no feature is an encoded image (JPEG, PNG, ...)")
    label = given.label or next(_labels(example, image), "")
    if not label:
        raise BadExampleError("no feature is a label (" + ", ".join(_TEXTS[:4]) + ", label, ...)")
    return Keys(image, label)


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
        return plain_name(feature.texts[0])
    if _is_number(feature):
        return int((feature.numbers or (0,))[0])
    if _is_one_hot(feature):
        return (feature.numbers or ()).index(1)
    raise BadExampleError(f"no label in the feature “{plain_name(key)}”")


def _images(example: Mapping[str, Feature]) -> Iterator[str]:
    for name in dict.fromkeys((*_IMAGES, *example)):
        feature = example.get(name)
        if feature and len(feature.texts) == 1 and _is_image(feature.texts[0]):
            yield name


def _is_image(data: bytes) -> bool:
    return sniff(data[:HEAD_BYTES]) in DECODED


def _labels(example: Mapping[str, Feature], image: str) -> Iterator[str]:
    """Texts first: they name the class."""
    for names, is_right in ((_TEXTS, _is_text), (_NUMBERS, _is_number), (_ONE_HOT, _is_one_hot)):
        for name in names:
            if name in example and name != image and is_right(example[name]):
                yield name


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
