"""Export: writes a run's model in one of the formats of workbench/exports, and proves it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from workbench.core.calibration import with_temperature
from workbench.core.format import bytes_text, milliseconds_text
from workbench.core.network.graph import Graph
from workbench.core.specs import ExportReader, ExportSpec
from workbench.core.storage.save import refuse_unwritable, save_bytes, save_folder
from workbench.errors import (
    ChildDiedError,
    DatasetError,
    InputError,
    SaveError,
    WorkbenchError,
    os_errors_as,
)
from workbench.exports import is_export_folder, missing_runtime, run_exports
from workbench.inference.runner import Labels, Pixels
from workbench.protocol.export import Export, Exported, ExportProject, ExportProof
from workbench.protocol.messages import Done
from workbench.runs.export.proof_table import difference_text, fault_words, keep_export
from workbench.runs.folder import RunFolder
from workbench.worker.input.sources import match_classes, run_part, run_test_part
from workbench.worker.requests.exporting.converter import (
    CALIBRATION_NAME,
    EXPECTED_NAME,
    ConverterOrder,
    convert,
)
from workbench.worker.requests.exporting.proof import (
    PROBABILITIES,
    Reading,
    compare,
    first_fault,
    memory_to_give,
    noise,
    read_back,
    worst_images,
)
from workbench.worker.requests.exporting.ready import facts_name, inner_temperature
from workbench.worker.requests.session import CancelledError, Job
from workbench.worker.saved_models.keras_runner import KerasRunner

# crashes -------------------------------------------------------------------------------------
# Search for the layer at which a converter or a runtime crashes: found by exports of ever smaller
# parts.


def crashing_node(graph: Graph, nodes: Collection[str], crashes: Callable[[str], bool]) -> str:
    """The id of the layer that an export crashes at; "" where that is none of the network's.

    About the logarithm of the number of layers are tried.

    Args:
        graph: The network, of which an export crashes.
        nodes: Its layers that an export has.
        crashes: Whether an export of the network up to a layer, with that, crashes.
    """
    suspects = [node for node in graph.order if node in nodes]
    while len(suspects) > 1:
        node = suspects[(len(suspects) - 1) // 2]
        before = graph.ancestors(node) | {node}
        is_in = crashes(node)
        suspects = [each for each in suspects if (each in before) == is_in]
    return suspects[0] if suspects and graph.sources(suspects[0]) else ""


# handler -------------------------------------------------------------------------------------

MOST_CHECKED = 500
"""Test images that an export is compared on, evenly spread over all."""

NUM_NOISE = 32
"""Images of noise that it is compared on where there are no test images."""

_MOST_BYTES = 100_000_000
_NUM_LAYERED = 4


@dataclass(frozen=True)
class _Checked:
    """Images that the model and its export answer.

    Attributes:
        images: uint8 (n, height, width, channels).
        file: The same as a file.
        labels: int64 (n,); None for noise.
    """

    images: Pixels
    file: Path
    labels: Labels | None


def export(job: Job, request: Export) -> Done:
    """Writes the export and reports how close its answers are to the model's.

    Raises:
        InputError: no such format, or its runtime is not installed.
        MissingPartError: TensorFlow is not installed.
        DatasetError: it needs training images, and they are not at hand.
        SaveError: the file could not be written, or its answers differ.
    """
    spec, path = format_of(request, run_exports(), "Unknown export format.")
    if (lack := missing_runtime(spec)) is not None:
        raise lack
    is_folder = request.is_ready_folder or spec.is_folder
    path = Path(request.path) if request.is_ready_folder else path
    refuse_unwritable(path, is_folder=is_folder)
    refuse_place(path, is_folder=is_folder)
    runner = job.keras_runner(request.model)
    scratch = Path(tempfile.mkdtemp(dir=job.folder, prefix="export-"))
    try:
        made = _Export(job, request, spec, runner, scratch)
        proof = made.proof(path)
        job.progress(f"Writing {path.name}")
        files = made.move(path)
        _keep(request, proof)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    job.send(Exported(id=job.id, proof=proof))
    return Done(id=job.id, text=_words(path, proof, files), path=str(path))


class _Export:
    """One export on its way: written to a scratch folder, read back, compared, moved."""

    def __init__(
        self, job: Job, request: Export, spec: ExportSpec, runner: KerasRunner, scratch: Path
    ) -> None:
        self._job, self._request, self._spec = job, request, spec
        self._runner, self._scratch = runner, scratch
        name = spec.name if request.is_ready_folder else Path(request.path).name
        self._made = spec.named(scratch / "made" / name)
        self._files: list[str] = []
        self._worst: Pixels = np.zeros((0, *runner.card.input_shape), np.uint8)

    def proof(self, path: Path) -> ExportProof:
        """Writes and compares; what differs is kept with the run, and raised."""
        checked = self._images()
        self._calibrate()
        try:
            self._job.progress(f"Converting to {self._spec.title}")
            self._files = convert(self._order(self._made), self._job.check_cancelled).files
            reading = self._read_back(checked)
        except SaveError as error:
            layer = self._crashing_layer(error, checked.file)
            if not layer:
                raise
            raise SaveError(
                f"{error.what.removesuffix('.')}, at the layer “{layer}”.",
                where=layer,
                received=error.received,
                fix="Choose another format, or replace that layer.",
            ) from error
        proof = ExportProof(
            format=self._spec.key,
            path=str(path),
            bytes=sum(_size(self._made.with_name(name)) for name in self._files),
            checked_pictures=0,
            created=time.time(),
            checksum=self._runner.card.checksum,
        )
        if self._spec.reader is None or reading is None:
            return proof
        proof = self._compared(proof, self._spec.reader, checked, reading)
        if proof.reason:
            proof = msgspec.structs.replace(proof, layer=self._faulty_layer())
            _keep(self._request, proof)
            raise self._differs(proof)
        return proof

    def _read_back(self, checked: _Checked) -> Reading | None:
        """What its own runtime answers; None for a format without one."""
        if self._spec.reader is None:
            return None
        self._job.progress(f"Comparing {len(checked.images)} images")
        return read_back(self._spec.reader, self._made, checked.file, self._job.check_cancelled)

    def _crashing_layer(self, error: SaveError, images: Path) -> str:
        """The name of the layer that converter or runtime crash at; "" where they do not, or that
        cannot be found.
        """
        died = error.__cause__
        if not isinstance(died, ChildDiedError) or died.is_killed or not self._spec.has_layers:
            return ""
        self._job.progress("Looking for the layer at fault")
        graph, built = self._runner.graph, self._runner.built
        node = crashing_node(graph, built.outputs, lambda node: self._crashes(node, images))
        return graph.nodes[node].name if node else ""

    def _crashes(self, node: str, images: Path) -> bool:
        """Whether an export of the network up to a layer crashes."""
        made, check = self._scratch / "part" / self._made.name, self._job.check_cancelled
        try:
            convert(self._order(made, until=node), check)
            if self._spec.reader is not None:
                read_back(self._spec.reader, made, images, check, is_timed=False)
        except CancelledError:
            raise
        except WorkbenchError as error:
            return isinstance(error.__cause__, ChildDiedError)
        finally:
            shutil.rmtree(made.parent)
        return False

    def _order(self, made: Path, *, images: str = "", until: str = "") -> ConverterOrder:
        made.parent.mkdir()
        return ConverterOrder(
            model=self._request.model,
            format=self._spec.key,
            path=str(made),
            scratch=str(self._scratch),
            memory=memory_to_give(),
            until=until,
            images=images,
        )

    def _images(self) -> _Checked:
        card, job = self._runner.card, self._job
        reader = self._spec.reader
        limit = (reader and reader.most_images) or MOST_CHECKED
        most = max(1, min(limit, _MOST_BYTES // int(np.prod(card.input_shape))))
        try:
            part, names = run_test_part(job, card)
            chosen = np.linspace(0, len(part.x) - 1, min(most, len(part.x))).round()
            places = chosen.astype(np.int64)
            images = np.asarray(part.x[places])
            labels = match_classes(part.y, names, card.class_names)[places]
        except CancelledError:
            raise
        except WorkbenchError as error:
            sys.stderr.write(f"The export is compared on noise. {error}\n")
            images, labels = noise(min(most, NUM_NOISE), card.input_shape), None
        file = self._scratch / "images.npy"
        np.save(file, images)
        return _Checked(images, file, labels)

    def _calibrate(self) -> None:
        """Writes the training images that the format has asked for."""
        wanted = self._spec.is_calibrated_by
        if not wanted:
            return
        try:
            part, _ = run_part(self._job, self._runner.card, "train")
        except CancelledError:
            raise
        except WorkbenchError as error:
            raise DatasetError(
                f"{self._spec.title} needs training images, for the range of each layer's numbers.",
                where=error.where,
                received=error.what,
                fix="Bring the images back, or choose a format of float numbers.",
            ) from error
        places = np.linspace(0, len(part.x) - 1, min(wanted, len(part.x))).round()
        np.save(self._scratch / CALIBRATION_NAME, np.asarray(part.x[places.astype(np.int64)]))

    def _compared(
        self, proof: ExportProof, reader: ExportReader, checked: _Checked, reading: Reading
    ) -> ExportProof:
        expected = self._runner.outputs(checked.images)[0]
        expected = with_temperature(expected, inner_temperature(self._runner.card, self._spec))
        answers = reading.answers[PROBABILITIES]
        found = compare(expected, answers, checked.labels, is_exact=reader.is_exact)
        self._worst = checked.images[worst_images(expected, answers, _NUM_LAYERED)]
        return msgspec.structs.replace(
            proof,
            checked_pictures=len(checked.images),
            is_noise=checked.labels is None,
            max_difference=found.difference if np.isfinite(found.difference) else None,
            top1_agreement=found.agreement,
            accuracy=found.accuracy,
            model_accuracy=found.model_accuracy,
            milliseconds=reading.milliseconds,
            peak_bytes=reading.peak_bytes,
            reason=found.reason,
        )

    def _differs(self, proof: ExportProof) -> SaveError:
        return SaveError(
            f"The export was not written: {fault_words(proof)}.",
            where=proof.layer or Path(proof.path).name,
            received=f"the same class for {proof.top1_agreement:.1%} of "
            f"{proof.checked_pictures} images",
            fix="Choose another format."
            if self._spec.reader is not None and not self._spec.reader.is_exact
            else "Please report this with the project file.",
        )

    def _faulty_layer(self) -> str:
        """The first layer whose outputs differ, by an export that has all of them; "" where that
        cannot be known.
        """
        if self._spec.reader is None or not self._spec.has_layers:
            return ""
        self._job.progress("Comparing layer by layer")
        images = self._scratch / "layered.npy"
        np.save(images, self._worst)
        made = self._scratch / "layers" / self._made.name
        try:
            layers = convert(
                self._order(made, images=str(images)), self._job.check_cancelled
            ).layers
            check = self._job.check_cancelled
            found = read_back(self._spec.reader, made, images, check, is_timed=False).answers
        except SaveError as error:
            sys.stderr.write(f"The layers cannot be compared. {error}\n")
            return ""
        with np.load(self._scratch / EXPECTED_NAME) as arrays:
            expected = {name: arrays[name] for name in layers}
        fault = first_fault(expected, found, is_exact=self._spec.reader.is_exact)
        return layers[fault] if fault is not None else ""

    def move(self, path: Path) -> list[Path]:
        """Puts what was written in its place; returns the files and folders."""
        if self._request.is_ready_folder:
            save_folder(path, self._made.parent)
            return [path]
        if self._spec.is_folder:
            save_folder(path, self._made)
            return [path]
        names = list(self._files)
        if not self._spec.is_standard:
            names.append(facts_name(self._made.name))
        names.sort(key=lambda name: name == self._made.name)  # the model itself at last
        with os_errors_as(SaveError, "The export cannot be read.", self._made):
            for name in names:
                save_bytes(path.with_name(name), self._made.with_name(name).read_bytes())
        return [path.with_name(name) for name in names]


def refuse_place(path: Path, *, is_folder: bool) -> None:
    """Raises SaveError where an export would replace something that is none."""
    if not is_folder:
        return
    if path.is_dir() and not is_export_folder(path) and any(path.iterdir()):
        raise SaveError(
            "This folder holds other files than an export of Workbench. It is left as it is.",
            where=str(path),
            fix="Choose a new folder.",
        )
    if path.exists() and not path.is_dir():
        raise SaveError("A file has that name.", where=str(path), fix="Choose another name.")


def format_of(
    request: Export | ExportProject, exports: Mapping[str, ExportSpec], unknown: str
) -> tuple[ExportSpec, Path]:
    """The requested format, and the path with its own ending.

    Raises:
        InputError: no such format, in the words `unknown`.
    """
    spec = exports.get(request.format)
    if spec is None:
        expected = "one of " + ", ".join(exports)
        raise InputError(unknown, received=request.format, expected=expected)
    return spec, spec.named(Path(request.path))


def _keep(request: Export, proof: ExportProof) -> None:
    """Keeps the figures with the run. Where that is not possible, the log has the reason."""
    run = RunFolder(Path(request.model))
    is_exported_model = not run.request_path.is_file()
    if is_exported_model or not proof.checked_pictures:
        return
    try:
        keep_export(run, proof)
    except WorkbenchError as error:
        sys.stderr.write(f"The figures of the export were not kept. {error}\n")


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _words(path: Path, proof: ExportProof, files: list[Path]) -> str:
    beside = [file.name for file in files if file != path]
    words = [f"Wrote {path}" + (f" and {', '.join(beside)}" if beside else "") + "."]
    if not proof.checked_pictures:
        return " ".join([*words, f"{bytes_text(proof.bytes)}."])
    kind = "images of noise" if proof.is_noise else "test images"
    words.append(
        f"On {proof.checked_pictures} {kind}, its predictions differ from the model's by at most "
        f"{difference_text(proof.max_difference)}; {proof.top1_agreement:.1%} get the same class."
    )
    if proof.accuracy is not None and proof.model_accuracy is not None:
        words.append(f"Accuracy {proof.accuracy:.1%} (model: {proof.model_accuracy:.1%}).")
    words.append(f"{bytes_text(proof.bytes)}, {milliseconds_text(proof.milliseconds)} an image.")
    return " ".join(words)
