"""A report as a file: one HTML page, or a PDF."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from workbench import __version__
from workbench.core.format import local_time
from workbench.core.storage.save import save_bytes
from workbench.errors import RunError, UsageError
from workbench.parts import WINDOW
from workbench.processes.child import Child
from workbench.protocol.service_call import worker_environment
from workbench.report.blocks import LIGHT, Document, plain_name
from workbench.report.facts import Facts
from workbench.report.page import page
from workbench.report.sections import all_sections
from workbench.report.sections.repeat import file_name

# paper ---------------------------------------------------------------------------------------
# A report as a PDF: painted by Qt in a process of its own, as nothing here may import it.

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


# compose -------------------------------------------------------------------------------------
# A report of what is known of a run, section by section.


def compose(facts: Facts) -> Document:
    """The report as a value."""
    number = f"Run {facts.request.number}" if facts.request.number else "Run"
    created = local_time(facts.request.created) if facts.request.created else None
    when = f"{created:%Y-%m-%d %H:%M}" if created is not None else ""
    title = facts.summary.own_title or facts.summary.project or facts.request.title
    label = facts.summary.label
    parts = [label if facts.request.number == 0 else f"Run {label}", when]
    today = datetime.now().astimezone()
    return Document(
        title=plain_name(title or number),
        subtitle=plain_name(" · ".join(filter(None, parts))),
        sections=[each.make(facts) for each in all_sections().values()],
        project=facts.project_text,
        project_name=file_name(facts) if facts.project_text else "",
        colors=LIGHT,
        footer=f"Made with Workbench {__version__} on {today:%Y-%m-%d}.",
    )


# write ---------------------------------------------------------------------------------------

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
