"""The robustness that is kept with a run: read back as it was, and refused where it is not sound."""

from __future__ import annotations

import json

import pytest

from workbench.errors import LinkFoundError, RunFolderError
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.runs.store.evaluation import (
    ROBUSTNESS_NAME,
    keep_robustness,
    read_robustness,
)

RESULT = Robustness(
    id=7,
    accuracy=0.9,
    count=10,
    total=20,
    measured=[AlteredAccuracy(test="Soft", strengths={"blur": 2.0}, level=0.5, accuracy=0.8)],
)


def test_it_is_read_as_it_was_kept(run):
    assert read_robustness(run) is None
    keep_robustness(run, RESULT, "abc")
    kept = read_robustness(run)
    assert (kept.result.measured, kept.result.accuracy) == (RESULT.measured, 0.9)
    assert (kept.checksum, kept.result.id) == ("abc", 0)
    assert kept.created > 1_600_000_000


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("result", "accuracy"), 1.2),
        (("result", "count"), 0),
        (("result", "total"), 3),
        (("result", "measured", 0, "accuracy"), -0.1),
        (("result", "measured", 0, "level"), 2),
        (("result", "measured", 0, "strengths"), {}),
        (("result", "measured", 0, "test"), 5),
        (("created",), -1),
        (("version",), 99),
    ],
)
def test_a_file_that_is_not_sound_is_refused(run, path, value):
    keep_robustness(run, RESULT, "abc")
    file = run.path / ROBUSTNESS_NAME
    plain = json.loads(file.read_text())
    inner = plain
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    file.write_text(json.dumps(plain))
    with pytest.raises(RunFolderError):
        read_robustness(run)


def test_nothing_is_written_through_a_link(run, tmp_path):
    (run.path / ROBUSTNESS_NAME).symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(LinkFoundError):
        keep_robustness(run, RESULT, "abc")
    assert not (tmp_path / "elsewhere.json").exists()
