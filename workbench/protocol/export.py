"""Writing a run, or a project as a program, in an export format."""

from __future__ import annotations

from workbench.protocol.bases import Request


class Export(Request, frozen=True, kw_only=True, tag="export"):
    """Writes a run in an export format. Answer: Done with the words to show."""

    model: str
    format: str
    path: str


class ExportProject(Request, frozen=True, kw_only=True, tag="export_project"):
    """Writes a program that trains a project (file text) elsewhere. Answer: Done with words."""

    project: str
    format: str
    path: str
