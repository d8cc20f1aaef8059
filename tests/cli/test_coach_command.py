"""`workbench coach RUN`, on logs as a trainer writes them."""

from __future__ import annotations

import json

import numpy as np

from workbench.cli import main
from workbench.core.projects.project import Project
from workbench.protocol.events import DataReady, EpochFinished
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import EventWriter


def written(val_loss):
    """A run of these validation losses, whose training loss falls."""
    run = create_run(Project(title="Coached"))
    with EventWriter(run.events_path) as writer:
        writer.write(
            DataReady(
                class_names=list("abc"), num_train=900, num_validation=300, num_test=0,
                steps_per_epoch=9, per_class=[[300, 100, 0]] * 3,
            )
        )  # fmt: skip
        for number, value in enumerate(val_loss, 1):
            writer.write(
                EpochFinished(
                    epoch=number, step=9 * number, loss=float(0.9**number), accuracy=0.9,
                    val_loss=float(value), val_accuracy=0.8, seconds=1.0, images_per_second=1.0,
                )
            )  # fmt: skip
    return run


def test_findings_are_printed_and_are_json(capsys):
    run = written(np.concatenate([np.linspace(0.9, 0.4, 6), np.linspace(0.45, 0.9, 10)]))
    assert main(["coach", str(run.path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Overfitting\n  Overfitting since epoch 6: ")
    assert main(["coach", str(run.path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["rule"], found["curve"], found["epochs"]) == ("overfits", "loss", [6, 16])
    assert found["recipe"]["early_stopping_patience"] == 4


def test_a_changed_digit_in_the_log_is_said_and_not_believed(capsys):
    run = written(0.95 ** np.arange(1, 17))
    log = run.events_path.read_bytes()
    run.events_path.write_bytes(log.replace(b'"val_accuracy":0.8,', b'"val_accuracy":0.9,', 1))
    assert main(["coach", str(run.path)]) == 0
    assert (
        "The log of the run is damaged, so events are left out: line after event 1: its checksum"
        in capsys.readouterr().err
    )


def test_a_healthy_run_has_nothing_to_report(capsys):
    run = written(0.95 ** np.arange(1, 17))
    assert main(["coach", str(run.path)]) == 0
    assert capsys.readouterr().out.startswith("Nothing to report. Watched: divergence, ")
