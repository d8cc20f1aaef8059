"""What there is of a TPU on this computer, found without TensorFlow and without waiting:
chips, who may use them, who does, and whether the installed packages fit each other.

TensorFlow is not used: with a libtpu that does not fit it ends the process at its import,
and without a chip it waits for minutes or ends it too.
"""

from __future__ import annotations

import contextlib
import grp
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import TpuError
from workbench.parts import install_line, installed_version

PINNED = (
    ("tensorflow-tpu==2.19.1", "libtpu==0.0.10", "keras==3.15.1")
    if sys.version_info < (3, 13)
    else ("tensorflow-tpu==2.20.0", "libtpu==0.0.31", "keras==3.15.1")  # 2.19 ends at Python 3.12
)
"""What trains on a TPU; without the numbers pip installs a libtpu that ends the process."""

_VENDOR = "0x1ae0"  # Google's number on the PCI bus
_GENERATIONS = {
    "0x0027": "v3",  # v2 has the same number
    "0x005e": "v4",
    "0x0062": "v5p",
    "0x0063": "v5e",
    "0x006f": "v6e",
    "0x0076": "tpu7x",
}
_TYPES = (
    ("v2-", "v2"), ("v3-", "v3"), ("v4-", "v4"), ("v5p", "v5p"), ("v5litepod", "v5e"),
    ("v5e", "v5e"), ("v6e", "v6e"), ("tpu7x", "tpu7x"),
)  # fmt: skip
"""Beginnings of an accelerator type, as TPU_ACCELERATOR_TYPE holds it."""

_TWO_CORES = {"v2", "v3"}
"""Generations whose chips are two replicas; later ones join a chip's cores, or have one."""

_PJRT = {"v5e", "v5p", "v6e"}
"""Generations that run through libtpu's newer interface, which has to be named."""

_MOST_HOLDERS = 8


@dataclass(frozen=True)
class Holder:
    """A process that has a chip open.

    Attributes:
        pid: Its number.
        command: Its command line, shortened.
        run: The folder of the run that it trains, "" where it is not one of ours.
    """

    pid: int
    command: str
    run: str = ""


@dataclass(frozen=True)
class TpuHost:
    """A computer that may hold a TPU.

    Args:
        root: Where its file system begins.
        variables: Its environment variables; those of this process where None.
    """

    root: Path = Path("/")
    variables: Mapping[str, str] | None = None

    def generation(self) -> str:
        """v2, v3, v4, v5e, v5p, v6e or tpu7x; "" where there is none, or it is not known."""
        variables = os.environ if self.variables is None else self.variables
        named = variables.get("TPU_ACCELERATOR_TYPE", "").lower()
        for start, generation in _TYPES:
            if named.startswith(start):
                return generation
        return next((_GENERATIONS[key] for key in self._devices() if key in _GENERATIONS), "")

    def _devices(self) -> Iterator[str]:
        """Numbers of Google's devices on the PCI bus."""
        for folder in sorted(self.root.glob("sys/bus/pci/devices/*")):
            with contextlib.suppress(OSError):
                if (folder / "vendor").read_text().strip() == _VENDOR:
                    yield (folder / "device").read_text().strip()

    def chips(self) -> list[Path]:
        """The device nodes of its chips: /dev/accel*, or /dev/vfio/* where those are a TPU's."""
        nodes = sorted(self.root.glob("dev/accel[0-9]*"))
        # Any passed-through device, a graphics card too, is a node there.
        if not nodes and self.generation():
            nodes = sorted(self.root.glob("dev/vfio/[0-9]*"))
        return nodes

    def replicas(self) -> int:
        """Devices that share a batch; 0 without chips."""
        return len(self.chips()) * (2 if self.generation() in _TWO_CORES else 1)

    def holders(self) -> list[Holder]:
        """Processes that have a chip open, as far as they may be looked at; not this one."""
        chips = {str(path) for path in self.chips()}
        found = []
        for folder in sorted(self.root.glob("proc/[0-9]*")):
            pid = int(folder.name)
            if pid != os.getpid() and chips & set(_open_files(folder)):
                found.append(_holder(folder, pid))
        return found[:_MOST_HOLDERS]

    def problem(self) -> TpuError | None:
        """The first thing that keeps this process from training on the TPU; None for nothing."""
        chips, generation = self.chips(), self.generation()
        if not chips:
            return TpuError(
                "No TPU in this computer.",
                where="tpu:local",
                received="neither /dev/accel0 nor a TPU in /dev/vfio",
                expected="a TPU VM",
                fix="Train on a TPU VM over SSH: in the window by Run > Connect a TPU or another "
                "computer, in a terminal by `--target ssh:HOST/tpu:local`. What would happen there "
                "is shown here by Run > “Will it train on a TPU?”, in a terminal by "
                "`workbench preflight`.",
            )
        if generation == "tpu7x":
            return TpuError(
                "This TPU (TPU7x) needs JAX: TensorFlow cannot use it.",
                where="tpu:local",
                received="TPU7x",
                expected="v2 to v6e",
                fix="Use a v5e, v5p or v6e.",
            )
        return self._denied(chips) or self._busy(chips) or packages_problem()

    def _denied(self, chips: list[Path]) -> TpuError | None:
        denied = [path for path in chips if not os.access(path, os.R_OK | os.W_OK)]
        if not denied:
            return None
        group = _group_of(denied[0])
        return TpuError(
            "No permission to use the TPU.",
            where=str(denied[0]),
            received=f"no read and write permission (group {group} has it)",
            fix=f"Run sudo usermod -aG {group} $USER and log in again, or restart the VM.",
        )

    def _busy(self, chips: list[Path]) -> TpuError | None:
        holders = self.holders()
        if not holders:
            return None
        ours = next((holder for holder in holders if holder.run), None)
        first = ours or holders[0]
        fix = (
            f"Stop that run: workbench stop {ours.run}"
            if ours
            else f"Terminate it: kill {first.pid}"
        )
        return TpuError(
            "The TPU is in use by another process.",
            where=str(chips[0]),
            received=f"process {first.pid}: {first.command}",
            fix=fix,
        )


def _open_files(folder: Path) -> Iterator[str]:
    try:
        descriptors = list((folder / "fd").iterdir())
    except OSError:  # another user's process, or one that has just ended
        return
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            yield str(descriptor.readlink())


def _holder(folder: Path, pid: int) -> Holder:
    words: list[str] = []
    with contextlib.suppress(OSError):
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    command = re.sub(r"[^ -~]", "?", " ".join(words).strip())[:120]
    is_ours = "workbench.worker" in words and "train" in words
    run = words[words.index("train") + 1] if is_ours and words[-1] != "train" else ""
    return Holder(pid, command or "unknown", run)


def _group_of(path: Path) -> str:
    number = path.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _install() -> str:
    """What installs the pinned packages here. TensorFlow for processors is in the same folder as
    the one for TPUs, and would be left over in parts.
    """
    stock = [name for name in ("tensorflow", "tensorflow-cpu") if installed_version(name)]
    first = f"{sys.executable} -m pip uninstall -y {' '.join(stock)} && " if stock else ""
    return f"Install the pinned packages: `{first}{install_line(PINNED)}`."


def packages_problem(
    tensorflow_tpu: str | None = None, libtpu: str | None = None
) -> TpuError | None:
    """Whether the installed TensorFlow and libtpu fit each other, by their versions.

    Which pairs end the process was measured by importing them: 2.20.0 does with every libtpu
    from 0.0.32 on, 2.19.1 names the one it needs.

    Args:
        tensorflow_tpu: Its version; the one that is installed where None.
        libtpu: Likewise.
    """
    if tensorflow_tpu is None:
        tensorflow_tpu = installed_version("tensorflow-tpu")
    libtpu = installed_version("libtpu") if libtpu is None else libtpu
    if not tensorflow_tpu:
        stock = installed_version("tensorflow") or installed_version("tensorflow-cpu")
        return TpuError(
            "The TensorFlow installed here has no TPU support.",
            where="tensorflow-tpu",
            received=f"tensorflow {stock}" if stock else "no TensorFlow",
            expected="tensorflow-tpu 2.19.1, in its own environment",
            fix=_install(),
        )
    if not libtpu:
        return TpuError("libtpu, the TPU driver, is not installed.", fix=_install())
    expected = _expected_libtpu(_numbers(tensorflow_tpu), _numbers(libtpu))
    if not expected:
        return None
    return TpuError(
        f"libtpu {libtpu} is incompatible with tensorflow-tpu {tensorflow_tpu}: "
        "TensorFlow would crash at import.",
        where="libtpu",
        received=libtpu,
        expected=expected,
        fix=_install(),
    )


def _expected_libtpu(tensorflow: tuple[int, ...], libtpu: tuple[int, ...]) -> str:
    """The libtpu that is needed; "" where the one that is there will do."""
    if tensorflow[:2] == (2, 19):
        return "" if libtpu == (0, 0, 10) else "0.0.10"
    if tensorflow[:2] == (2, 20):
        return "" if (0, 0, 14) <= libtpu < (0, 0, 32) else "0.0.14 to 0.0.31"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0]))


def libtpu_path() -> str:
    """The library of libtpu; "" where it is not installed."""
    spec = importlib.util.find_spec("libtpu")
    if spec is None or spec.origin is None:
        return ""
    return str(Path(spec.origin).with_name("libtpu.so"))


def runtime_variables(generation: str) -> dict[str, str]:
    """What TensorFlow needs set before it starts, for a generation of TPU.

    v2 to v4 run through the older interface, which is the default.
    """
    if generation not in _PJRT:
        return {}
    return {
        "PJRT_DEVICE": "TPU",
        "NEXT_PLUGGABLE_DEVICE_USE_C_API": "true",
        "TF_PLUGGABLE_DEVICE_LIBRARY_PATH": libtpu_path(),
        "TF_XLA_FLAGS": "--tf_mlir_enable_mlir_bridge=true",
    }
