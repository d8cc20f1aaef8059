"""A TPU that is not there, in front of real TensorFlow and a real trainer."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.core.projects.project import Choice
from workbench.errors import TpuError
from workbench.hardware.tpu_host import TpuHost
from workbench.protocol.events import PhaseChanged, RunFinished
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.state.outcome import outcome_of
from workbench.targets import all_targets
from workbench.worker.process.failure import error_parts

pytestmark = pytest.mark.worker

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(bool(TpuHost().chips()), reason="there is a TPU")
def test_tensorflow_without_tpu_support_is_explained():
    """What this TensorFlow raises, not a copy of its text."""
    import tensorflow as tf

    params = {"address": "local", "zone": "", "project": ""}
    with pytest.raises(TpuError) as refused:
        all_targets()["tpu"].connect(tf, params)
    words = "TensorFlow in this environment has no TPU support."
    assert (refused.value.what, error_parts(refused.value.__cause__).what) == (words, words)


@pytest.mark.skipif(bool(TpuHost().chips()), reason="there is a TPU")
def test_a_trainer_says_what_its_target_lacks_before_it_imports_tensorflow(small_project, tmp_path):
    project = replace(small_project(), target=Choice("tpu", {"address": "local"}))
    run = create_run(project, path=tmp_path / "run")
    code = (
        "import sys; from workbench.worker.trainer.train import run_training; "
        "code = run_training(sys.argv[1]); print(code, 'tensorflow' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "-c", code, str(run.path)], env=environment,
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert answer.stdout.splitlines()[-1] == "4 False"
    *others, finished = read_all(run.events_path)
    assert isinstance(finished, RunFinished)
    assert finished.error.kind == "TpuError"
    assert [event.phase for event in others if isinstance(event, PhaseChanged)] == ["starting"]
    assert "No TPU in this computer" in outcome_of(run).sentence()


class ResourceExhaustedError(Exception):
    """Named as TensorFlow's."""


def test_a_tpu_whose_memory_is_too_small_is_no_computer_whose_memory_is():
    hbm = "Ran out of memory in memory space hbm. Used 8.38G of 8.00G hbm. Exceeded by 391M."
    parts = error_parts(ResourceExhaustedError(hbm), batch_size=256)
    assert (parts.kind, parts.what) == (
        "TpuError",
        "It needs 8.38 GB per core; this TPU has 8.00.",
    )
    assert "batch size of 128" in parts.fix
    parts = error_parts(ResourceExhaustedError("OOM when allocating tensor"), batch_size=256)
    assert parts.kind == "OutOfMemoryError"
