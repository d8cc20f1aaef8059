"""Fixes are found in slices: a large network is not held up, a small one has them at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QCoreApplication

from tests.big_network import deep_project
from workbench.document.project_document import ProjectDocument
from workbench.layers import all_layers

LARGE = 75


class Watched:
    """A problem of a document, and how many of its fixes have been taken to be tried."""

    def __init__(self, problem):
        self.taken = 0
        self.problem = replace(problem, offers=lambda: self._count(problem.offers))

    def _count(self, offers):
        for fix in offers():
            self.taken += 1
            yield fix


@pytest.fixture
def document(qapp):
    return ProjectDocument(all_layers())


@pytest.fixture
def found(document):
    """The problems that are reported, in order."""
    found = []
    document.fixes.found.connect(found.append)
    return found


def strays(document):
    return [Watched(each) for each in document.analysis.problems if each.severity == "unfinished"]


def turn():
    QCoreApplication.processEvents()


def test_in_a_large_network_one_fix_is_tried_in_a_turn(document, found) -> None:
    document.new(deep_project(LARGE, strays=2))
    watched, _ = strays(document)
    assert document.fixes.fixes_of(watched.problem) is None
    taken = [watched.taken]
    while not found:
        turn()
        taken.append(watched.taken)
    assert taken[0] == 0
    assert {after - before for before, after in pairwise(taken)} <= {0, 1}
    assert taken[-1] > 2
    assert found == [watched.problem]
    fixes = document.fixes.fixes_of(watched.problem)
    assert fixes == next(each for each in document.analysis.problems if each == found[0]).fixes
    turn()
    assert len(found) == 1


def test_in_a_small_network_they_are_there_at_once(document, found) -> None:
    document.new(deep_project(1, strays=1))
    (watched,) = strays(document)
    assert document.fixes.fixes_of(watched.problem) == watched.problem.fixes != ()
    turn()
    assert found == []


def test_an_edit_drops_what_is_still_to_be_tried(document, found) -> None:
    document.new(deep_project(LARGE, strays=2))
    watched, other = strays(document)
    document.fixes.fixes_of(watched.problem)
    turn()
    taken = watched.taken
    document.set_params("conv2d3", filters=9)
    for _ in range(20):
        turn()
    assert (watched.taken, other.taken, found) == (taken, 0, [])


def test_those_of_before_an_edit_are_shown_until_all_are_tried_again(document, found) -> None:
    document.new(deep_project(LARGE, strays=1))
    (before,) = strays(document)
    fixes = before.problem.fixes
    document.fixes.fixes_of(before.problem)
    document.set_params("conv2d3", filters=9)
    (watched,) = strays(document)
    assert document.fixes.fixes_of(watched.problem) is fixes
    assert watched.problem.known_fixes is None
    while not found:
        turn()
    assert document.fixes.fixes_of(watched.problem) is watched.problem.known_fixes


def test_who_asks_first_is_served_first(document, found) -> None:
    document.new(deep_project(LARGE, strays=3))
    asked = [watched.problem for watched in reversed(strays(document))]
    for problem in (*asked, asked[0]):
        document.fixes.fixes_of(problem)
    while len(found) < len(asked):
        turn()
    assert found == asked
