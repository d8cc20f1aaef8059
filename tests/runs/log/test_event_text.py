"""The text of each event, for the window's log and for terminals."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    Batch,
    DataReady,
    EpochFinished,
    LogLine,
    Plan,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.log.texts import event_text


def _started(**fields):
    common = {
        "run": "r",
        "target": "this_computer",
        "precision": "bfloat16",
        "seed": 7,
        "versions": {},
        "plan": Plan(precision="bfloat16", words="bfloat16, 2.7× faster than float32"),
        "epochs": 5,
        "batch_size": 64,
        "pid": 1,
    }
    return RunStarted(**{**common, **fields})


def test_start_and_resume():
    plan = "bfloat16, 2.7× faster than float32"
    assert event_text(_started()) == f"Started on this computer, seed 7: {plan}"
    resumed = event_text(_started(resumed_at_step=40, bit_exact=True))
    assert (
        resumed == f"Resumed at step 41, bit-exact (as if never stopped), on this computer: {plan}"
    )
    assert "on a target now gone, seed" in event_text(_started(target="a target now gone"))


def test_data_names_some_of_the_skipped_images():
    bad = [[f"{number}.png", "truncated"] for number in range(7)]
    event = DataReady(
        class_names=["cat", "dog"],
        num_train=40_000,
        num_validation=5_000,
        num_test=1,
        steps_per_epoch=40,
        bad_files=bad,
    )
    first, second, *named, last = event_text(event).splitlines()
    assert first == (
        "40,000 training images, 5,000 validation, 1 test, 2 classes, 40 steps per epoch"
    )
    assert second == "7 images skipped:"
    assert named == [f"  {number}.png: truncated" for number in range(5)]
    assert last == "  and 2 more"


def test_an_epoch_without_and_with_validation():
    event = EpochFinished(
        epoch=3,
        step=120,
        loss=0.51234,
        accuracy=0.5,
        val_loss=None,
        val_accuracy=None,
        seconds=12.0,
        images_per_second=3_333.4,
    )
    words = "loss 0.5123 · accuracy 50.0% · 12 s · 3,333 images/s"
    assert event_text(event) == f"Epoch 3 · {words}"
    assert event_text(event, 50) == f"Epoch 3 of 50 · {words}"
    validated = msgspec.structs.replace(event, val_loss=0.75, val_accuracy=0.6)
    assert "accuracy 50.0% · validation loss 0.7500 · validation accuracy 60.0%" in event_text(
        validated
    )


def test_how_a_run_ended():
    end = {"run": "r", "seconds": 12.0}
    paused = RunFinished(outcome="stopped", epochs_done=3, can_resume=True, is_paused=True, **end)
    assert event_text(paused) == "Paused after 3 epochs, 12 s · can be resumed"
    tested = RunFinished(
        outcome="completed",
        epochs_done=1,
        test=TestResult(loss=0.5, accuracy=0.8079, count=9),
        **end,
    )
    assert event_text(tested) == "Completed 1 epoch, 12 s · test accuracy 80.8%"
    full = ErrorParts(what="The disk is full.", fix="Free some space.")
    failed = RunFinished(outcome="failed", epochs_done=0, error=full, **end)
    assert event_text(failed).splitlines() == [
        "Failed, 12 s",
        "The disk is full. Free some space.",
    ]


def test_lines_carry_their_level_and_batches_have_no_text():
    assert event_text(LogLine(level="info", text="A note.")) == "A note."
    assert event_text(LogLine(level="warning", text="A note.")) == "warning: A note."
    batch = Batch(
        epoch=1,
        step=1,
        loss=0.5,
        accuracy=0.5,
        images_per_second=1.0,
        first_step=1,
        losses=[0.5],
        accuracies=[0.5],
    )
    assert event_text(batch) == ""
