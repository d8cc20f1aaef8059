"""A project's check on its data and its target, without a window."""

from __future__ import annotations

from dataclasses import replace

from workbench.backbones import backbone_keys, missing_weights, pretrained_layer
from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Project
from workbench.core.projects.texts import limits_of
from workbench.datasets import glance_at, missing_data_of
from workbench.layers import all_layers
from workbench.runs.moved_data import data_now
from workbench.targets import all_targets


def analysed(project: Project, dataset: DatasetFacts | None = None) -> Analysis:
    """What is known of a project, on its data, a `dataset` that is looked at where None is given,
    and on its target.
    """
    project = replace(project, dataset=data_now(project.dataset))
    return analyse(
        project.graph,
        all_layers(),
        recipe=project.recipe,
        dataset=dataset or glance_at(project),
        limits=limits_of(project.target, all_targets()),
        missing=(*missing_data_of(project), *missing_weights(backbone_keys(project.graph))),
        pretrained=pretrained_layer,
    )
