"""What decides about the last bits of a training: libraries, processor, threads."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from workbench.core.format import plural
from workbench.targets.this_computer import cpu_flags, cpu_model, num_cores

_SETTINGS = (
    "OMP_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_ONEDNN_USE_SYSTEM_ALLOCATOR",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "PJRT_DEVICE",
    "TPU_ACCELERATOR_TYPE",
)
"""Environment variables by which TensorFlow computes in another order or precision."""

_TITLES = {
    "workbench": "Workbench",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "numpy": "NumPy",
    "python": "Python",
}


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine on which a training ran.

    Attributes:
        versions: Versions of the application and its libraries.
        cores: Cores the process may use; TensorFlow splits its sums over them.
        cpu: The processor's name.
        flags: What the processor can do, sorted; libraries choose their code by it.
        settings: Environment variables that matter, where they are set.
        others: The machines that it trained together with, in their order.
    """

    versions: dict[str, str]
    cores: int
    cpu: str
    flags: list[str]
    settings: dict[str, str] = {}
    others: list[Machine] = []


def this_machine(versions: Mapping[str, str], others: Sequence[Machine] = ()) -> Machine:
    """This process's environment, versions of libraries, and the machines it trains with."""
    return Machine(
        versions=dict(versions),
        cores=num_cores(),
        cpu=cpu_model() or platform.machine(),
        flags=sorted(cpu_flags()),
        settings={name: os.environ[name] for name in _SETTINGS if name in os.environ},
        others=list(others),
    )


def library_title(name: str) -> str:
    """A library of `Machine.versions` as people write it."""
    return _TITLES.get(name, name)


def differences(then: Machine, now: Machine) -> list[str]:
    """Why figures computed `now` can differ in their last bits from those of `then`."""
    found = [*_version_differences(then, now), *_hardware_differences(then, now)]
    if len(then.others) != len(now.others):
        return [*found, f"{len(now.others) + 1} machines instead of {len(then.others) + 1}"]
    for number, (old, new) in enumerate(zip(then.others, now.others, strict=True), 2):
        found += [f"machine {number}: {words}" for words in differences(old, new)]
    return found


def _version_differences(then: Machine, now: Machine) -> Iterator[str]:
    for name in sorted({*then.versions, *now.versions}):
        old, new = then.versions.get(name, "none"), now.versions.get(name, "none")
        if old != new:
            yield f"{library_title(name)} {new} instead of {old}"


def _hardware_differences(then: Machine, now: Machine) -> Iterator[str]:
    if then.cores != now.cores:
        yield f"{plural(now.cores, 'core')} instead of {then.cores}"
    if then.cpu != now.cpu:
        yield f"another CPU: {now.cpu} instead of {then.cpu}"
    elif then.flags != now.flags:
        yield "other CPU instructions"
    for name in sorted({*then.settings, *now.settings}):
        old, new = then.settings.get(name, "not set"), now.settings.get(name, "not set")
        if old != new:
            yield f"{name} is {new} instead of {old}"
