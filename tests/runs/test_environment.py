"""The environment of a trainer, and the way back to the user's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunError
from workbench.runs.environment import (
    OUTER_VARIABLE,
    project_environment,
    target_environment,
    trainer_environment,
    users_environment,
)
from workbench.targets.this_computer import SPEC as THIS_COMPUTER


def test_a_trainer_gives_the_next_one_the_users_environment():
    user = {"HOME": "/home/me", "PYTHONPATH": "/mine", "TF_CPP_MIN_LOG_LEVEL": "0"}
    pinned = Project(recipe=TrainingRecipe(threads=1))
    first = trainer_environment(pinned, {"MARK": "7"}, user)
    assert first["TF_NUM_INTRAOP_THREADS"] == "1"
    assert first["MARK"] == "7"
    assert first["HOME"] == "/home/me"
    assert first["PYTHONPATH"].endswith(":/mine")
    assert users_environment(first) == user
    second = trainer_environment(Project(), {}, first)
    assert "TF_NUM_INTRAOP_THREADS" not in second
    assert "MARK" not in second
    assert second["PYTHONPATH"] == first["PYTHONPATH"]
    assert users_environment(second) == user


@pytest.mark.parametrize("own", [{}, {"TMPDIR": "/scratch"}])
def test_the_temporary_folder_of_a_trainer_is_not_that_of_the_next_one(own):
    first = trainer_environment(Project(), {}, {"HOME": "/home/me", **own})
    second = trainer_environment(Project(), {}, {**first, "TMPDIR": "/session"})
    assert second == first


def test_variables_of_others_stay_as_they_are():
    assert users_environment({"A": "1"}) == {"A": "1"}
    assert OUTER_VARIABLE in trainer_environment(Project(), {}, {"A": "1"})


def test_threads_are_pinned_only_when_the_recipe_says_so():
    assert "TF_NUM_INTRAOP_THREADS" not in project_environment(Project())


def test_an_unknown_target_is_refused():
    project = replace(Project(), target=Choice("toaster", {}))
    with pytest.raises(RunError) as caught:
        trainer_environment(project, {}, {})
    assert caught.value.received == "toaster"
    assert target_environment(Project().target)["KERAS_BACKEND"] == "tensorflow"


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        (None, "glibc.malloc.hugetlb=1"),
        ("glibc.malloc.check=1", "glibc.malloc.check=1:glibc.malloc.hugetlb=1"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
    ],
)
def test_memory_comes_in_large_pages_unless_the_user_says_otherwise(monkeypatch, users, expected):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if users is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", users)
    assert THIS_COMPUTER.environment({})["GLIBC_TUNABLES"] == expected
