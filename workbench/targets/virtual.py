"""Several replicas on this computer's processor: what a TPU does to a batch, without a TPU."""

from __future__ import annotations

from typing import Any

from workbench.core.params import IntParam, Params
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RunError, UsageError
from workbench.targets.this_computer import SPEC as THIS_COMPUTER

_REPLICAS = IntParam(
    key="replicas",
    title="Replicas",
    default=8,
    minimum=2,
    maximum=64,
    help="Parts of the processor that each compute their share of every batch.",
)

_LONGEST = 6
"""Digits of a number that is worth reading."""


def _connect(tf: Any, params: Params) -> Any:
    count = params["replicas"]
    (processor,) = tf.config.list_physical_devices("CPU")
    try:
        tf.config.set_logical_device_configuration(
            processor, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        )
    except RuntimeError as error:  # TensorFlow has begun, with as many as it was told then
        there = len(tf.config.list_logical_devices("CPU"))
        if there < count:
            raise RunError(
                "This process has begun with fewer replicas; it cannot make more.",
                where="virtual",
                received=f"{there:,} replicas",
                expected=f"{count:,} replicas",
                fix="Start it anew.",
            ) from error
    devices = [f"/cpu:{number}" for number in range(count)]
    return tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )


def _read(text: str) -> Params:
    if not text:
        return {}
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST):
        raise UsageError(
            "The number of replicas is not a number.",
            where="virtual",
            received=text,
            expected=_REPLICAS.expected(),
            fix='For example "virtual:8".',
        )
    return {"replicas": int(text)}


SPEC = TargetSpec(
    key="virtual",
    title="Several replicas on this computer",
    summary="Shares every batch between parts of this processor, as a TPU's cores do: to try "
    "what training on several replicas changes, not for speed.",
    params=(_REPLICAS,),
    environment=THIS_COMPUTER.environment,
    connect=_connect,
    describe=lambda params: f"{params['replicas']:,} replicas, {THIS_COMPUTER.describe({})}",
    # Collectives on processors do not go through XLA.
    limits=lambda params: TargetLimits(replicas=params["replicas"], jit_step=False),
    read=_read,
    write=lambda params: str(params["replicas"]),
    presets=({"replicas": 2}, {"replicas": 4}, {"replicas": 8}),
    label=lambda params: f"{params['replicas']:,} replicas here",
)
