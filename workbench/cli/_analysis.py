"""A project's check, as the commands that ask for it make it and print it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.backbones import backbone_keys, missing_weights, pretrained_layer
from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.problems import Problem
from workbench.core.projects.project import Project
from workbench.core.projects.target_text import limits_of
from workbench.datasets import glance_at, missing_data_of
from workbench.layers import all_layers
from workbench.targets import all_targets


def analysed(project: Project) -> Analysis:
    """What is known of a project, on its data and its target."""
    return analyse(
        project.graph,
        all_layers(),
        recipe=project.recipe,
        dataset=glance_at(project),
        limits=limits_of(project.target, all_targets()),
        missing=(*missing_data_of(project), *missing_weights(backbone_keys(project.graph))),
        pretrained=pretrained_layer,
    )


def problems_as_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems for programs: what is not finished is an error, with a mark."""
    return [
        {
            "node": problem.node,
            "severity": problem.level,
            "unfinished": problem.severity == "unfinished",
            "title": problem.title,
            "message": problem.message,
            "fixes": [{"key": fix.key, "title": fix.title} for fix in problem.fixes],
        }
        for problem in problems
    ]
