"""The images of a project as a run here has them, and as its exported programs have: compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.contexts import PlainContext
from tests.exported_data import Known, Pixels, counted
from workbench.core.specs import FilePart
from workbench.pictures.prepare import prepare_part
from workbench.protocol.events import DataReady
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import first_of
from workbench.worker.input.sources import run_data

CHILD = Path(__file__).with_name("exported_arrays.py")
PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class Images:
    """What is trained, validated and tested on.

    Attributes:
        names: Of the classes.
        x, y: Pixels and class numbers by part; a part is empty where there is none of its own.
        files: Path of each image by part, where the images are in files.
    """

    names: tuple[str, ...]
    x: dict[str, Pixels]
    y: dict[str, np.ndarray]
    files: dict[str, tuple[str, ...]]

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(len(self.y[part]) for part in PARTS)


def of_run(run: RunFolder, cache: Path) -> Images:
    """Of a trained run; its log has the same counts of each class."""
    card = run.model_card()
    data = run_data(PlainContext(cache), card)
    validation = None if data.validation is data.test else data.validation
    found = dict(zip(PARTS, (data.train, validation, data.test), strict=True))
    none = np.zeros((0, *card.input_shape), np.uint8)
    x = {
        name: none if part is None else part.x[np.arange(len(part))] for name, part in found.items()
    }
    y = {name: none[:, 0, 0, 0] if part is None else part.y for name, part in found.items()}
    files = {name: () if part is None else part.files for name, part in found.items()}
    images = Images(tuple(card.class_names), x, y, files)
    logged = first_of(run.events_path, DataReady)
    assert logged is not None
    in_log = np.array(logged.per_class, np.int64).T
    if logged.validates_on_test:
        in_log[1] = 0
    ours = [np.bincount(images.y[part], minlength=len(images.names)) for part in PARTS]
    assert in_log.tolist() == np.stack(ours).tolist()
    return images


def of_program(kind: str, program: Path, *files: str) -> Images:
    """Runs a program (`exported_arrays`), training included; what it has read."""
    out = program.parent / f"{program.name}.arrays.npz"
    _run(CHILD, kind, program, out, *files, folder=program.parent)
    with np.load(out) as found:
        x, y = ({part: found[f"{axis}_{part}"] for part in PARTS} for axis in "xy")
        return Images(tuple(found["names"].tolist()), x, y, {})


def differences(there: Images, here: Images) -> Iterator[str]:
    """What a program has other than the run; nothing where all is the same to the bit."""
    if there.names != here.names:
        yield f"classes {there.names}, not {here.names}"
    for part in PARTS:
        x, y = (there.x[part], here.x[part]), (there.y[part], here.y[part])
        if x[0].shape != x[1].shape:
            yield f"{part}: {x[0].shape}, not {x[1].shape}"
            continue
        if y[0].tolist() != y[1].tolist():
            yield f"{part}: {np.count_nonzero(y[0] != y[1])} other labels"
        if len(x[0]) and (apart := largest(*x)):
            yield f"{part}: pixels differ by {apart}"


def largest(a: Pixels, b: Pixels) -> int:
    """The largest difference of a pixel."""
    return int(np.abs(a.astype(np.int64) - b.astype(np.int64)).max())


def misread(known: Known, images: Images) -> Iterator[str]:
    """What a run has other than the data set was made."""
    classes = counted(list(images.names), *images.y.values())
    if classes != dict(known.classes):
        yield f"images by class: {classes}, not {dict(known.classes)}"
    if known.counts is not None and images.counts != known.counts:
        yield f"parts: {images.counts}, not {known.counts}"
    for file, part in known.moved.items():
        if file not in images.files[part]:
            yield f"{Path(file).name} is not in {part}"
    if known.arrays is not None:
        ours = np.concatenate([images.x[part] for part in PARTS])
        both = [sorted(each.tobytes() for each in x) for x in (ours, known.arrays)]
        if both[0] != both[1]:
            yield "other pixels than in the file"


def in_ready_folder(folder: Path, run: RunFolder, files: Sequence[str]) -> Iterator[str]:
    """What the script of a ready folder makes of files other than Workbench: classes, pixels,
    labels, probabilities to 0.001.
    """
    card, script = run.model_card(), folder / "classify.py"
    out = folder.parent / "folder.npz"
    _run(CHILD, "folder", script, out, *files, folder=folder)
    none = np.zeros(len(files), np.int64)
    ours = prepare_part(
        FilePart(tuple(files), none),
        "test",
        shape=tuple(card.input_shape),
        fit=card.fit,
        ctx=PlainContext(folder.parent / "cache"),
    )
    with np.load(out) as found:
        if found["names"].tolist() != card.class_names:
            yield f"classes {found['names'].tolist()}, not {card.class_names}"
        if apart := largest(found["x"], ours.x[np.arange(len(files))]):
            yield f"pixels differ by {apart}"
    there = [line.rpartition(" ") for line in _run(script, *files, folder=folder).splitlines()]
    command = ("-m", "workbench", "classify", str(run.path), *files, "--json")
    here = [json.loads(line)["scores"][0] for line in _run(*command).splitlines()]
    labels = [(words.partition(": ")[2], float(share)) for words, _, share in there]
    if [label for label, _ in labels] != [best["class"] for best in here]:
        yield "other labels"
    pairs = zip(labels, here, strict=True)
    if (apart := max(abs(a - best["probability"]) for (_, a), best in pairs)) > 1e-3:
        yield f"probabilities differ by {apart:.1e}"


def _run(*words: object, folder: Path | None = None) -> str:
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout
