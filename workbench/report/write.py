"""A report as a file: one HTML page, or a PDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.core.storage.save import save_bytes
from workbench.errors import UsageError
from workbench.report.blocks import Document
from workbench.report.page import page
from workbench.report.paper import pdf

_WRITERS: dict[str, Callable[[Document], bytes]] = {".html": page, ".pdf": pdf}

REPORT_ENDINGS = tuple(_WRITERS)
"""How the files end that a report is written as."""


def check_ending(path: Path) -> None:
    """Raises UsageError for a file that is no report by its name."""
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(
            "A report is written as HTML or PDF.",
            received=path.name,
            expected="a file name that ends with " + " or ".join(_WRITERS),
        )


def write_report(document: Document, path: Path) -> None:
    """Writes the file, whole or not at all.

    Raises:
        UsageError: another ending.
        RunError: the PDF could not be made.
        SaveError: the file could not be written.
    """
    check_ending(path)
    save_bytes(path, _WRITERS[path.suffix.lower()](document))
