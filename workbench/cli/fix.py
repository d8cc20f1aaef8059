"""`workbench fix`: lists the fixes of a project's problems, and applies them in its file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.checkup.analysed import analysed
from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line
from workbench.cli._project import problems_as_json
from workbench.core.checks.problems import SEVERITY_WORDS, Fix, Problem
from workbench.core.format import plural
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_bytes, read_stamped
from workbench.core.storage.save import OnlyOver, save_bytes
from workbench.errors import UsageError
from workbench.runs.home import data_home

NAME = "fix"
HELP = "list the fixes of a project's problems, or apply them"

_MOST_FIXES = 1_000
"""Far more than a network has problems: an end for whatever would go round in a circle."""

Chosen = list[tuple[Problem, Fix]]
"""Fixes, each with the problem that it is for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, N, --all and --json."""
    add_project(parser, "project file to fix")
    parser.add_argument(
        "number",
        nargs="?",
        type=int,
        metavar="N",
        help="apply the fix of this number; without it, the fixes are listed",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="apply the first fix of each problem until none is left",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Lists or applies; 1 while problems that stop training are left."""
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    if arguments.all and arguments.number is not None:
        raise UsageError("N and --all are given.", fix="Give a number, or --all.")
    if arguments.all:
        after, applied = _with_all(before)
    elif arguments.number is not None:
        after, applied = _with_one(before, arguments.number)
    else:
        return _list(before, as_json=arguments.json)
    if applied:
        guard = OnlyOver(path, [stamp], data_home() / "open")
        save_bytes(path, project_bytes(after, path), guard=guard)
    return _report(path, after, applied, as_json=arguments.json)


def _numbered(project: Project) -> Chosen:
    return [(problem, fix) for problem in analysed(project).problems for fix in problem.fixes]


def _fixed(project: Project, fix: Fix) -> Project:
    """The project with a fix; layers that are gone lose their places on the canvas."""
    graph = fix.apply(project.graph)
    places = {key: place for key, place in project.view.positions.items() if key in graph.nodes}
    view = replace(project.view, positions=places)
    recipe = project.recipe.with_values(**fix.recipe)
    return replace(project, graph=graph, recipe=recipe, view=view)


def _with_one(project: Project, number: int) -> tuple[Project, Chosen]:
    found = _numbered(project)
    if not 1 <= number <= len(found):
        raise UsageError(
            f"There is no fix {number:,}.",
            received=str(number),
            expected=f"1 to {len(found):,}" if found else "a project with problems",
            fix="Without a number, `workbench fix` lists the fixes.",
        )
    problem, fix = found[number - 1]
    if fix.is_asked:
        raise UsageError(
            "Another command applies this fix.",
            where=problem.title,
            fix=f"For example: {fix.command}" if fix.data_param else f"Run `{fix.command}`.",
        )
    return _fixed(project, fix), [(problem, fix)]


def _with_all(project: Project) -> tuple[Project, Chosen]:
    """Applies until no problem has a fix that leads to a project that was not there before."""
    seen, applied = [project], Chosen()
    while len(applied) < _MOST_FIXES:
        step = next(_new_steps(seen), None)
        if step is None:
            break
        problem, fix, after = step
        seen.append(after)
        applied.append((problem, fix))
    return seen[-1], applied


def _new_steps(seen: list[Project]) -> Iterator[tuple[Problem, Fix, Project]]:
    for problem in analysed(seen[-1]).problems:
        for fix in problem.fixes[:1]:
            after = _fixed(seen[-1], fix)
            if after not in seen:
                yield problem, fix, after


def _list(project: Project, *, as_json: bool) -> int:
    analysis, found = analysed(project), _numbered(project)
    if as_json:
        rows = [
            {
                "number": number,
                "key": fix.key,
                "title": fix.title,
                "node": problem.node,
                "problem": problem.title,
            }
            for number, (problem, fix) in enumerate(found, start=1)
        ]
        problems = problems_as_json(analysis.problems)
        print_json({"ok": analysis.is_trainable, "fixes": rows, "problems": problems})
    else:
        _print_problems(analysis.problems)
    return 0 if analysis.is_trainable else 1


def _print_problems(problems: list[Problem]) -> None:
    number = 0
    for problem in problems:
        print_line(f"{SEVERITY_WORDS[problem.severity]}: {problem.title}. {problem.message}")
        for fix in problem.fixes:
            number += 1
            print_line(f"    {number}. {fix.title}")
    if not problems:
        print_line("No problems.")


def _report(path: Path, project: Project, applied: Chosen, *, as_json: bool) -> int:
    analysis = analysed(project)
    if as_json:
        rows = [
            {"key": fix.key, "title": fix.title, "node": problem.node, "problem": problem.title}
            for problem, fix in applied
        ]
        problems = problems_as_json(analysis.problems)
        value = {"project": str(path), "ok": analysis.is_trainable, "applied": rows}
        print_json({**value, "problems": problems})
    else:
        for problem, fix in applied:
            print_line(f"{problem.title}: {fix.title}.")
        left = plural(len(analysis.problems), "problem") if analysis.problems else "no problems"
        print_line(f"Applied {plural(len(applied), 'fix', 'fixes')} to {path}; {left} left.")
        if analysis.problems:
            _print_problems(analysis.problems)
    return 0 if analysis.is_trainable else 1
