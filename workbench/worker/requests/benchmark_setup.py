"""A project set up for a short trial outside any run: what the finders measure with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.pictures.prepare import PreparedData, prepare
from workbench.worker.execution.compiled import Compiled, compile_training, connect, sizes_of
from workbench.worker.input.sources import fit_of, load_data
from workbench.worker.requests.session import Job
from workbench.worker.trainer.setup import checked_input_shape


@dataclass(frozen=True)
class BenchmarkSetup:
    """A project with the trial's own recipe, and the images of its training part, ready to be
    compiled again and again.
    """

    job: Job
    project: Project
    data: PreparedData

    def compiled(self, **recipe: Any) -> Compiled:
        """Model, optimizer and pipeline with some values of the recipe changed."""
        project = replace(self.project, recipe=self.project.recipe.with_values(**recipe))
        target = connect(project)
        return compile_training(
            project,
            self.data,
            target=target,
            sizes=sizes_of(project, len(self.data.train), replicas=target.replicas),
            check=self.job.check_cancelled,
        )


def set_up(job: Job, project_text: str, **recipe: Any) -> BenchmarkSetup:
    """Loads and decodes the images of a project, as in its file, with values of the recipe that
    the trial needs otherwise.

    Raises:
        GraphError: the network cannot be trained; every reason is named.
        DatasetError: the images cannot be read.
    """
    project = parse_project(project_text, "the project")
    project = replace(project, recipe=project.recipe.with_values(**recipe))
    shape = checked_input_shape(project)
    job.keras()
    loaded = load_data(job, project)
    fit = fit_of(project.dataset.params)
    data = prepare(loaded, shape=shape, fit=fit, recipe=project.recipe, ctx=job)
    # Nothing is validated or tested in a trial.
    return BenchmarkSetup(job, project, replace(data, validation=None, test=None))
