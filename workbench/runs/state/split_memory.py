"""Memory of where a project's runs have cut its split by content, so that its next run cuts there
too.

Remembered are the marks that the newest such run has logged, so that images added since join by
their hash and none of the others moves. They are kept with the runs, not written into the project
file behind its user's back: a training changes no file of the user's, and is the moment when the
images are known. A project that has marks of its own (`DataEdits.split`) goes first.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

from workbench.core.projects.project import Project
from workbench.core.split_marks import SplitMarks, read_marks
from workbench.core.training.content_split import SplitRule
from workbench.datasets import all_datasets
from workbench.errors import ProjectFileError, RunFolderError
from workbench.protocol.events import DataReady
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.log.event_log import first_of
from workbench.runs.moved_data import data_now
from workbench.runs.numbers import numbered_runs

_MOST_LOOKED_AT = 20
"""Runs that are looked at, the newest first: of other settings, or stopped before their start."""


def with_remembered_split(project: Project, home: Path | None = None) -> Project:
    """The project with the marks of its earlier runs, as far as it has none itself.

    Args:
        project: To be trained.
        home: Folder of its runs; the user's where None.
    """
    if project.recipe.split != "content" or not project.id:
        return project
    keys = {
        SplitRule.of(project.recipe, has_test=has_test, has_validation=has_validation).key
        for has_test, has_validation in product((False, True), repeat=2)
    }
    own = project.edits.split
    runs = [*numbered_runs(home or runs_home(), project.id).values()]
    for path in reversed(runs[-_MOST_LOOKED_AT:]):
        marks = _marks_of(RunFolder(path), project)
        if marks.made_for in keys and marks.made_for == (own.made_for or marks.made_for):
            marks = SplitMarks(marks.made_for, {**marks.bounds, **own.bounds})
            return replace(project, edits=replace(project.edits, split=marks))
    return project


def _marks_of(run: RunFolder, project: Project) -> SplitMarks:
    """What a run has logged, or was to use; none where it trained on other data."""
    try:
        requested = run.request().to_project()
    except (RunFolderError, ProjectFileError):
        return SplitMarks()
    if _data_name(requested) != _data_name(project):
        return SplitMarks()
    event = first_of(run.events_path, DataReady)
    logged = read_marks(event.split, lambda *_: None) if event is not None else SplitMarks()
    return logged or requested.edits.split


def _data_name(project: Project) -> tuple[str, str]:
    """Which data a project is on: by name, so that a folder may be moved; by its new name where it
    was renamed.
    """
    data = data_now(project.dataset)
    spec = all_datasets().get(data.key)
    return data.key, spec.name_of(data.params) if spec is not None else ""
