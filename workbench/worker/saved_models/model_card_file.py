"""The model card of whatever can classify: a run folder, or a `.keras` that we exported."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import WeightsError
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, decode_card
from workbench.worker.saved_models.foreign_weights import read_archive_member

CARD_MEMBER = "workbench.json"
"""Our model card inside an exported `.keras` file."""

_MAX_CARD_BYTES = 8 << 20


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
            fix="For other weights, open their project and load them there.",
        ) from error
    return decode_card(data, f"{path}: {CARD_MEMBER}")
