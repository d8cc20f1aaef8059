"""What a trainer logs: the events of a run, as its event log holds them.

JSON has no NaN: None is "not finite".
"""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import PROTOCOL_VERSION, ErrorParts, Step, Whole
from workbench.protocol.weights import KeptWeights


class RunEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened in a run.

    Attributes:
        seq: 1, 2, 3, ... without gaps within a run; set by the writer.
        time: Seconds since the epoch, for display only.
    """

    seq: Whole = 0
    time: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How the run is executed, and why; programs rely on the names.

    Attributes:
        precision: "float32" or "bfloat16".
        xla: Whether the step is compiled by XLA.
        steps_per_call: Steps of one call into TensorFlow.
        pipeline: Where the images are: "memory", "cached" (decoded, on disk) or "streamed".
        gain: How many times faster than plain float32, as measured; None when nothing was.
        words: What was chosen and what it gained, for people.
        pinned: What of it the recipe has fixed: "precision", "xla", ...
        threads: Threads that one operation of the step is split over; 0 for all cores.
    """

    precision: str
    xla: bool = False
    steps_per_call: Whole | None = None
    pipeline: str | None = None
    gain: float | None = None
    words: str = ""
    pinned: list[str] = []
    threads: Whole = 0


class RunStarted(RunEvent, frozen=True, kw_only=True, tag="run_started"):
    """What runs where, logged once all of it is settled; again when a run is resumed.

    Attributes:
        replicas: Devices that share each batch.
        per_core_batch: Images of a step for each of them; None in older logs.
        resumed_at_step: Steps that were done before; batches logged after them are void. None
            for a run from its start.
        bit_exact: For a resumed run: True, or the reasons why its figures can differ from
            those of the run never interrupted.
        keep: The recipe's value for the weights to save, "last" or "best"; "" in older logs.
        on: The computer that trains, as those call it who sent the run there; "" for the
            one that the run was started on. `pid` is a number there.
        keep_by: The recipe's value that selects the best epoch; older logs without it are
            read as if it were the validation accuracy.
        fine_tuning_after: Epochs before the fine-tuning phase; None where there is none.
        is_on_features: Before that, a head is trained on the cached features of frozen layers:
            its images per second are those of the head alone.
        protocol: Lets an older window reject the log with a message.
    """

    run: str
    target: str
    replicas: Whole = 1
    precision: str
    seed: Whole
    versions: dict[str, str]
    plan: Plan
    epochs: Step
    batch_size: Whole
    pid: Whole
    resumed_at_step: Step | None = None
    bit_exact: bool | list[str] | None = None
    keep_by: str = "val_accuracy"
    keep: str = ""
    on: str = ""
    per_core_batch: Whole | None = None
    fine_tuning_after: Step | None = None
    is_on_features: bool = False
    protocol: Whole = PROTOCOL_VERSION


class PhaseChanged(RunEvent, frozen=True, kw_only=True, tag="phase_changed"):
    """What the trainer is doing now: "importing", "loading", "compiling", "training", ...

    Behind the last step, with the weights saved: "calibrating", "comparing", "testing". "unsaved":
    it waits for room for the weights, which it holds in memory.

    Attributes:
        fraction: How much of it is done, 0..1; None where that is not known.
        can_skip: It is left out on request (`runs.control.request_skip`).
    """

    phase: str
    text: str
    fraction: float | None = None
    can_skip: bool = False


class DataReady(RunEvent, frozen=True, kw_only=True, tag="data_ready"):
    """The images are there and split. `bad_files` were left out, with the reason.

    `validates_on_test`: the validation images are those of the test set, not held out of training.
    `split`: where a split by content was cut, as `core.specs.dataset` writes it; {} without one.
    `per_class`: for each class how many images train, validate and test; [] in older logs.
    `num_shared`: held-out images that are also among the training images, pixel by pixel; 0 where
    that is not known.
    """

    class_names: list[str]
    num_train: Whole
    num_validation: Whole
    num_test: Whole
    steps_per_epoch: Whole
    bad_files: list[tuple[str, str]] = []
    validates_on_test: bool = False
    split: dict[str, object] = {}
    per_class: list[tuple[Whole, Whole, Whole]] = []
    num_shared: Whole = 0


class Batch(RunEvent, frozen=True, kw_only=True, tag="batch"):
    """The batches since the last such event (throttled): each batch's own values.

    `loss` and `accuracy` are those of the last batch alone; the lists hold all batches
    from `first_step` to `step` so that no point of the curve is lost. Steps count from 1
    over the whole run.
    """

    epoch: Step
    step: Step
    loss: float | None
    accuracy: float | None
    images_per_second: float
    first_step: Step
    losses: list[float | None]
    accuracies: list[float | None]
    learning_rate: float | None = None


class EpochFinished(RunEvent, frozen=True, kw_only=True, tag="epoch_finished"):
    """Means over the epoch, and over the validation images (None without validation).

    `top_k_accuracy` is of the validation: an image counts when its class is among the
    recipe's `top_k` likeliest; None where `top_k` is 1.
    """

    epoch: Step
    step: Step
    loss: float | None
    accuracy: float | None
    val_loss: float | None
    val_accuracy: float | None
    seconds: float
    images_per_second: float
    top_k_accuracy: float | None = None
    learning_rate: float | None = None


class TimeSpent(RunEvent, frozen=True, kw_only=True, tag="time_spent"):
    """Where the trainer's seconds went since it was started or resumed, logged now and then.

    Attributes:
        input_s: Waiting for images.
        compute_s: Computing steps.
        host_s: Python between the calls: reading values, logging events.
        compile_s: Building and compiling.
        validation_s: Validating.
        saving_s: Copying the state for checkpoints.
        features_s: Computing frozen layers ahead.
        after_s: Behind the last step: calibration and test. No part of the shares.
        advice: The next action, in words; "" when there is nothing to gain.
    """

    input_s: float
    compute_s: float
    host_s: float
    compile_s: float
    validation_s: float
    saving_s: float
    features_s: float = 0.0
    after_s: float = 0.0
    advice: str = ""


class LayerFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How a layer that learns is doing; norms are those of all its kernels together.

    Attributes:
        node: Id of the layer in the network's graph.
        gradient: Norm of the loss's gradient, relative to the norm of the weights.
        update: How far the last step moved the weights, relative to their norm.
    """

    node: str
    gradient: float | None
    update: float | None


class UnitFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Dead units of a layer that ends in ReLU.

    Attributes:
        node: Id of the layer.
        units: Its units (channels).
        dead: How many of them are zero on all of the images.
    """

    node: str
    units: Whole
    dead: Whole


class LayersMeasured(RunEvent, frozen=True, kw_only=True, tag="layers_measured"):
    """The layers at the end of an epoch, on a few fixed training images without augmentation and
    dropout; logged now and then, as far as a hundredth of the time allows.

    Attributes:
        images: How many images that were.
        loss, accuracy: On those images, with the weights that were validated.
        learning_rate: Learning rate of the step that `LayerFigures.update` is of.
        layers: Those that learn and have kernels, in their order.
        units: Those that end in ReLU, in their order.
        seconds: What measuring took.
    """

    epoch: Step
    step: Step
    images: Whole
    loss: float | None
    accuracy: float | None
    learning_rate: float | None
    layers: list[LayerFigures] = []
    units: list[UnitFigures] = []
    seconds: float = 0.0


class CheckpointKept(RunEvent, frozen=True, kw_only=True, tag="checkpoint_kept"):
    """From here the run can be resumed; or why it could not be kept, and what goes on."""

    step: Step
    epoch: Step
    problem: ErrorParts | None = None


class Heartbeat(RunEvent, frozen=True, kw_only=True, tag="heartbeat"):
    """Proof that the trainer is running, every 2 s, with the memory it holds."""

    memory_bytes: Whole


class LogLine(RunEvent, frozen=True, kw_only=True, tag="log_line"):
    """A sentence for the log panel. Levels: info, warning, error."""

    text: str
    level: str = "info"


class TestResult(msgspec.Struct, frozen=True, kw_only=True):
    """Scores on the test images."""

    __test__ = False

    loss: float | None
    accuracy: float | None
    count: Whole = 0


class BestEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """The epoch that is the best by the recipe's `keep_by`."""

    epoch: Step
    val_accuracy: float | None
    val_loss: float | None

    @classmethod
    def of(cls, epoch: EpochFinished) -> BestEpoch:
        """The values of an epoch as the best one."""
        return cls(epoch=epoch.epoch, val_accuracy=epoch.val_accuracy, val_loss=epoch.val_loss)


class RunFinished(RunEvent, frozen=True, kw_only=True, tag="run_finished"):
    """Last event. Outcomes: completed, stopped, failed.

    Attributes:
        can_resume: A checkpoint is kept from which `resume` goes on.
        is_paused: The run was paused: stopped to be resumed, nothing tested.
        kept: Which weights were saved; None where none were, and in older logs.
        is_within: It ended within an epoch, some steps of which are done.
        verdict: What is wrong with how it has learned, in words; "" where nothing is.
        reason: Why it was stopped, where that was no request of a person; "" otherwise.
    """

    outcome: str
    run: str
    seconds: float
    epochs_done: Step
    test: TestResult | None = None
    best: BestEpoch | None = None
    error: ErrorParts | None = None
    can_resume: bool = False
    is_paused: bool = False
    kept: KeptWeights | None = None
    is_within: bool = False
    verdict: str = ""
    reason: str = ""

    @property
    def ended_within(self) -> bool:
        """Whether the run ended within an epoch; by the saved weights where an older log does not
        say it.
        """
        return self.is_within or (self.kept is not None and self.kept.is_partial)
