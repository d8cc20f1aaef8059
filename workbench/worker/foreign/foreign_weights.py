"""Weights and model cards out of files of others: read by a child process, checked, handed on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.errors import ChildDiedError, DeadlineError, LayerOrderError, WeightsError
from workbench.processes.child import Child, end_words
from workbench.processes.limited import limited_command
from workbench.protocol.weights import MatchedBy
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, decode_card
from workbench.worker.foreign.matching import (
    Expected,
    FileLayer,
    Layer,
    Matched,
    Network,
    file_layers,
    match_in_order,
    match_layers,
    whole_layers,
)

KERAS_WEIGHTS_MEMBER = "model.weights.h5"
"""Member of a `.keras` file that holds its weights."""

RESULT_MEMBERS = ("weights.weights.h5", "history.json", "card.json")
"""What a notebook's result holds, and nothing else."""

CARD_MEMBER = "workbench.json"
"""Our model card inside an exported `.keras` file."""

CONFIG_MEMBER = "config.json"
"""Member of a `.keras` file that describes its network."""

_MAX_CARD_BYTES = 8 << 20
_MAX_CONFIG_BYTES = 16 << 20
_MAX_FILE_BYTES = 16 << 30
_MEMBERS = {".keras": KERAS_WEIGHTS_MEMBER, ".zip": RESULT_MEMBERS[0]}
_MAX_RESULT_EXTRA = 128 << 20  # curve and card
_DEADLINE_S = 20
_READER = Path(__file__).resolve().with_name("read_weights.py")
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "HDF5_USE_FILE_LOCKING": "FALSE", "LC_ALL": "C.UTF-8"}


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """First line of the reader's answer."""

    error: str = ""
    missing: list[str] = []
    different: list[tuple[str, list[int], str]] = []
    forbidden: list[tuple[str, str]] = []
    not_finite: list[tuple[str, int]] = []
    sizes: list[int] = []
    layers: list[FileLayer] = []
    place: str | None = None
    backend: str = ""


Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ForeignWeights:
    """The weights in a file, as a network needs them.

    Attributes:
        arrays: By `Expected.key`, finite, of the expected shape and type.
        matched_by: What says which layer of the file is which of the network.
        doubts: What may be otherwise, in sentences.
    """

    arrays: dict[str, Array]
    matched_by: MatchedBy
    doubts: Sequence[str] = ()


def read_foreign_weights(path: Path, network: Network, *, by_order: bool = False) -> ForeignWeights:
    """Reads an untrusted file of weights or of a model: `.weights.h5` or `.keras`, a notebook's
    result (`.zip`), or an `.h5` file in the layout of Keras 2.

    Args:
        path: The file.
        network: What the weights are for.
        by_order: Take layers that could be exchanged in the order of the file.

    Raises:
        WeightsError: the file is damaged, harmful, or of another network: all that differs is
            listed.
        LayerOrderError: it does not say which of some layers is which.
    """
    total = sum(array.num_bytes for layer in network.layers for array in layer.arrays)
    order = {
        "member": _MEMBERS.get(path.suffix.lower(), ""),
        "max_bytes": 8 * total + (64 << 20) + (_MAX_RESULT_EXTRA if _only(path) else 0),
        "max_member_bytes": 8 * total + (64 << 20),
    }
    head, config = _list(order, path, total)
    if path.suffix.lower() == ".keras":
        config = read_archive_member(path, CONFIG_MEMBER, max_bytes=_MAX_CONFIG_BYTES)
    matched = match_layers(file_layers(head.layers, head.place, config), network)
    _refuse_differences(matched, path)
    if matched.exchangeable and not by_order:
        raise _ask_order(matched, path)
    doubts = [*matched.doubts, *map(_order_words, matched.exchangeable)]
    return ForeignWeights(_read_matched(matched, order, path), matched.by, doubts)


def _list(order: Mapping[str, Any], path: Path, total: int) -> tuple[_Head, bytes]:
    """The layers of a file, and the network that it describes, JSON; b"" where it does not."""
    sent = {**order, "names": {}, "lists": True}
    limit = max(total, _MAX_CONFIG_BYTES)
    head, config = _run_reader(sent, path, limit, _DEADLINE_S + total / 100e6)
    _refuse_findings(head, {}, path)
    if head.backend == "theano":
        raise WeightsError(
            "These weights were saved with Theano, which turns the kernels of convolutions round.",
            where=str(path),
            expected="weights that Keras saved with TensorFlow",
            fix="Load them in Keras 2 with TensorFlow, which turns them back, and save them there.",
        )
    return head, config


def _refuse_differences(matched: Matched, path: Path) -> None:
    if matched.differences:
        raise WeightsError(
            "These weights are from a different model. Nothing was changed.",
            where=str(path),
            received=_listed(matched.differences),
            expected="the layers with weights of the project, with the same names, or in its order",
            fix="Open the project that these weights were trained with, or give its layers the "
            "names and shapes of those in the file.",
        )


def _ask_order(matched: Matched, path: Path) -> LayerOrderError:
    return LayerOrderError(
        "The file does not say which of some equal layers is which. Nothing was changed.",
        where=str(path),
        received=_listed(matched.exchangeable),
        expected="layers with the names that they have in the project, or a file that describes "
        "its network",
        fix="Save the whole model in Keras, model.save(“model.keras”), and load that; or take the "
        "order of the file: --layer-order file.",
    )


def _order_words(layers: str) -> str:
    return f"Taken in the order of the file, which may be another one: {layers}."


def read_published_weights(
    path: Path, layers: Sequence[Sequence[tuple[int, ...]]]
) -> list[list[Array]]:
    """Reads an HDF5 file of weights as Keras 2 wrote it and Keras publishes them.

    Args:
        path: The file, whose names are free: its layers are in the order of the network.
        layers: Shapes of the arrays of each layer with weights, in that order.

    Returns:
        The float32 arrays of each layer, finite and of these shapes.

    Raises:
        WeightsError: the file is damaged, harmful, or of another network.
    """
    ours = [
        Layer(
            f"{number + 1}",
            tuple(
                Expected(f"array {index + 1} of layer {number + 1}", shape, "float32")
                for index, shape in enumerate(shapes)
            ),
        )
        for number, shapes in enumerate(layers)
    ]
    total = sum(array.num_bytes for layer in ours for array in layer.arrays)
    order = {"member": "", "max_bytes": 2 * total + (64 << 20), "max_member_bytes": 0}
    head, _ = _list(order, path, total)
    if head.place is None:
        raise _unreadable(path, "it contains no weights as Keras 2 saves them")
    matched = match_in_order(whole_layers(head.layers, head.place), ours)
    _refuse_differences(matched, path)
    arrays = _read_matched(matched, order, path)
    return [[arrays[array.key] for array in layer.arrays] for layer in ours]


def _read_matched(matched: Matched, order: Mapping[str, Any], path: Path) -> dict[str, Array]:
    """Reads the arrays of a file whose layers are matched. A layer that the file has once may be
    several of the network.
    """
    wanted = dict(matched.arrays.values())
    total = sum(array.num_bytes for array in wanted.values())
    names = {name: [array.shape, array.dtype] for name, array in wanted.items()}
    again = {**order, "names": names, "lists": False}
    head, data = _run_reader(again, path, total, _DEADLINE_S + total / 100e6)
    _refuse_findings(head, wanted, path)
    read = _arrays(head, data, wanted, path)
    return {key: read[name].copy() for key, (name, _) in matched.arrays.items()}


def read_archive_member(path: Path, member: str, *, max_bytes: int) -> bytes:
    """One member of an untrusted zip archive.

    Raises:
        WeightsError: there is no such member, it is too large, or the archive is damaged.
    """
    limits = {"max_bytes": _MAX_FILE_BYTES, "max_member_bytes": max_bytes}
    order: dict[str, Any] = {"member": member, "names": {}, "lists": False, **limits}
    head, data = _run_reader(order, path, max_bytes, _DEADLINE_S)
    if head.error:
        raise _unreadable(path, head.error)
    return data


def read_any_card(path: Path) -> ModelCard:
    """The model card of a run folder or of an exported `.keras`; see `load_runner`."""
    if path.is_dir():
        return RunFolder(path).model_card()
    try:
        data = read_archive_member(path, CARD_MEMBER, max_bytes=_MAX_CARD_BYTES)
    except WeightsError as error:
        raise WeightsError(
            "This file is not a model exported by Workbench.",
            where=str(path),
            received=error.what,
            expected=f"a run folder, or a .keras file with a {CARD_MEMBER} inside",
            fix="For other weights, open a project with their network: in the window by File > "
            "Load weights, in a terminal by `workbench load PROJECT FILE`.",
        ) from error
    return decode_card(data, f"{path}: {CARD_MEMBER}")


def _only(path: Path) -> list[str]:
    return list(RESULT_MEMBERS) if path.suffix.lower() == ".zip" else []


def _regular(path: Path) -> str:
    try:
        resolved = path.resolve(strict=True)  # the user chose the link: follow it, once, here
    except (OSError, ValueError, RuntimeError) as error:
        raise WeightsError(
            "The weights file does not exist.", where=str(path), received=str(error)
        ) from error
    return str(resolved)


def _run_reader(
    order: dict[str, Any], path: Path, limit: int, deadline_s: float
) -> tuple[_Head, bytes]:
    """The reader's findings, and the bytes that follow them: at most the limit."""
    command = limited_command(_READER, memory_bytes=(1 << 30) + 3 * limit, cpu_s=_DEADLINE_S)
    more = {"path": _regular(path), "only": _only(path)}
    sent = json.dumps({**order, **more}).encode()
    with Child(command, name="its reader", environment=_ENVIRONMENT, order=sent) as child:
        try:
            fields, data = child.frame(limit=limit, deadline_s=deadline_s)
            head = msgspec.convert(fields, _Head)
        except DeadlineError:
            raise _unreadable(path, "reading it took too long") from None
        except ChildDiedError as error:
            raise _unreadable(path, error.what) from error
        except msgspec.ValidationError as error:
            raise _unreadable(path, f"the output of its reader is invalid ({error})") from error
        if code := child.exit_code():
            raise _unreadable(path, f"its reader {end_words(code)}")
    return head, data


def _unreadable(path: Path, cause: str) -> WeightsError:
    return WeightsError(
        f"The weights file cannot be read: {cause[:300]}.",
        where=str(path),
        expected="a .weights.h5 or .keras file as Keras 3 saves it, or an .h5 file as Keras 2 does",
        fix="Save it again from Keras, or export it again.",
    )


def _refuse_findings(head: _Head, expected: Mapping[str, Expected], path: Path) -> None:
    if head.error:
        raise _unreadable(path, head.error)
    found = [f"{_name(name, expected)}: not in the file" for name in head.missing]
    for name, shape, dtype in head.different:
        ours = expected.get(name)
        wanted = f", {ours.dtype} {ours.shape} in the model" if ours else ""
        found.append(f"{_name(name, expected)}: {dtype[:20]} {tuple(shape)} in the file{wanted}")
    if found:
        raise WeightsError(
            "These weights are from a different model. Nothing was changed.",
            where=str(path),
            received=_listed(found),
            expected=f"{len(expected)} arrays with the names and shapes of the model",
            fix="Open the project that these weights were trained with.",
        )
    found = [f"{_name(name, expected)}: {reason}" for name, reason in head.forbidden]
    found += [
        f"{_name(name, expected)}: {count:,} values not finite" for name, count in head.not_finite
    ]
    if found:
        raise WeightsError(
            "These weights were not loaded. Nothing was changed.",
            where=str(path),
            received=_listed(found),
            expected="finite numbers, in the file itself",
        )


def _listed(found: Sequence[str]) -> str:
    shown = [text[:200] for text in found[:12]]
    return "; ".join(shown) + (f"; and {len(found) - 12} more" if len(found) > 12 else "")


def _name(name: str, expected: Mapping[str, Expected]) -> str:
    return expected[name].key if name in expected else repr(name[:80])


def _arrays(
    head: _Head, data: bytes, wanted: Mapping[str, Expected], path: Path
) -> dict[str, Array]:
    """Cuts the reader's bytes into arrays, by path; sizes are checked again, the child is not
    trusted.
    """
    if head.sizes != [array.num_bytes for array in wanted.values()]:
        raise _unreadable(path, "the output of the reader has unexpected sizes")
    if len(data) != sum(head.sizes):
        raise _unreadable(path, "the output of the reader is incomplete")
    source = BytesIO(data)
    return {
        name: np.frombuffer(source.read(array.num_bytes), array.dtype).reshape(array.shape)
        for name, array in wanted.items()
    }
