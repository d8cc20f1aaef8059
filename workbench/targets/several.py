"""Several machines that share every batch, a process on each, over the network.

Each machine computes with its processor; TensorFlow adds the gradients up over gRPC in a
ring. The first machine is the chief: it alone writes the run (see `worker.cluster`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from workbench.core.params import Params, TextParam
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RunError, UsageError
from workbench.hardware.cluster import (
    CLUSTER_VARIABLE,
    MOST_MACHINES,
    Address,
    Cluster,
    read_addresses,
)
from workbench.targets.this_computer import SPEC as THIS_COMPUTER


@dataclass(frozen=True, kw_only=True)
class MachinesParam(TextParam):
    """Addresses of machines as one text, "HOST,HOST:PORT,..."; the first is the chief."""

    max_length: int = 20_000

    def check(self, value: Any) -> str:
        try:
            return ",".join(map(str, read_addresses(super().check(value))))
        except UsageError as error:
            raise self._refuse(value) from error

    def expected(self) -> str:
        return f"from 2 to {MOST_MACHINES} addresses HOST or HOST:PORT, separated by commas"


_MACHINES = MachinesParam(
    key="machines",
    title="Machines",
    default="localhost,localhost",
    help="Addresses of the machines, the chief first; localhost is a process on this computer.",
)


def _addresses(params: Params) -> tuple[Address, ...]:
    return read_addresses(params[_MACHINES.key])


def _connect(tf: Any, params: Params) -> Any:
    text = os.environ.get(CLUSTER_VARIABLE)
    if text is None:
        raise RunError(
            "Several machines can only train whole runs, and this is a single process.",
            where="several",
            received=params[_MACHINES.key],
            fix="Choose this computer instead.",
        )
    cluster = Cluster.from_text(text)
    distribute = tf.distribute
    resolver = distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": list(cluster.machines)}),
        task_type="worker",
        task_id=cluster.index,
        rpc_layer="grpc",
    )
    options = distribute.experimental.CommunicationOptions(
        implementation=distribute.experimental.CommunicationImplementation.RING
    )
    return distribute.MultiWorkerMirroredStrategy(resolver, communication_options=options)


def _describe(params: Params) -> str:
    addresses = _addresses(params)
    return f"{len(addresses)} machines: {', '.join(map(str, addresses))}"


def _read(text: str) -> Params:
    return {_MACHINES.key: ",".join(map(str, read_addresses(text)))} if text else {}


SPEC = TargetSpec(
    key="several",
    title="Several machines",
    summary="Splits each batch over the CPUs of several machines, with a process on each. Only "
    "for trusted networks: the traffic is not encrypted.",
    params=(_MACHINES,),
    environment=THIS_COMPUTER.environment,
    connect=_connect,
    describe=_describe,
    # One way for all: each machine would measure something else. Whether all of them have
    # units for bfloat16 is found out when they have come together.
    limits=lambda params: TargetLimits(
        replicas=len(_addresses(params)), may_measure=False, jit_step=False
    ),
    form="several:HOST,HOST,...",
    read=_read,
    write=lambda params: str(params[_MACHINES.key]),
    is_offered=lambda: False,
    machines=lambda params: tuple(map(str, _addresses(params))),
    addresses=lambda params: [str(one) for one in _addresses(params) if not one.is_here],
)
