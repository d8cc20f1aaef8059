"""Several replicas on this computer's processor: what a TPU does to a batch, without a TPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.core.params import BoolParam, IntParam, Params
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RunError, UsageError
from workbench.targets.this_computer import SPEC as THIS_COMPUTER

_REPLICAS = IntParam(
    key="replicas",
    title="Replicas",
    default=8,
    minimum=2,
    maximum=64,
    help="Number of simulated devices; each gets a part of every batch.",
)

# For the rehearsal of a first run on a TPU; no menu offers it.
_LIKE_TPU = BoolParam(
    key="like_tpu",
    title="TPU rules",
    default=False,
    help="Builds and feeds the model exactly as on a TPU: plain Keras layers, no compilation "
    "on the host. Slower.",
)

_TPU_WORD = ",like_tpu"

_LONGEST = 6
"""Digits of a number that is worth reading."""


def _connect(tf: Any, params: Params) -> Any:
    count = params["replicas"]
    (processor,) = tf.config.list_physical_devices("CPU")
    try:
        tf.config.set_logical_device_configuration(
            processor, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        )
    except RuntimeError as error:  # TensorFlow was initialized before, with its number of then
        there = len(tf.config.list_logical_devices("CPU"))
        if there < count:
            raise RunError(
                "This process was started with fewer replicas.",
                where="virtual",
                received=f"{there:,} replicas",
                expected=f"{count:,} replicas",
                fix="Start it again.",
            ) from error
    devices = [f"/cpu:{number}" for number in range(count)]
    return tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )


def _limits(params: Params) -> TargetLimits:
    # Collectives on processors do not go through XLA.
    limits = TargetLimits(replicas=params["replicas"], jit_step=False)
    if not params["like_tpu"]:
        return limits
    return replace(limits, has_bfloat16=True, may_measure=False, jit_host=False, own_layers=False)


def _read(text: str) -> Params:
    if not text:
        return {}
    like_tpu = text.endswith(_TPU_WORD)
    text = text.removesuffix(_TPU_WORD)
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST):
        raise UsageError(
            "The number of replicas must be a whole number.",
            where="virtual",
            received=text,
            expected=_REPLICAS.expected(),
            fix="For example: virtual:8",
        )
    return {"replicas": int(text), "like_tpu": like_tpu}


def _write(params: Params) -> str:
    return f"{params['replicas']}{_TPU_WORD if params['like_tpu'] else ''}"


def _label(params: Params) -> str:
    return f"{params['replicas']:,} simulated devices{', TPU rules' if params['like_tpu'] else ''}"


SPEC = TargetSpec(
    key="virtual",
    title="Simulated devices on this computer",
    summary="Splits each batch over simulated devices on the CPU, as a TPU does over its cores: "
    "to test data parallelism, not for speed.",
    params=(_REPLICAS, _LIKE_TPU),
    environment=THIS_COMPUTER.environment,
    connect=_connect,
    describe=lambda params: f"{_label(params)} on this computer (tests TPU data parallelism)",
    limits=_limits,
    read=_read,
    write=_write,
    presets=({"replicas": 2}, {"replicas": 4}, {"replicas": 8}),
    label=_label,
)
