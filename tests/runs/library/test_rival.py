"""Which run a run is compared with."""

from __future__ import annotations

import math
from pathlib import Path

from workbench.runs.library.projects import rival_of
from workbench.runs.library.summary import RunSummary


def listed(name, accuracy, **more):
    values = {"project_id": "p", "dataset": "flowers", "request_key": name, "outcome": "completed"}
    return RunSummary(
        path=Path("/runs", name), name=name, label=name, title="", words="", created=0.0,
        best_val_accuracy=accuracy, **{**values, **more},
    )  # fmt: skip


OWN = listed("own", 0.80, outcome="running")


def test_the_nearest_run_of_the_project_is_the_rival():
    runs = [OWN, listed("far", 0.5), listed("near", 0.82), listed("other", 0.9)]
    assert rival_of(OWN.path, runs) == ("near", 0.82)


def test_other_images_other_projects_and_repeats_are_no_rivals():
    runs = [
        OWN,
        listed("elsewhere", 0.8, project_id="q"),
        listed("images", 0.8, dataset="cifar"),
        listed("repeat", 0.8, request_key="own"),
        listed("live", 0.8, outcome="running"),
        listed("unmeasured", None),
    ]
    for some in (runs, runs[1:], [listed("own", 0.8, project_id="")], [listed("own", None)]):
        name, accuracy = rival_of(OWN.path, some)
        assert name == ""
        assert math.isnan(accuracy)
