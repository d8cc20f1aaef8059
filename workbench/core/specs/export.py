"""What an export format's plug-in file declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ExportSpec:
    """One export format.

    Attributes:
        key: FORMAT on the command line: keras, weights, python.
        title, summary: Words for people.
        suffix: Ending of the file it writes, e.g. ".keras".
        write: (ExportContext-like object handed by the worker, path) -> None; see
            worker/requests/export.py for what it is handed.
        needs_weights: It is made of a run; else of a project that was never trained, see
            worker/requests/export_project.py for what `write` is handed then.
        write_project: Writes a project that was never trained in a format that is else made of a
            run; handed the same as there. None where it needs weights.
    """

    key: str
    title: str
    summary: str
    suffix: str
    write: Callable[[Any, str], None]
    needs_weights: bool = True
    write_project: Callable[[Any, str], None] | None = None
