"""`workbench check`: shapes, sizes and problems of a project, without TensorFlow."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from workbench.checkup.analysed import analysed
from workbench.cli._options import add_json_option, add_project, recipe_value
from workbench.cli._output import print_json, print_line, print_text
from workbench.cli._project import problems_as_json
from workbench.core.checks.analysis import Analysis
from workbench.core.checks.estimates import RunEstimate
from workbench.core.checks.problems import SEVERITY_WORDS, Fix
from workbench.core.format import bytes_text, count, shape_text
from workbench.core.network.graph import Node
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.datasets import all_datasets, facts_of
from workbench.runs.state.preparing import data_mark, predict_run, read_speeds

NAME = "check"
HELP = "show shapes, parameters, multiply-adds, memory and problems of a project"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, --batch and --json."""
    add_project(parser)
    parser.epilog = "Exit code: 0 trainable, 1 errors that stop training, 3 unreadable project."
    parser.add_argument(
        "--batch",
        type=recipe_value("batch_size"),
        metavar="N",
        help="batch size for the memory estimate",
    )
    parser.add_argument(
        "--layers", action="store_true", help="list the layers of groups one by one"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings; 1 when some stop training."""
    project = read_project(arguments.project)
    recipe = project.recipe
    if arguments.batch is not None:
        recipe = recipe.with_values(batch_size=arguments.batch)
    analysis = analysed(replace(project, recipe=recipe))
    prediction = None
    if not analysis.network_errors:
        facts, data = facts_of(project), data_mark(project.dataset)
        prediction = predict_run(analysis, recipe, facts, speeds=read_speeds(), data=data)
    if arguments.json:
        print_json(_as_json(project, analysis, prediction) | {"downloads": _downloads(project)})
    else:
        _print_table(project, analysis, is_whole=arguments.layers)
        if (downloads := _downloads(project)) is not None:
            size = f" ({bytes_text(downloads)})" if downloads else ""
            print_line(
                f"The images are not on this computer yet: training downloads them first{size}, "
                "which needs a connection."
            )
        if prediction is not None:
            print_text(
                f"Batch {recipe.batch_size:,}: {prediction.sentence()} ({prediction.basis()})"
            )
    return 0 if analysis.is_trainable else 1


def _downloads(project: Project) -> int | None:
    """Bytes that training downloads first, 0 where the size is not known; None for nothing."""
    spec = all_datasets().get(project.dataset.key)
    missing = spec.not_kept() if spec is not None else ()
    return sum(file.num_bytes for file in missing) if missing else None


def _as_json(
    project: Project, analysis: Analysis, prediction: RunEstimate | None
) -> dict[str, Any]:
    costs = analysis.costs
    nodes = [
        {
            "id": node.id,
            "kind": node.kind,
            "name": node.name,
            "output_shape": analysis.shapes.get(node.id),
            "parameters": costs.nodes[node.id].parameters.total if node.id in costs.nodes else None,
        }
        for node in project.graph.nodes.values()
    ]
    return {
        "ok": analysis.is_trainable,
        "parameters": costs.parameters.total,
        "trainable_parameters": costs.parameters.trainable,
        "multiply_adds": costs.multiply_adds,
        "memory_bytes": costs.memory_bytes,
        "prediction": None
        if prediction is None
        else {**asdict(prediction), "fits": prediction.fits, "words": prediction.sentence()},
        "nodes": nodes,
        "problems": problems_as_json(analysis.problems),
    }


def _print_table(project: Project, analysis: Analysis, *, is_whole: bool) -> None:
    costs = analysis.costs
    nodes = [project.graph.nodes[key] for key in project.graph.order]
    # A group is one line, where its layers follow each other.
    for group, run in groupby(nodes, lambda node: "" if is_whole else node.group):
        _print_layers(group, list(run), analysis)
    print_text(
        f"{costs.parameters.total:,} parameters ({costs.parameters.trainable:,} trainable), "
        f"{costs.multiply_adds:,} multiply-adds per image"
    )
    for problem in analysis.problems:
        print_line(f"{SEVERITY_WORDS[problem.severity]}: {problem.title}. {problem.message}")
        for fix in problem.fixes:
            print_line(f"    fix: {_how(fix)}")


def _how(fix: Fix) -> str:
    """A fix in words, with the command for one that `workbench fix` cannot apply."""
    return f"{fix.title}: {fix.command}" if fix.backbone else fix.title


def _print_layers(group: str, nodes: Sequence[Node], analysis: Analysis) -> None:
    """Prints a line for each layer, or one for a group of them."""
    if not group:
        for node in nodes:
            _print_row(node.name, node.kind, [node], analysis)
        return
    frozen = sum(node.training == "never" for node in nodes)
    words = f"{len(nodes)} layers" + (f", {count(frozen)} frozen" if frozen else "")
    _print_row(group, words, nodes, analysis)


def _print_row(name: str, words: str, nodes: Sequence[Node], analysis: Analysis) -> None:
    output = analysis.shapes.get(nodes[-1].id)
    shape = shape_text(output) if output else "?"
    costs = analysis.costs.nodes
    number = sum(costs[node.id].parameters.total for node in nodes if node.id in costs)
    print_text(f"{name:28} {words:24} {shape:>18} {number:>14,}")
