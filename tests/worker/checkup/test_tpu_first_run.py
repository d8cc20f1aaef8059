"""The checklist of the first run on a TPU, walked on two replicas of this computer."""

from __future__ import annotations

import json

import pytest

from workbench.checkup.tpu_first_run import NO_CHIP, _replicas_in_words
from workbench.cli import main
from workbench.errors import RunError
from workbench.hardware.tpu_host import TpuHost

pytestmark = pytest.mark.worker

HAS_CHIP = bool(TpuHost().chips())
STEPS = [
    "versions", "chips", "two steps", "agreement", "uninterrupted run", "pause",
    "replicas agree after load", "resume", "kill and resume", "memory",
]  # fmt: skip


@pytest.mark.timeout(900)
def test_every_step_that_needs_no_chip_runs_here_and_goes_well(tmp_path, capsys):
    report = tmp_path / "report.json"
    words = ["tpu-first-run", "--target", "virtual:2,like_tpu", "--report", str(report), "--json"]
    code = main(words)
    steps = {line["name"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert list(steps) == STEPS
    failed = [step for step in steps.values() if step["ran"] and not step["ok"]]
    assert (code, failed) == (0, [])
    kept = json.loads(report.read_bytes())
    assert (kept["target"], kept["steps"]) == ("virtual:2,like_tpu", list(steps.values()))
    here = [name for name in STEPS if name not in {"versions", "chips", "memory"}]
    assert {steps[name]["level"] for name in here} == {"L3"}
    assert all(steps[name]["ran"] and steps[name]["seconds"] > 0 for name in here)
    assert "2 replicas" in steps["two steps"]["result"]
    assert "all 2 replicas" in steps["replicas agree after load"]["result"]
    if not HAS_CHIP:
        assert [steps[name]["result"] for name in ("chips", "memory")] == [NO_CHIP, NO_CHIP]


@pytest.mark.skipif(HAS_CHIP, reason="there is a TPU")
def test_without_a_chip_nothing_is_said_to_have_run_on_one(tmp_path, capsys):
    report = tmp_path / "report.md"
    assert main(["tpu-first-run", "--target", "tpu:local", "--report", str(report)]) == 1
    text = report.read_text()
    rows = [row for row in text.splitlines() if row.startswith("| ") and "---" not in row][1:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == STEPS
    assert "FAILED" in rows[0]  # this TensorFlow cannot train on a TPU
    assert all(f"| L5 | no | {NO_CHIP} |" in row for row in rows[1:])
    assert NO_CHIP in capsys.readouterr().out


def test_what_the_check_of_replicas_says_is_believed_only_when_it_is_whole():
    good = b'noise\n{"replicas": 8, "variables": 9, "differing": [], "memory_bytes": 1500000000}\n'
    assert _replicas_in_words(good.splitlines(), 0).endswith("8 replicas; 1.5 GB peak")
    bad = b'{"replicas": 8, "variables": 9, "differing": ["state/a"], "memory_bytes": 0}'
    with pytest.raises(RunError, match="replicas differ") as caught:
        _replicas_in_words([bad], 1)
    assert caught.value.received == "state/a"
    with pytest.raises(RunError, match="check failed"):
        _replicas_in_words([], -11)
    with pytest.raises(RunError, match="check failed"):
        _replicas_in_words([good, b"\xff"], 0)
    lost = {"what": "Gone.", "where": "", "received": "", "expected": "", "fix": ""}
    with pytest.raises(RunError, match="Gone"):
        _replicas_in_words([json.dumps({"error": lost}).encode()], 4)
