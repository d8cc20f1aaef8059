"""The process that writes an export: it is sent one order, and answers with one line.

A process of its own for each export: converters leak memory, print, and end the process that they
fail in. It takes no more memory than it is given.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from workbench.core.network.graph import Node
from workbench.core.specs import ACTIVATION, LINEAR, ExportSpec, UnsupportedError
from workbench.errors import ChildDiedError, SaveError, WorkbenchError
from workbench.exports import run_exports
from workbench.processes.child import Child, short_death
from workbench.protocol.bases import ErrorParts
from workbench.protocol.wire import error_from_parts
from workbench.protocol.worker_command import worker_command, worker_environment
from workbench.worker.process.failure import error_parts
from workbench.worker.requests.exporting.context import ExportContext
from workbench.worker.requests.exporting.ready import write_facts, write_scripts, write_texts
from workbench.worker.saved_models.keras_runner import load_keras_runner

CALIBRATION_NAME = "calibration.npy"
EXPECTED_NAME = "expected.npz"
_DEADLINE_S = 3600.0
_MOST_WORDS = 600


class ConverterOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a converter is to write.

    Attributes:
        model: Path of a run, or of a `.keras` that Workbench has exported.
        format: Key of the format.
        path: Where to write the model, in an empty folder; facts, script and texts come beside it.
        scratch: A folder with `calibration.npy`, where the format has asked for one.
        memory: Bytes that the process may take.
        until: Id of the layer at which the network ends; "" for all of it.
        images: A file of images (n, height, width, channels): the outputs of each layer are
            written too, and what they have to be for these images, in `expected.npz`. "" for the
            answers alone.
    """

    model: str
    format: str
    path: str
    scratch: str
    memory: int
    until: str = ""
    images: str = ""


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """What was written, or what went wrong.

    Attributes:
        files: Names that the format itself has written.
        layers: Names of layers by the names of their outputs, in order; with `images` alone.
    """

    files: list[str] = []
    layers: dict[str, str] = {}
    error: ErrorParts | None = None


def convert(order: ConverterOrder, check: Callable[[], None]) -> Converted:
    """Has an export written by a process.

    Args:
        order: What.
        check: Called while it is waited for; may raise to stop.

    Raises:
        SaveError: it could not be written; caused by a ChildDiedError where the process crashed.
        WorkbenchError: as the format or the model has it.
    """
    command, line = worker_command("convert"), msgspec.json.encode(order)
    environment = worker_environment()
    try:
        with Child(
            command,
            name="the converter",
            environment=environment,
            order=line,
            check=check,
            counts_work=True,
        ) as child:
            answer = child.answer(deadline_s=_DEADLINE_S)
    except ChildDiedError as error:
        raise SaveError(
            "The export was not written: its converter did not finish.",
            where=Path(order.path).name,
            received=short_death(error),
            fix="Another format may work; with little memory left, close other programs.",
        ) from error
    done = msgspec.json.decode(answer, type=Converted)
    if done.error is not None:
        raise error_from_parts(done.error)
    return done


def run_converter(answers: IO[bytes]) -> int:
    """The process itself: reads its order from stdin; returns the exit code."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ConverterOrder)
    _limit_memory(order.memory)
    try:
        done = _convert(order)
    except WorkbenchError as error:
        done = Converted(error=error_parts(error))
    except MemoryError:
        lack = SaveError("The export was not written: it needs more memory than is free.")
        done = Converted(error=error_parts(lack))
    answers.write(msgspec.json.encode(done) + b"\n")
    answers.flush()
    return 0


def _limit_memory(most: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _convert(order: ConverterOrder) -> Converted:
    spec, path = run_exports()[order.format], Path(order.path)
    runner = load_keras_runner(order.model)
    chosen = Path(order.scratch) / CALIBRATION_NAME
    calibration = np.load(chosen) if spec.is_calibrated_by else None
    folder = Path(tempfile.mkdtemp(dir=order.scratch))
    try:
        has_layers = bool(order.images)
        context = ExportContext(
            runner, spec, folder, calibration, has_layers=has_layers, until=order.until
        )
        _write(context, spec, path)
        names = sorted(entry.name for entry in path.parent.iterdir())
        if spec.reader is not None:
            spec.write_beside(context, str(path))
            write_facts(context, path)
            write_scripts(context, path)
            write_texts(context, path)
        if not order.images:
            return Converted(files=names)
        layers = _write_expected(context, order)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Converted(files=names, layers=layers)


def _write(context: ExportContext, spec: ExportSpec, path: Path) -> None:
    """Writes the model; raises SaveError in the converter's words, with the layer they name."""
    try:
        spec.write(context, str(path))
    except (WorkbenchError, MemoryError):
        raise
    except Exception as error:
        traceback.print_exc()
        raise _refused(context, spec, error) from error


def _refused(context: ExportContext, spec: ExportSpec, error: Exception) -> SaveError:
    words = " ".join(str(error).split())
    node = named_node(context, str(error))
    layer = f"the layer “{node.name}”" if node is not None else "it"
    reason = f": {error.reason}" if isinstance(error, UnsupportedError) else ""
    activation = node.params.get(ACTIVATION, LINEAR) if node is not None else LINEAR
    part = "that layer" if activation == LINEAR else f"that layer or its activation “{activation}”"
    return SaveError(
        f"This network cannot be written as {spec.title}: its converter refuses {layer}{reason}.",
        where=node.name if node is not None else "",
        received=f"{type(error).__name__}: {words}"[:_MOST_WORDS],
        fix=f"Choose another format, or replace {part}." if node is not None else "",
    )


def named_node(context: ExportContext, words: str) -> Node | None:
    """The first layer that words of a converter name; None for none."""
    names = context.keras_names
    places = {node: at for node, name in names.items() if (at := _place(words, name)) is not None}
    return context.graph.nodes[min(places, key=lambda node: places[node])] if places else None


def _place(words: str, name: str) -> int | None:
    """Offset at which words name a layer as a part of a path ("functional_1/conv2d_1/Relu")."""
    found = [words.find(f"/{name}{end}") for end in ("/", "_1/", '"', ";", ":")]
    there = [place for place in found if place >= 0]
    return min(there) if there else None


def _write_expected(context: ExportContext, order: ConverterOrder) -> dict[str, str]:
    images = np.load(order.images)
    found = context.answers(images)
    values: dict[str, Any] = {name: np.asarray(each) for name, each in found.items()}
    np.savez(Path(order.scratch) / EXPECTED_NAME, **values)
    nodes = context.graph.nodes
    return {name: nodes[node].name for node, name in context.layer_names.items()}
