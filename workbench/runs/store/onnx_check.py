"""What comparing ONNX Runtime with TensorFlow has found, in a run's card."""

from __future__ import annotations

import msgspec

from workbench.runs.folder import RunFolder
from workbench.runs.model_card import OnnxCheck, write_card
from workbench.runs.ownership import check_own


def keep_onnx_check(run: RunFolder, found: OnnxCheck) -> None:
    """Writes what was found of a run's present weights into its card.

    Raises:
        LinkFoundError: the folder is a link.
        RunFolderError, SaveError: it cannot be read or written.
    """
    check_own(run.path)
    write_card(run.path, msgspec.structs.replace(run.model_card(), onnx_check=found))
