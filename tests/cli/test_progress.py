"""A run printed in a terminal: news once, trouble and its end."""

from __future__ import annotations

from workbench.cli._progress import RunPrinter
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    DataReady,
    PhaseChanged,
    Plan,
    RunFinished,
    RunStarted,
    TimeSpent,
)

FULL = ErrorParts(what="The disk is full.", fix="Free some space.")


def _printed(capsys, *events):
    with RunPrinter() as printer:
        for event in events:
            printer.show(event)
    return capsys.readouterr().err.splitlines()


def _started(**fields):
    plan = Plan(precision="float32", words="float32, one step a call")
    return RunStarted(
        run="/runs/x",
        target="this_computer",
        precision="float32",
        seed=7,
        versions={},
        plan=plan,
        epochs=2,
        batch_size=8,
        pid=1,
        **fields,
    )


def test_a_resumed_run_says_where_it_goes_on(capsys):
    assert _printed(capsys, _started(resumed_at_step=40, bit_exact=True)) == [
        "Resumed at step 41, bit-exact (as if never stopped), on this computer: float32, one step a call",
        "Run folder: /runs/x",
    ]


def test_what_counts_on_is_printed_once(capsys):
    texts = (f"Preparing training images: {n} of 1,797" for n in range(16, 1_797, 16))
    events = [PhaseChanged(phase="loading", text=text) for text in texts]
    events.append(PhaseChanged(phase="compiling", text="Building the network"))
    assert _printed(capsys, *events) == ["Preparing training images", "Building the network"]


def test_the_time_left_is_that_of_the_window(capsys):
    """Of the head before fine-tuning, whose epochs take another time."""
    data = DataReady(
        class_names=["a"], num_train=80, num_validation=0, num_test=8, steps_per_epoch=10
    )
    batch = Batch(
        epoch=1, step=5, first_step=1, loss=0.5, accuracy=0.5, losses=[0.5] * 5,
        accuracies=[0.5] * 5, images_per_second=8.0,
    )  # fmt: skip
    training = PhaseChanged(phase="training", text="Epoch 1 of 2")
    with RunPrinter() as printer:
        for event in (_started(fine_tuning_after=1), data, training, batch):
            printer.show(event)
        (task,) = printer._progress.tasks
    assert task.fields["words"] == "loss 0.5000 · 8 images/s · 5 s to fine-tuning"
    assert (task.completed, task.total) == (5, 20)


def test_only_trouble_with_checkpoints_is_printed_and_its_end(capsys):
    kept = CheckpointKept(step=10, epoch=1)
    bad = CheckpointKept(step=10, epoch=1, problem=FULL)
    good = CheckpointKept(step=20, epoch=2)
    assert _printed(capsys, kept, bad, bad, good, good) == [
        "No checkpoint: The disk is full. Free some space.",
        "Checkpoint saved at step 20, epoch 2",
    ]


def test_at_the_end_it_says_where_the_time_went(capsys):
    spent = TimeSpent(
        input_s=6.0,
        compute_s=4.0,
        host_s=0.0,
        compile_s=0.0,
        validation_s=0.0,
        saving_s=0.0,
        advice="Pictures are waited for.",
    )
    end = RunFinished(outcome="stopped", run="x", seconds=9.0, epochs_done=1, is_paused=True)
    assert _printed(capsys, spent, spent, end) == [
        "Time: input 60% · compute 40%. Pictures are waited for.",
        "Paused after 1 epoch, 9.0 s",
    ]
