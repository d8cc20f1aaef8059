"""What TensorFlow and libtpu print when a TPU fails, in words, with a remedy. One table for the
trainer's last event and for dead trainers; what ssh prints is in `remote.ssh.faults`.

The texts were seen (by measuring, in sources, or in reports of others); each has a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Action = Literal[
    "",
    "install_packages",
    "stop_other",
    "grant_rights",
    "smaller_batch",
    "resume",
    "use_ssh",
    "edit_address",
    "change_network",
    "wait",
]
"""What a button could do; "" where only a person can."""

_INSTALL = "Install the pinned packages there: pip install tensorflow-tpu==2.19.1 keras==3.15.1"
_OVER_SSH = "Train on a TPU VM over ssh, with ssh:HOST/tpu:local as the target."
_RESUME = "Resume the run, there or on this computer: it goes on from its last checkpoint."


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to fail.

    Attributes:
        key: Its name for programs.
        pattern: Found somewhere in the text; groups by name may stand in `words` as {name}.
        words: What happened, one sentence.
        fix: What to do.
        action: What a button could do.
        is_connecting: The text means this only while a TPU is being started.
    """

    key: str
    pattern: str
    words: str
    fix: str
    action: Action = ""
    is_connecting: bool = False


@dataclass(frozen=True)
class FoundFault:
    """A fault that was recognised, with the text's own figures in its words."""

    fault: Fault
    words: str

    @property
    def key(self) -> str:
        return self.fault.key

    @property
    def fix(self) -> str:
        return self.fault.fix

    @property
    def action(self) -> Action:
        return self.fault.action


TPU_FAULTS: tuple[Fault, ...] = (
    Fault(
        key="wrong_libtpu",
        pattern=r"(?P<symbol>\b[A-Za-z_]\w*) not available in this library",
        words="libtpu does not fit TensorFlow: it lacks {symbol}.",
        fix=_INSTALL,
        action="install_packages",
    ),
    Fault(
        key="no_tpu_support",
        pattern=r"No OpKernel was registered to support Op '(?:ConfigureDistributedTPU|TPU\w+)'",
        words="The TensorFlow of this environment has no TPU support.",
        fix=_INSTALL,
        action="install_packages",
    ),
    Fault(
        key="no_tpu_there",
        pattern=r"TPUs not found in the cluster|TPU_SYSTEM:0 unknown device",
        words="That machine runs TensorFlow but has no TPU.",
        fix="Check the address: it must be a TPU VM. " + _OVER_SSH,
        action="edit_address",
    ),
    Fault(
        key="no_chip",
        pattern=r"No TPU platform registered|RET_CHECK failure[^\n]*\*?platform",
        words="TensorFlow finds no TPU in this computer.",
        fix="Look for /dev/accel0 or /dev/vfio/0: without one this is not a TPU VM, or its chip "
        "is lost until the VM is restarted.",
    ),
    Fault(
        key="no_metadata",
        pattern=r"metadata\.google\.internal|Failed to get TPU metadata",
        words="This is not a TPU VM: Google's metadata server does not answer.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="not_initialized",
        pattern=r"IndexError: index 0 is out of bounds for axis 0 with size 0",
        words="The TPU was used before it was started.",
        fix="This is a fault of Workbench: please report it with the log of the run.",
        is_connecting=True,
    ),
    Fault(
        key="no_api_client",
        pattern=r"Missing runtime dependency on the Google API client",
        words="A TPU is not reached by its name from here.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="not_ready",
        pattern=r'TPU "?(?P<name>[\w.-]+)"? is not yet ready; state: "?(?P<state>\w+)',
        words="The TPU {name} is not ready yet: its state is {state}.",
        fix="Wait until it is READY; one that was PREEMPTED is deleted and made anew.",
        action="wait",
    ),
    Fault(
        key="unknown_name",
        pattern=r"Could not lookup TPU metadata from name|Please provide a TPU Name to connect to",
        words="There is no TPU of that name that you may see.",
        fix="Check name, zone and project, and that you have the right tpu.nodes.get.",
        action="edit_address",
    ),
    Fault(
        key="busy",
        pattern=r"The TPU is already in use by (?:another )?process(?: with pid)?"
        r"(?P<pid>(?: \d+)?)",
        words="The TPU is in use by another process{pid}.",
        fix="`workbench doctor tpu:local` names it; stop that run, or end the process.",
        action="stop_other",
    ),
    Fault(
        key="busy",
        pattern=r"libtpu\.so already in use|libtpu_lockfile|libtpu multi-process lockfile",
        words="The TPU is in use by another process, or one that died has left its lock file.",
        fix="`workbench doctor tpu:local` names it. If it names none, remove /tmp/libtpu_lockfile.",
        action="stop_other",
    ),
    Fault(
        key="not_permitted",
        pattern=r"(?:/dev/(?:accel\d+|vfio/\w+)[^\n]*(?:[Pp]ermission denied|not permitted))"
        r"|(?:(?:[Pp]ermission denied|not permitted)[^\n]*/dev/(?:accel\d+|vfio/\w+))",
        words="This user may not use the TPU.",
        fix="Add the user to the group of the device and log in again, or restart the VM.",
        action="grant_rights",
    ),
    Fault(
        key="hbm",
        pattern=r"Ran out of memory in memory space hbm\. +Used (?P<needs>[\d.]+)(?P<unit>[KMGT]) "
        r"of (?P<has>[\d.]+)[KMGT]",
        words="It needs {needs} {unit}B per core; this TPU has {has}.",
        fix="Take half the batch, bfloat16, or smaller pictures.",
        action="smaller_batch",
    ),
    Fault(
        key="hbm",
        pattern=r"(?:CompileTime|Runtime)HbmOom[\s\S]{0,2000}?"
        r"\((?P<needs>[\d.]+)(?P<unit>[KMGT])\) "
        r"exceeds available HBM \((?P<has>[\d.]+)[KMGT]\)",
        words="It needs {needs} {unit}B per core; this TPU has {has}.",
        fix="Take half the batch, bfloat16, or smaller pictures.",
        action="smaller_batch",
    ),
    Fault(
        key="premapped",
        pattern=r"failed to allocate[^\n]*premapped region|premapped[^\n]*RESOURCE_EXHAUSTED",
        words="The part of the host's memory that the TPU reads from is too small for a batch.",
        fix="Take a smaller batch, or set TPU_PREMAPPED_BUFFER_SIZE to more bytes.",
        action="smaller_batch",
    ),
    Fault(
        key="gone",
        pattern=r"recvmsg: ?(?:Connection reset by peer|\w)|sendmsg: ?Broken pipe|Socket closed"
        r"|Unable to find a context_id|RecvTensor expects a different device incarnation"
        r"|\bPREEMPTED\b",
        words="The machine that computes went away: its TPU was preempted, or its worker died.",
        fix=_RESUME,
        action="resume",
    ),
    Fault(
        key="tpu_node",
        pattern=r"File system scheme '\[local\]' not implemented",
        words="This is a TPU node of the old kind, which cannot read files of this computer.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="python_function",
        pattern=r"No OpKernel was registered to support Op '(?:Eager)?PyFunc\w*'"
        r"|(?:on XLA_\w+_JIT: |unsupported )(?:Eager)?PyFunc",
        words="The network or its pictures come through a Python function, which a TPU cannot run.",
        fix="Train on a TPU VM, where Python prepares the pictures; a network holds none.",
        action="use_ssh",
    ),
    Fault(
        key="unsupported_operation",
        pattern=r"Detected unsupported operations when trying to compile graph[\s\S]{0,2000}?"
        r"on XLA_\w+_JIT: (?P<op>\w+)(?:[\s\S]{0,500}?\{\{node (?P<node>[^}\s]{1,200})\}\})?",
        words="XLA, which compiles for TPUs, cannot compile the operation {op} of this network"
        "{node}.",
        fix="`workbench preflight` names the layer. Move it right behind Input, where it prepares "
        "the pictures, or replace it.",
        action="change_network",
    ),
    Fault(
        key="no_processor_xla",
        pattern=r"could not find registered transfer manager for platform Host",
        words="A TensorFlow for TPUs cannot compile for the processor, as a convolution in groups "
        "and XLA on the host need.",
        fix="Train on the TPU itself, with tpu:local as the target, or on the processor with "
        "the TensorFlow that is not for TPUs.",
    ),
    Fault(
        key="dynamic_shape",
        pattern=r"must be a compile-time constant|Dynamic concatenation is not supported yet"
        r"|input dynamic dimension is decomposed into multiple output dynamic dimensions",
        words="A size in this network is only known while it runs; XLA needs all sizes before.",
        fix="Give Input, Resizing and Reshape fixed sizes.",
        action="change_network",
    ),
    Fault(
        key="version_skew",
        pattern=r"Op type not registered|__inference__tpu_init_fn\w* |not registered in binary",
        words="The two machines run different versions of TensorFlow.",
        fix="Over grpc both need the same. " + _OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="eager",
        pattern=r"TPUStrategy\.run\(fn, \.\.\.\) does not support pure eager execution",
        words="A TPU runs compiled functions only, and TensorFlow was told to run eagerly.",
        fix="Take run_eagerly and tf.config.run_functions_eagerly out of the environment.",
    ),
)
"""In the order in which they are looked for."""


def fault_of(text: str, *, is_connecting: bool = False) -> FoundFault | None:
    """The first fault of the table that a text tells of; None where it tells of none.

    Args:
        text: An exception with its type's name, or the last lines of a log.
        is_connecting: It comes from starting a TPU.
    """
    text = text[-100_000:]
    for fault in TPU_FAULTS:
        if fault.is_connecting and not is_connecting:
            continue
        match = re.search(fault.pattern, text)
        if match is not None:
            return FoundFault(fault, fault.words.format(**_values(match)))
    return None


def _values(match: re.Match[str]) -> dict[str, str]:
    values = {name: value or "" for name, value in match.groupdict().items()}
    if values.get("node"):
        values["node"] = f" (at {values['node']})"
    return values
