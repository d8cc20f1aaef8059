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
_RESUME = "Resume the run, there or on this computer: it continues from its last checkpoint."


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
    """A fault that was recognized, with the text's own figures in its words."""

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
        words="libtpu does not match TensorFlow: it lacks {symbol}.",
        fix=_INSTALL,
        action="install_packages",
    ),
    Fault(
        key="no_tpu_support",
        pattern=r"No OpKernel was registered to support Op '(?:ConfigureDistributedTPU|TPU\w+)'",
        words="TensorFlow in this environment has no TPU support.",
        fix=_INSTALL,
        action="install_packages",
    ),
    Fault(
        key="no_tpu_there",
        pattern=r"TPUs not found in the cluster|TPU_SYSTEM:0 unknown device",
        words="That machine runs TensorFlow, but has no TPU.",
        fix="Check the address: it must be a TPU VM. " + _OVER_SSH,
        action="edit_address",
    ),
    Fault(
        key="no_chip",
        pattern=r"No TPU platform registered|RET_CHECK failure[^\n]*\*?platform",
        words="TensorFlow finds no TPU in this computer.",
        fix="Check that /dev/accel0 or /dev/vfio/0 exists: without it this is not a TPU VM, or "
        "its chip is unavailable until the VM is restarted.",
    ),
    Fault(
        key="no_metadata",
        pattern=r"metadata\.google\.internal|Failed to get TPU metadata",
        words="This is not a TPU VM: Google's metadata server does not respond.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="not_initialized",
        pattern=r"IndexError: index 0 is out of bounds for axis 0 with size 0",
        words="The TPU was used before it was initialized.",
        fix="This is a bug in Workbench: please report it with the log of the run.",
        is_connecting=True,
    ),
    Fault(
        key="no_api_client",
        pattern=r"Missing runtime dependency on the Google API client",
        words="A TPU cannot be reached by its name from here.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="not_ready",
        pattern=r'TPU "?(?P<name>[\w.-]+)"? is not yet ready; state: "?(?P<state>\w+)',
        words="The TPU {name} is not ready yet: its state is {state}.",
        fix="Wait until it is READY. A PREEMPTED one must be deleted and created again.",
        action="wait",
    ),
    Fault(
        key="unknown_name",
        pattern=r"Could not lookup TPU metadata from name|Please provide a TPU Name to connect to",
        words="There is no TPU with that name, or you have no access to it.",
        fix="Check name, zone and project, and that you have the permission tpu.nodes.get.",
        action="edit_address",
    ),
    Fault(
        key="busy",
        pattern=r"The TPU is already in use by (?:another )?process(?: with pid)?"
        r"(?P<pid>(?: \d+)?)",
        words="The TPU is in use by another process{pid}.",
        fix="`workbench doctor tpu:local` shows which one; stop that run, or end the process.",
        action="stop_other",
    ),
    Fault(
        key="busy",
        pattern=r"libtpu\.so already in use|libtpu_lockfile|libtpu multi-process lockfile",
        words="The TPU is in use by another process, or a crashed process has left its lock file.",
        fix="`workbench doctor tpu:local` shows the process. If there is none, remove "
        "/tmp/libtpu_lockfile.",
        action="stop_other",
    ),
    Fault(
        key="not_permitted",
        pattern=r"(?:/dev/(?:accel\d+|vfio/\w+)[^\n]*(?:[Pp]ermission denied|not permitted))"
        r"|(?:(?:[Pp]ermission denied|not permitted)[^\n]*/dev/(?:accel\d+|vfio/\w+))",
        words="You have no permission to use the TPU.",
        fix="Add the user to the group of the device and log in again, or restart the VM.",
        action="grant_rights",
    ),
    Fault(
        key="hbm",
        pattern=r"Ran out of memory in memory space hbm\. +Used (?P<needs>[\d.]+)(?P<unit>[KMGT]) "
        r"of (?P<has>[\d.]+)[KMGT]",
        words="It needs {needs} {unit}B per core; this TPU has {has}.",
        fix="Halve the batch size, use bfloat16, or use smaller images.",
        action="smaller_batch",
    ),
    Fault(
        key="hbm",
        pattern=r"(?:CompileTime|Runtime)HbmOom[\s\S]{0,2000}?"
        r"\((?P<needs>[\d.]+)(?P<unit>[KMGT])\) "
        r"exceeds available HBM \((?P<has>[\d.]+)[KMGT]\)",
        words="It needs {needs} {unit}B per core; this TPU has {has}.",
        fix="Halve the batch size, use bfloat16, or use smaller images.",
        action="smaller_batch",
    ),
    Fault(
        key="premapped",
        pattern=r"failed to allocate[^\n]*premapped region|premapped[^\n]*RESOURCE_EXHAUSTED",
        words="The premapped host memory that the TPU reads from is too small for a batch.",
        fix="Reduce the batch size, or set TPU_PREMAPPED_BUFFER_SIZE to more bytes.",
        action="smaller_batch",
    ),
    Fault(
        key="gone",
        pattern=r"recvmsg: ?(?:Connection reset by peer|\w)|sendmsg: ?Broken pipe|Socket closed"
        r"|Unable to find a context_id|RecvTensor expects a different device incarnation"
        r"|\bPREEMPTED\b",
        words="Connection to the TPU lost: it was preempted, or its worker process crashed.",
        fix=_RESUME,
        action="resume",
    ),
    Fault(
        key="tpu_node",
        pattern=r"File system scheme '\[local\]' not implemented",
        words="This is a TPU node of the old architecture, which cannot read files of this "
        "computer.",
        fix=_OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="python_function",
        pattern=r"No OpKernel was registered to support Op '(?:Eager)?PyFunc\w*'"
        r"|(?:on XLA_\w+_JIT: |unsupported )(?:Eager)?PyFunc",
        words="The network or its input pipeline calls a Python function, which a TPU cannot run.",
        fix="Train on a TPU VM, where Python prepares the images outside the network.",
        action="use_ssh",
    ),
    Fault(
        key="unsupported_operation",
        pattern=r"Detected unsupported operations when trying to compile graph[\s\S]{0,2000}?"
        r"on XLA_\w+_JIT: (?P<op>\w+)(?:[\s\S]{0,500}?\{\{node (?P<node>[^}\s]{1,200})\}\})?",
        words="XLA, the TPU compiler, does not support the operation {op} of this network{node}.",
        fix="`workbench preflight` shows the layer. Move it right after Input, where it runs in "
        "the input pipeline, or replace it.",
        action="change_network",
    ),
    Fault(
        key="no_processor_xla",
        pattern=r"could not find registered transfer manager for platform Host",
        words="TensorFlow for TPUs cannot compile for the CPU, which grouped convolutions and "
        "XLA on the host require.",
        fix="Train on the TPU itself, with tpu:local as the target, or on the CPU with standard "
        "TensorFlow.",
    ),
    Fault(
        key="dynamic_shape",
        pattern=r"must be a compile-time constant|Dynamic concatenation is not supported yet"
        r"|input dynamic dimension is decomposed into multiple output dynamic dimensions",
        words="A size in this network is only known at run time; XLA needs all sizes in advance.",
        fix="Set fixed sizes in Input, Resizing and Reshape.",
        action="change_network",
    ),
    Fault(
        key="version_skew",
        pattern=r"Op type not registered|__inference__tpu_init_fn\w* |not registered in binary",
        words="The two machines run different versions of TensorFlow.",
        fix="Over grpc, both must be the same. " + _OVER_SSH,
        action="use_ssh",
    ),
    Fault(
        key="eager",
        pattern=r"TPUStrategy\.run\(fn, \.\.\.\) does not support pure eager execution",
        words="A TPU only runs compiled functions, and TensorFlow is set to run eagerly.",
        fix="Remove run_eagerly and tf.config.run_functions_eagerly from the environment.",
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
