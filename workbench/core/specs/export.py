"""What an export format's plug-in file declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

ExportGroup = Literal[
    "Keras and Python", "Servers and desktops", "Phones and small devices", "Browsers", "Others"
]
EXPORT_GROUPS: tuple[ExportGroup, ...] = get_args(ExportGroup)
"""What formats are listed under, in this order."""


@dataclass(frozen=True, kw_only=True)
class ExportRuntime:
    """A program that computes with a format, which is not Workbench's to import.

    Attributes:
        name: Name of what computes: a module of Python, a program.
        package: What brings it, as people install it.
        missing: () -> what of it is not installed, e.g. "no module onnxruntime"; "" for nothing.
        install: () -> the line that installs it for Workbench.
        command: () -> the program, with arguments, that runs `child`.
        child: The process that reads an export: a file of worker/requests/exporting, where
            `reading.py` says what it is sent and answers.
        texts: Files of resources/programs with the sections of `scripts`.
        scripts: Files of a ready folder by their name, as sections of `texts`; the first one
            classifies image files.
        setup: The line that installs what this script needs.
        start: What it is started with, e.g. "python".
        about: (ExportContext, path of the model) -> what else the README says, in Markdown.
        license: License of what a ready folder holds of the runtime.
    """

    name: str
    package: str
    missing: Callable[[], str]
    install: Callable[[], str]
    command: Callable[[], Sequence[str]]
    child: str
    texts: Sequence[str]
    scripts: Mapping[str, str]
    setup: str
    start: str
    about: Callable[[Any, Path], str] = lambda _context, _path: ""
    license: str = ""

    @property
    def script(self) -> str:
        """The name of the program that classifies image files."""
        return next(iter(self.scripts))


class UnsupportedError(ValueError):
    """A part of the network has no form in a format; the text names its place in the network, too.

    Attributes:
        reason: A few words for people, without the place.
    """

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(f'{reason} at "{place}"')
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class ExportReader:
    """How a format is read by its own runtime, and how near its answers must be to the model's.

    Attributes:
        section: Section of the runtime's `texts` that its scripts have as $reading; in Python the
            imports of the runtime, `open_model(path)` and `outputs(model, images)`, the arrays by
            name for images uint8 (n, height, width, channels). "" for none.
        values: (ExportContext, path of the model) -> what else the $names of the section are.
        needs_tensorflow: The runtime is TensorFlow, or is made of it.
        is_exact: Its numbers are float32, as the model's are; else most classes have to be the
            same, but not each probability.
        has_softmax: Its answers are probabilities where the network's are logits.
        has_temperature: Its answers are calibrated. Else the program that reads them does that,
            for which numbers of 8 bits are too coarse.
        most_images: That it answers in a reasonable time; None for no limit.
        files: (path of the model) -> what files of a ready folder are, by name, beside the model,
            its facts and the script that classifies.
    """

    runtime: ExportRuntime
    section: str = ""
    values: Callable[[Any, Path], Mapping[str, Any]] = lambda _context, _path: {}
    needs_tensorflow: bool = False
    is_exact: bool = True
    has_softmax: bool = True
    has_temperature: bool = False
    most_images: int | None = None
    files: Callable[[Path], Mapping[str, str]] = lambda _path: {}


@dataclass(frozen=True, kw_only=True)
class ExportSpec:
    """One export format.

    Attributes:
        key: FORMAT on the command line: keras, weights, python.
        title, summary: Words for people.
        group: What it is listed under.
        order: Its place there, 0 for the most common format.
        suffix: Ending of the file it writes, e.g. ".keras"; "" for a folder.
        name: Name of the model in a ready folder, without the ending.
        write: (ExportContext-like object handed by the worker, path) -> None; see
            worker/requests/exporting/context.py for what it is handed. It writes to a place that
            is removed where the answers differ. It may raise UnsupportedError.
        reader: How it is read back and compared, in a process of its own; None for a format that
            has no answers.
        write_beside: As `write`: what a ready folder holds besides, at the same path.
        is_calibrated_by: Training images that are handed to it, for the range of each layer.
        has_layers: It can hold the outputs of each layer besides, to find the one at fault.
        is_standard: The file is opened as it is, without facts of Workbench in a file beside it.
        needs_weights: It is made of a run; else of a project that was never trained, see
            worker/requests/export_project.py for what `write` is handed then.
        write_project: Writes a project that was never trained in a format that is else made of a
            run; handed the same as there. None where it needs weights.
    """

    key: str
    title: str
    summary: str
    suffix: str
    group: ExportGroup = "Others"
    order: int = 0
    name: str = "model"
    write: Callable[[Any, str], None]
    reader: ExportReader | None = None
    write_beside: Callable[[Any, str], None] = lambda _context, _path: None
    is_calibrated_by: int = 0
    has_layers: bool = False
    is_standard: bool = True
    needs_weights: bool = True
    write_project: Callable[[Any, str], None] | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it writes a folder."""
        return not self.suffix

    def named(self, path: Path) -> Path:
        """A path with the format's own ending, which Keras insists on."""
        return path if path.name.endswith(self.suffix) else path.with_name(path.name + self.suffix)
