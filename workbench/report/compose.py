"""A report of what is known of a run, section by section."""

from __future__ import annotations

from datetime import datetime

from workbench import __version__
from workbench.core.format import local_time
from workbench.report.blocks import Document, plain_name
from workbench.report.facts import Facts
from workbench.report.palette import LIGHT
from workbench.report.sections import all_sections
from workbench.report.sections.repeat import file_name


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
