"""A model that classifies at once: by ONNX Runtime where it can be, else in Keras."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import NeedsTensorFlowError
from workbench.inference.load import load_onnx_runner
from workbench.inference.runner import Runner
from workbench.worker.saved_models.keras_runner import load_keras_runner


def load_runner(path: str | Path) -> Runner:
    """Loads a run folder, or a `.keras` that Workbench has exported.

    Raises:
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or a file that Workbench has not exported.
        ProjectFileError: the card's graph is damaged.
    """
    try:
        return load_onnx_runner(path)
    except NeedsTensorFlowError:
        return load_keras_runner(path)
