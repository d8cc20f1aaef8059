"""Weights and the program that builds their network, for the formats that are one of both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader
from workbench.exports._python_runtime import python_runtime
from workbench.parts import TRAIN
from workbench.programs.beside import pretrained_name
from workbench.programs.code import literal

WEIGHTS_ENDING = ".weights.h5"

KERAS = python_runtime("keras", "keras tensorflow", TRAIN)


def stem(path: Path) -> str:
    """The name that weights and program share."""
    name = path.name
    return name.removesuffix(WEIGHTS_ENDING) if name.endswith(WEIGHTS_ENDING) else path.stem


def network_of(path: Path) -> Path:
    """The program beside weights, or a program itself."""
    return path.with_name(f"{stem(path)}.py")


def weights_of(path: Path) -> Path:
    """The weights beside a program, or weights themselves."""
    return path.with_name(f"{stem(path)}{WEIGHTS_ENDING}")


def _values(_context: Any, path: Path) -> Mapping[str, Any]:
    """The names of both files, in the program that classifies."""
    return {
        "network": literal(network_of(path).name),
        "weights_file": literal(weights_of(path).name),
    }


def _files(path: Path) -> Mapping[str, str]:
    """Both, and what the program's own training starts from."""
    network = network_of(path).name
    about = {
        network: "the network and its training, as a Python script for Keras",
        weights_of(path).name: "the trained weights",
        pretrained_name(network): f"the weights that a training with {network} starts from",
    }
    return {name: words for name, words in about.items() if name != path.name}


READER = ExportReader(
    runtime=KERAS,
    section="keras_weights",
    values=_values,
    files=_files,
    needs_tensorflow=True,
    has_softmax=False,
)
