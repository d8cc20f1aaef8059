"""The parts of Workbench that are installed apart, the extras of `pyproject.toml`: what each is
for, and the error where one is missing.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from workbench.errors import MissingPartError


@dataclass(frozen=True)
class Part:
    """Packages that `pip install "model-workbench[KEY]"` adds.

    Attributes:
        key: Name of the extra.
        library: What people call the packages.
        purpose: What is not possible without them.
        modules: By which the packages are found; all are needed.
        packages: Names under which one of them, or a variant of it, may be installed.
    """

    key: str
    library: str
    purpose: str
    modules: tuple[str, ...]
    packages: tuple[str, ...]

    @property
    def is_installed(self) -> bool:
        """Whether all modules are there; nothing is imported."""
        return not self.missing_modules

    @property
    def missing_modules(self) -> list[str]:
        """The modules that are not there."""
        return [name for name in self.modules if not _is_there(name)]

    @property
    def install_command(self) -> str:
        """The line that installs it."""
        return f'pip install "model-workbench[{self.key}]"'

    @property
    def install_words(self) -> str:
        """The same as the beginning of a sentence."""
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


def _is_there(module: str) -> bool:
    """Folders without code do not count: a removed package may leave one, and on the search path
    may be a folder of the user's with this name.
    """
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.origin is not None


WINDOW = Part(
    key="window",
    library="PySide6",
    purpose="the window and PDF reports",
    modules=("PySide6", "pyqtgraph"),
    packages=("PySide6-Essentials", "pyqtgraph"),
)
TRAIN = Part(
    key="train",
    library="TensorFlow",
    purpose="training here, explanations, exports and Keras files",
    modules=("tensorflow", "keras"),
    packages=("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "keras"),
)
CLASSIFY = Part(
    key="classify",
    library="ONNX Runtime",
    purpose="classifying without TensorFlow",
    modules=("onnxruntime",),
    packages=("onnxruntime",),
)
LITERT = Part(
    key="litert",
    library="LiteRT",
    purpose="exports to LiteRT, which are read back by it",
    modules=("ai_edge_litert",),
    packages=("ai-edge-litert",),
)
PARQUET = Part(
    key="parquet",
    library="pyarrow",
    purpose="Parquet tables",
    modules=("pyarrow",),
    packages=("pyarrow",),
)
HEIC = Part(
    key="heic",
    library="pillow-heif",
    purpose="HEIC photos",
    modules=("pillow_heif",),
    packages=("pillow-heif",),
)
TFDS = Part(
    key="tfds",
    library="tensorflow-datasets",
    purpose="the data sets of TensorFlow Datasets",
    modules=("tensorflow_datasets", "importlib_resources"),
    packages=("tensorflow-datasets", "importlib_resources"),
)

PARTS = (TRAIN, CLASSIFY, WINDOW, LITERT, PARQUET, HEIC, TFDS)
"""All of them; the first three together are the extra "full"."""
