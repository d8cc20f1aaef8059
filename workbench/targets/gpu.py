"""NVIDIA graphics cards of this computer: one, or several that share every batch."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from ctypes.util import find_library
from pathlib import Path
from typing import Any

from workbench.core.format import plural
from workbench.core.params import Params, TextParam
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RunError
from workbench.host.chips import gpus
from workbench.parts import CUDA

_DEVICES = TextParam(
    key="devices",
    title="GPUs",
    default="all",
    pattern=r"all|[0-9]{1,3}(,[0-9]{1,3}){0,31}",
    allowed="all, or numbers such as 0,1",
    help="GPUs to train on: all, or those with these numbers.",
)


def cards(root: Path = Path("/")) -> list[int]:
    """The numbers of the cards that the driver has made device nodes for."""
    names = (path.name.removeprefix("nvidia") for path in root.glob("dev/nvidia[0-9]*"))
    return sorted(int(name) for name in names if name.isdigit())


def _chosen(params: Params) -> list[int]:
    if params["devices"] == "all":
        return cards()
    return [int(number) for number in params["devices"].split(",")]


def _environment(params: Params) -> Mapping[str, str]:
    variables = {
        "TF_CPP_MIN_LOG_LEVEL": "1",
        "TF_USE_LEGACY_KERAS": "0",
        "KERAS_BACKEND": "tensorflow",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # a second process on the card is not shut out
    }
    if params["devices"] != "all":
        variables["CUDA_VISIBLE_DEVICES"] = params["devices"]
    return variables


def _probe(params: Params) -> RunError | None:
    there = cards()
    missing = sorted(set(_chosen(params)) - set(there))
    if there and not missing:
        return None if _has_cuda() else _without_cuda("TensorFlow without CUDA")
    return RunError(
        "No GPU with this number." if there else "No NVIDIA GPU in this computer.",
        where="gpu",
        received=", ".join(f"/dev/nvidia{number}" for number in missing) or "no /dev/nvidia0",
        expected=", ".join(map(str, there)) if there else "a GPU with its driver",
        fix="Choose another target: in the window, from the list beside Train, in a terminal "
        "by `workbench targets`.",
    )


def _has_cuda() -> bool:
    """Whether CUDA is there for TensorFlow: its packages, or libraries of the environment, as conda
    has them, or of the system.
    """
    if CUDA.is_installed or "cuda" in os.environ.get("LD_LIBRARY_PATH", "").lower():
        return True
    return any(Path(sys.prefix, "lib").glob("libcudnn.so*")) or find_library("cudnn") is not None


def _without_cuda(received: str) -> RunError:
    return RunError(
        "TensorFlow finds no GPU.",
        where="gpu",
        received=received,
        fix=f"Install CUDA: `{CUDA.install_command}`. The driver comes from the system.",
    )


def _connect(tf: Any, params: Params) -> Any:
    count = len(tf.config.list_logical_devices("GPU"))
    if not count:
        raise _without_cuda("TensorFlow without CUDA, or an incompatible driver")
    if count == 1:
        return tf.distribute.OneDeviceStrategy("/gpu:0")
    return tf.distribute.MirroredStrategy([f"/gpu:{number}" for number in range(count)])


def _limits(params: Params) -> TargetLimits:
    replicas = max(1, len(_chosen(params)))
    return TargetLimits(
        replicas=replicas,
        has_bfloat16=True,  # what it gains is measured before it is taken
        jit_step=replicas == 1,
        own_layers=False,
        environment="gpu",
    )


def _describe(params: Params) -> str:
    models = gpus()
    if models and params["devices"] == "all":
        return ", ".join(models)
    return plural(len(_chosen(params)), "GPU") if _chosen(params) else "no NVIDIA GPU"


SPEC = TargetSpec(
    key="gpu",
    rank=2,
    title="GPUs",
    summary="Trains on the NVIDIA GPUs of this computer; several GPUs split each batch.",
    params=(_DEVICES,),
    environment=_environment,
    connect=_connect,
    describe=_describe,
    limits=_limits,
    read=lambda text: {"devices": text} if text else {},
    write=lambda params: "" if params["devices"] == "all" else str(params["devices"]),
    probe=_probe,
    is_offered=lambda: bool(cards()),
)
