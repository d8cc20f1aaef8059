"""The bundled projects to start from: files under resources/templates."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from workbench.assets import template_paths
from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.datasets import all_datasets
from workbench.errors import UsageError
from workbench.layers import all_layers


@dataclass(frozen=True)
class Template:
    """One project to start from.

    Attributes:
        key: File name without ending, e.g. "cifar10_convnet".
        title, summary: Words of its card.
        note: A short remark for the card's last line, e.g. "published accuracy 80.8%".
        differs: In what its recipe is another than the published one; "" for nothing.
        dataset_title: The images it is made for, in words.
        parameters: Number of parameters, trainable or not.
        order: Place on the welcome page, from 1.
        project: The project without the card's words.
    """

    key: str
    title: str
    summary: str
    note: str
    differs: str
    dataset_title: str
    parameters: int
    order: int
    project: Project

    @property
    def data_note(self) -> str:
        """Source of its images, as in `DatasetSpec.availability`. Looks at the disk."""
        chosen = self.project.dataset
        return all_datasets()[chosen.key].availability(chosen.params)

    @property
    def differs_note(self) -> str:
        """`differs` as a line of its own; "" for nothing."""
        return f"Differs from the publication: {self.differs}" if self.differs else ""


@cache
def list_templates() -> tuple[Template, ...]:
    """All templates in the order of the welcome page."""
    return tuple(sorted(map(_read, template_paths()), key=lambda template: template.order))


def find_template(key: str) -> Template:
    """The template of a key; raises UsageError that suggests near keys."""
    by_key = {template.key: template for template in list_templates()}
    template = by_key.get(key)
    if template is None:
        near = difflib.get_close_matches(key.lower(), list(by_key), n=3, cutoff=0.5)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(
            f'There is no template "{key}".{meant}',
            received=key,
            expected="one of " + ", ".join(by_key),
            fix="`workbench templates` lists them.",
        )
    return template


def _read(path: Path) -> Template:
    # Not read_project: the empty path of a template means "not chosen yet".
    whole = parse_project(path.read_text(encoding="utf-8"), path.name)
    words = whole.extra.get("template", {})
    extra = {key: value for key, value in whole.extra.items() if key != "template"}
    project = replace(whole, extra=extra)
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    return Template(
        key=path.stem,
        title=project.title,
        summary=project.summary,
        note=words.get("note", ""),
        differs=words.get("differs", ""),
        dataset_title=words.get("dataset_title", ""),
        parameters=analysis.costs.parameters.total,
        order=words.get("order", 0),
        project=project,
    )
