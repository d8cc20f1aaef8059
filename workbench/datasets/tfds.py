"""Data sets of TensorFlow Datasets: prepared by its own package, read by our own reader."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.core.format import plain_name
from workbench.core.params import Params, TextParam
from workbench.core.specs import DatasetSpec, Inference, LoadContext, LoadedData
from workbench.datasets._class_parts import FIT, RANGE
from workbench.datasets._labels.texts import MISSING_LABELS
from workbench.datasets._records.features import Keys
from workbench.datasets._records.unpack import load_records
from workbench.errors import DatasetError
from workbench.parts import TFDS

_PACKAGE = "tensorflow_datasets"
_SUPPLIER = "TensorFlow Datasets"
_EXPECTED = "a data set with images and one label each, e.g. tf_flowers"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    name = str(params.get("name", ""))
    if not name:
        raise DatasetError(
            "No data set has been named yet.", expected=_EXPECTED, fix="Enter its name."
        )
    package = _package()
    builder = _prepared(ctx, package, name)
    with _as_dataset_errors(name):
        keys, files = _keys(package, builder.info), _files(builder)
        names = getattr(builder.info.features[keys.label], "names", None) or ()
    loaded = load_records(ctx, files, keys, f"{_SUPPLIER}: {name}", params)
    own = (each for each in loaded.inferences if each.key != "class_order")  # it declares the order
    inferences = tuple(map(_declared, own))
    return replace(loaded, class_names=_named(loaded.class_names, names), inferences=inferences)


def _declared(inference: Inference) -> Inference:
    """The data set declares its features: nothing was inferred, and nothing can be set."""
    if inference.param == "split":  # which is set by no parameter here
        return replace(inference, param="", options=())
    if not inference.is_told or inference.param == MISSING_LABELS.key:
        return inference
    return replace(
        inference,
        is_told=False,
        evidence="declared by the data set",
        doubt="",
        param="",
        options=(),
    )


def _package() -> Any:
    try:
        return importlib.import_module(_PACKAGE)
    except ImportError:
        raise DatasetError(
            "The package tensorflow-datasets is not installed.",
            received="no such package",
            expected="an optional part of Workbench",
            fix=f"{TFDS.install_words}, then try again.",
        ) from None


def _prepared(ctx: LoadContext, package: Any, name: str) -> Any:
    """The data set, downloaded and prepared once, into the cache."""
    ctx.progress(f"Preparing {name} ({_SUPPLIER})")
    with _as_dataset_errors(name):
        builder = package.builder(
            name, data_dir=str(Path(ctx.cache_folder) / "tfds"), try_gcs=False
        )
        builder.download_and_prepare(file_format="tfrecord")
    ctx.check_cancelled()
    return builder


def _keys(package: Any, info: Any) -> Keys:
    """Keys of image and label in the records: the declared supervised pair, or else the first
    features of these types.
    """
    if info.supervised_keys:
        return Keys(*info.supervised_keys)
    image, label = (
        next((key for key, each in info.features.items() if isinstance(each, kind)), default)
        for kind, default in (
            (package.features.Image, "image"),
            (package.features.ClassLabel, "label"),
        )
    )
    return Keys(image, label)


def _files(builder: Any) -> list[Path]:
    """Its files, whose names hold the splits."""
    splits = builder.info.splits
    return [Path(path) for split in splits for path in splits[split].filepaths]


@contextlib.contextmanager
def _as_dataset_errors(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise DatasetError(
            f"{_SUPPLIER} could not prepare the data set.",
            where=name,
            received=plain_name(f"{type(error).__name__}: {_first_line(error)}"),
            expected=_EXPECTED,
            fix="Check the name and the connection, and try again.",
        ) from error


def _first_line(error: Exception) -> str:
    """Behind it the package lists all its data sets."""
    return str(error).strip().partition("\n")[0]


def _named(numbers: tuple[str, ...], names: Sequence[str]) -> tuple[str, ...]:
    """The classes by their names, where each number has one."""
    known = [plain_name(name) for name in names]
    if all(number.isdecimal() and int(number) < len(known) for number in numbers):
        return tuple(known[int(number)] for number in numbers)
    return numbers


SPEC = DatasetSpec(
    key="tfds",
    title=_SUPPLIER,
    summary="A data set of images with labels by its name there, e.g. tf_flowers. Downloaded once, "
    "by the package tensorflow-datasets.",
    params=(
        TextParam(
            "name",
            "",
            "Its name in the catalog of TensorFlow Datasets, with its configuration where it has "
            "several: tf_flowers, oxford_flowers102, cmaterdb/bangla.",
            title="Name",
            pattern=r"([a-z][a-z0-9_]*(/[A-Za-z0-9_.-]+)?)?",
            allowed="a name such as tf_flowers or cmaterdb/bangla",
        ),
        MISSING_LABELS,
        FIT,
        RANGE,
    ),
    source_param="name",
    addresses=lambda params: (_SUPPLIER,) if params.get("name") else (),
    load=_load,
)
