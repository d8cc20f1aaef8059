"""A report as a PDF: painted by Qt in a process of its own, as nothing here may import it."""

from __future__ import annotations

import sys

import msgspec

from workbench.errors import RunError
from workbench.parts import WINDOW
from workbench.processes.child import Child
from workbench.protocol.worker_command import worker_environment
from workbench.report.blocks import Document

_DEADLINE_S = 60.0
_MOST_BYTES = 64 * 1024 * 1024
_HEAD = b"%PDF-"


def pdf(document: Document) -> bytes:
    """The file.

    Raises:
        MissingPartError: Qt is not installed.
        RunError: Qt cannot be loaded here, or has failed.
        DeadlineError: it took too long.
    """
    WINDOW.require()
    command = [sys.executable, "-P", "-m", "workbench.printing"]
    environment = {**worker_environment(), "QT_QPA_PLATFORM": "offscreen"}
    order = msgspec.json.encode(document)
    with Child(
        command, name="the PDF writer", environment=environment, order=order, counts_work=True
    ) as child:
        data = child.rest(limit=_MOST_BYTES, deadline_s=_DEADLINE_S)
        if child.exit_code() == 0 and data.startswith(_HEAD):
            return data
        raise RunError(
            "The PDF was not written.",
            where="the PDF writer",
            received=child.last_words(),
            fix="Write the report as .html, which a browser can print.",
        )
