"""A project: what to train, how, on what, where; and how it looks on the canvas."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from workbench.core.network.graph import Graph
from workbench.core.network.layout import Position
from workbench.core.projects.data_edits import DataEdits, Versions
from workbench.core.training.recipe import TrainingRecipe

# robustness ----------------------------------------------------------------------------------
# Robustness tests of a project: alterations of the test images that each later run is measured on.
#
# What an alteration does is defined in `workbench.alterations`; a project keeps those of other
# versions too.

MAX_TESTS = 20
"""More take longer to measure than a small network to train."""

MAX_NAME = 100
MAX_ALTERATIONS = 20
_EXPECTED = "an object with name, and strengths: a number for each alteration"

Report = Callable[[str, Any, str], None]
"""Called with a place in the file, what is there, and what is expected, for what is wrong."""


@dataclass(frozen=True)
class RobustnessTest:
    """Alterations of test images that are measured together.

    Attributes:
        name: Words of the user; each test of a project has its own.
        strengths: Key of an alteration -> its strength, in its unit; at least one.
    """

    name: str
    strengths: Mapping[str, float]


def tests_to_plain(tests: Iterable[RobustnessTest]) -> list[dict[str, Any]]:
    """The tests as JSON values."""
    return [{"name": test.name, "strengths": dict(test.strengths)} for test in tests]


def read_tests(plain: Any, report: Report) -> tuple[RobustnessTest, ...]:
    """The tests of JSON values; each that is wrong is reported with its place, and left out.

    One without strengths, which earlier versions could save, alters nothing: it is left out.
    """
    if not isinstance(plain, list) or len(plain) > MAX_TESTS:
        report("robustness", plain, f"a list of at most {MAX_TESTS} tests")
        return ()
    tests: dict[str, RobustnessTest] = {}
    for index, item in enumerate(plain):
        if not _is_test(item):
            report(f"robustness[{index}]", item, _EXPECTED)
        elif item["name"] in tests:
            report(f"robustness[{index}].name", item["name"], "a name that no test before it has")
        elif item["strengths"]:
            tests[item["name"]] = RobustnessTest(item["name"], dict(item["strengths"]))
    return tuple(tests.values())


def with_test(
    tests: tuple[RobustnessTest, ...], test: RobustnessTest
) -> tuple[RobustnessTest, ...]:
    """The tests with another one at the end, in place of one with its name."""
    return (*(each for each in tests if each.name != test.name), test)


def is_name(text: object) -> bool:
    """Whether a text can be the name of a test."""
    return isinstance(text, str) and 0 < len(text.strip()) <= MAX_NAME and text.isprintable()


def _is_test(item: object) -> bool:
    if not isinstance(item, dict) or not is_name(item.get("name")):
        return False
    strengths = item.get("strengths")
    return (
        isinstance(strengths, dict)
        and len(strengths) <= MAX_ALTERATIONS
        and all(is_name(key) and _is_strength(value) for key, value in strengths.items())
    )


def _is_strength(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)  # type: ignore[arg-type]


# project -------------------------------------------------------------------------------------

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Choice:
    """A plug-in chosen by key, with its parameter values: a dataset or a target."""

    key: str
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True)
class View:
    """Layout and zoom of the canvas; has no meaning for training.

    Attributes:
        positions: Top-left corner of each node in scene pixels, by node id.
        zoom: Scale of the canvas, 1.0 is 100%.
        center: Scene point in the middle of the canvas, or None to fit all.
        folded: Names of the groups that are drawn as one card.
    """

    positions: Mapping[str, Position] = field(default_factory=lambda: _EMPTY)
    zoom: float = 1.0
    center: Position | None = None
    folded: frozenset[str] = frozenset()


def new_project_id() -> str:
    """An identity that no other project has."""
    return secrets.token_hex(8)


HERE = Choice("this_computer")
"""The target of a project that names none: the computer that the program runs on."""


@dataclass(frozen=True)
class Project:
    """Everything a project file holds. A value: changes make a new one.

    Attributes:
        id: Identifies it among all projects, whatever they are called: runs belong to the
            project with their id. "" for one that has no identity yet, such as a template.
        title: Words for people; the file name is used where it is empty.
        summary: One sentence about it.
        edits: What the user has changed about the images, beside the files.
        robustness: Alterations of the test images that each run is measured on.
        data_versions: Named earlier states of the edits.
        extra: Top-level fields of the file that this version does not define; written back.
    """

    graph: Graph = field(default_factory=Graph)
    recipe: TrainingRecipe = field(default_factory=TrainingRecipe)
    dataset: Choice = field(default_factory=lambda: Choice("fashion_mnist"))
    target: Choice = HERE
    edits: DataEdits = field(default_factory=DataEdits)
    robustness: tuple[RobustnessTest, ...] = ()
    data_versions: Versions = ()
    view: View = field(default_factory=View)
    id: str = ""
    title: str = ""
    summary: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
