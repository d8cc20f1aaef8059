"""The section of how training is executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.params import ChoiceParam, IntParam
from workbench.core.training.fields.setting import setting


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ExecutionFields:
    """What changes the speed of training, and hardly its result."""

    SECTION: ClassVar[str] = "Execution"

    precision: str = setting(
        ChoiceParam,
        "auto",
        "bfloat16 is several times faster on a processor with native bfloat16; automatic "
        "uses it only there. The last layer and the loss stay in float32.",
        place=14,
        choices=("auto", "float32", "bfloat16"),
        titles={"auto": "automatic"},
    )
    xla: str = setting(
        ChoiceParam,
        "auto",
        "Compiles the training step with XLA: slower to start, often faster to run. "
        "Automatic benchmarks both and uses the faster.",
        title="XLA",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
    )
    steps_per_call: int | None = setting(
        IntParam,
        None,
        "Training steps per call of the compiled function. Automatic: about an eighth of "
        "a second of steps.",
        title="Steps per execution",
        maximum=1_000,
    )
    pipeline: str = setting(
        ChoiceParam,
        "auto",
        "Where decoded images are cached: in memory, on disk, or not at all (decoded "
        "again each epoch). Automatic uses memory when they fit.",
        title="Data cached in",
        choices=("auto", "memory", "cached", "streamed"),
        titles={
            "auto": "automatic",
            "memory": "memory",
            "cached": "disk",
            "streamed": "no cache",
        },
    )
    threads: int | None = setting(
        IntParam,
        None,
        "Threads that compute a training step. Automatic uses all cores.",
        title="CPU threads",
        maximum=1_024,
    )
    sync_batch_norm: str = setting(
        ChoiceParam,
        "auto",
        "With several replicas: batch statistics over the global batch, as on one device "
        "(on), or per replica, which is faster (off). Automatic synchronizes below 32 "
        "images per replica.",
        title="Synchronized batch norm",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
    )
