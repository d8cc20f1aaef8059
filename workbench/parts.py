"""The parts of Workbench that are installed apart, the extras of `pyproject.toml`: what each is
for, the line that installs it beside this very Python, and the error where one is missing.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from workbench.errors import MissingPartError

_PLAIN = re.compile(r"[\w@%+=:,./\\-]+")
_UNQUOTABLE = re.compile(r'["$`\\!]')


@dataclass(frozen=True)
class Part:
    """Packages that Workbench uses and does not need for anything else.

    Attributes:
        key: Name of the extra.
        library: What people call the packages.
        purpose: What is not possible without them.
        modules: By which the packages are found; all are needed.
        packages: Names under which one of them, or a variant of it, may be installed.
        requirements: What pip is given, the lines of the extra.
        follows: A package whose version decides on theirs, "" for none.
        pinned: What pip is given instead where that is installed, with its version as {version}
            or {series} (the first two numbers).
    """

    key: str
    library: str
    purpose: str
    modules: tuple[str, ...]
    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    follows: str = ""
    pinned: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether all modules are there; nothing is imported."""
        return not self.missing_modules

    @property
    def missing_modules(self) -> list[str]:
        """The modules that are not there."""
        return [name for name in self.modules if not _is_there(name)]

    @property
    def wanted(self) -> tuple[str, ...]:
        """What pip is given here."""
        version = installed_version(self.follows) if self.follows else ""
        if not version:
            return self.requirements
        series = ".".join(version.split(".")[:2])
        return (self.pinned.format(version=version, series=series),)

    @property
    def install_command(self) -> str:
        """The line that installs it beside this Python."""
        return install_line(self.wanted)

    @property
    def install_words(self) -> str:
        """The install command as the beginning of a sentence."""
        return f"Install it with `{self.install_command}`"

    def error(self, *, reason: str = "") -> MissingPartError:
        """The error that it is not installed.

        Args:
            reason: A sentence why it is needed, where its purpose does not say it.
        """
        return MissingPartError(
            f"{self.library} is not installed.",
            where=sys.executable,
            received=f"no module {' or '.join(self.missing_modules)}",
            expected=f"the part “{self.key}”: {reason.rstrip('.') or self.purpose}",
            fix=f"{self.install_words}.",
        )

    def require(self) -> None:
        """Raises MissingPartError where it is not installed."""
        if not self.is_installed:
            raise self.error()


def install_line(requirements: Sequence[str]) -> str:
    """The line for a terminal that installs packages beside this very Python, whatever directory
    and environment the terminal is in.
    """
    return " && ".join(map(_joined, install_steps(requirements)))


def install_steps(requirements: Sequence[str]) -> list[list[str]]:
    """Programs with arguments that install packages beside this Python, to be run one after
    another.
    """
    if importlib.util.find_spec("pip") is None:  # environments of uv have none
        if uv := shutil.which("uv"):
            return [[uv, "pip", "install", "--python", sys.executable, *requirements]]
        return [
            [sys.executable, "-m", "ensurepip"],
            [sys.executable, "-m", "pip", "install", *requirements],
        ]
    # Where the system forbids it, Workbench itself has been installed in the same way.
    forced = ["--break-system-packages"] if _is_of_system() else []
    return [[sys.executable, "-m", "pip", "install", *forced, *requirements]]


def installed_version(package: str) -> str:
    """The version of an installed package, "" where there is none; nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def part_to_install(words: str) -> Part | None:
    """The part that a message offers to install here: its line is in the message. The line of
    another computer names another Python.
    """
    return next((part for part in (*PARTS, CUDA) if f"`{part.install_command}`" in words), None)


def part_of(key: str) -> Part | None:
    """The part of a key; None where there is none, as where a later version has named it."""
    return next((part for part in PARTS if part.key == key), None)


def _joined(words: Sequence[str]) -> str:
    if sys.platform == "win32":
        return " ".join(f'"{word}"' if _PLAIN.fullmatch(word) is None else word for word in words)
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    return shlex.quote(word) if _UNQUOTABLE.search(word) else f'"{word}"'


def _is_of_system() -> bool:
    """Whether this Python belongs to a system that installs packages by its own means (PEP 668)."""
    if sys.prefix != sys.base_prefix:
        return False
    return (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").is_file()


def _is_there(module: str) -> bool:
    """Folders without code do not count: a removed package may leave one, and on the search path
    may be a folder of the user's with this name.
    """
    package, _, inner = module.partition(".")
    spec = importlib.util.find_spec(package)
    if inner and spec is not None:  # looked for in its folders, as the package is not imported
        folders = spec.submodule_search_locations
        is_blocked = module in sys.modules and sys.modules[module] is None
        spec = None if is_blocked else importlib.machinery.PathFinder.find_spec(module, folders)
    return spec is not None and spec.origin is not None


WINDOW = Part(
    key="window",
    library="PySide6",
    purpose="the window and PDF reports",
    modules=("PySide6", "pyqtgraph"),
    packages=("PySide6-Essentials", "pyqtgraph"),
    requirements=(
        "PySide6-Essentials>=6.10,!=6.11.0,!=6.11.1,!=6.12.0,<6.13",
        "pyqtgraph>=0.14,<0.16",
    ),
)
TRAIN = Part(
    key="train",
    library="TensorFlow",
    purpose="training here, explanations, exports and Keras files",
    modules=("tensorflow", "keras"),
    packages=("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "keras"),
    requirements=("tensorflow>=2.20,<2.22", "keras>=3.12"),
)
CLASSIFY = Part(
    key="classify",
    library="ONNX Runtime",
    purpose="classifying without TensorFlow",
    modules=("onnxruntime",),
    packages=("onnxruntime",),
    requirements=("onnxruntime>=1.20,<1.29",),
)
LITERT = Part(
    key="litert",
    library="LiteRT",
    purpose="exports to LiteRT, which are read back by it",
    modules=("ai_edge_litert",),
    packages=("ai-edge-litert",),
    requirements=("ai-edge-litert>=2.1",),
)
KERAS2 = Part(
    key="keras2",
    library="Keras 2",
    purpose="exports of weights for Keras 2, which are read back by it",
    modules=("tf_keras",),
    packages=("tf_keras",),
    requirements=("tf_keras>=2.19",),
    follows="tensorflow",  # another series replaces TensorFlow
    pinned="tf_keras=={series}.*",
)
PARQUET = Part(
    key="parquet",
    library="pyarrow",
    purpose="Parquet tables",
    modules=("pyarrow",),
    packages=("pyarrow",),
    requirements=("pyarrow>=17",),
)
HEIC = Part(
    key="heic",
    library="pillow-heif",
    purpose="HEIC photos",
    modules=("pillow_heif",),
    packages=("pillow-heif",),
    requirements=("pillow-heif>=0.22",),
)
TFDS = Part(
    key="tfds",
    library="tensorflow-datasets",
    purpose="the data sets of TensorFlow Datasets",
    modules=("tensorflow_datasets", "importlib_resources"),
    packages=("tensorflow-datasets", "importlib_resources"),
    requirements=("tensorflow-datasets>=4.9.7", "importlib_resources"),
)
WEBCAM = Part(
    key="camera",
    library="Qt Multimedia",
    purpose="pictures of a camera",
    modules=("PySide6.QtMultimedia",),
    packages=("PySide6-Addons",),
    requirements=("PySide6-Addons>=6.10,!=6.11.0,!=6.11.1,!=6.12.0,<6.13",),
    follows="PySide6-Essentials",  # their libraries are linked with each other
    pinned="PySide6-Addons=={version}",
)
CUDA = Part(
    key="cuda",
    library="CUDA for TensorFlow",
    purpose="training on an NVIDIA GPU of this computer",
    modules=("nvidia.cudnn",),
    packages=("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    requirements=("tensorflow[and-cuda]>=2.20,<2.22",),
    follows="tensorflow",
    pinned="tensorflow[and-cuda]=={version}",
)

PARTS = (TRAIN, CLASSIFY, WINDOW, LITERT, KERAS2, PARQUET, HEIC, TFDS, WEBCAM)
"""All that any computer can have; the first three together are the extra "full"."""
