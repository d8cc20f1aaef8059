"""`workbench resume` and `stop --pause`, without TensorFlow."""

from __future__ import annotations

import json

from tests.written_runs import WrittenRun
from workbench.cli import main
from workbench.cli import resume as resume_command
from workbench.runs.control import command_of


def _json_lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_completed_and_a_running_run_are_refused(written, capsys):
    completed = written("done").begin().train(1).finish("completed")
    assert main(["resume", str(completed.path), "--json"]) == 3
    assert "is completed" in _json_lines(capsys)[0]["error"]["what"]
    active = written("active").begin().train(1)
    assert main(["resume", str(active.path), "--json"]) == 3
    assert "already" in _json_lines(capsys)[0]["error"]["what"]
    assert main(["resume", "no-such-run"]) == 3


def test_a_run_with_weights_but_no_checkpoint_is_not_restarted(written, capsys):
    stopped = written("old").begin().train(2).finish("stopped")
    stopped.folder.card_path.touch()
    stopped.folder.weights_path.touch()
    assert main(["resume", str(stopped.path), "--json"]) == 3
    assert "no checkpoint" in _json_lines(capsys)[0]["error"]["what"]


def test_only_what_comes_after_the_resume_is_printed(written, capsys, monkeypatch):
    run = written("again").begin().train(3).end()
    assert not run.folder.is_alive()
    begun = []

    def start(folder, *, resume):
        assert resume
        begun.append(WrittenRun.of(folder, step=20, resumed_at_step=20))
        begun[0].batches([0.5] * 3)
        begun[0].finish("completed")

    monkeypatch.setattr(resume_command, "start_trainer", start)
    assert main(["resume", str(run.path), "--json"]) == 0
    events = _json_lines(capsys)
    assert [event["event"] for event in events] == ["run_started", "batch", "run_finished"]
    assert events[0]["resumed_at_step"] == 20
    assert events[1]["first_step"] == 21


def test_pause_is_asked_for(written):
    run = written("pausing").begin()
    assert main(["stop", str(run.path), "--pause"]) == 0
    assert command_of(run.folder) == "pause"
    assert main(["stop", str(run.path)]) == 0
    assert command_of(run.folder) == "stop"


def test_a_run_without_a_checkpoint_is_not_trained_longer(written, capsys):
    run = written("done", epochs=2).begin().train(2).finish("completed")
    assert main(["resume", str(run.path), "--epochs", "4", "--json"]) == 3
    error = _json_lines(capsys)[0]["error"]
    assert "no checkpoint is kept" in error["what"]
    assert main(["resume", str(run.path), "--epochs", "4", "--target", "virtual:2", "--json"]) == 2
    assert "--epochs and --target" in _json_lines(capsys)[0]["error"]["what"]
    active = written("active").begin().train(1)
    assert main(["resume", str(active.path), "--epochs", "4", "--json"]) == 3
    assert "already training" in _json_lines(capsys)[0]["error"]["what"]
