"""A TPU: the one in this computer (a TPU VM), one by its name, or an old grpc address.

tpu:local                    trains here; chips, rights and packages are checked first
tpu:NAME[@zone[/project]]    a TPU VM of Google Cloud, reached over ssh
tpu:grpc://HOST:PORT         the way of old tutorials: never contacted, answered with the way of
                             today; also without "tpu:", as HOST:8470, or COLAB_TPU_ADDR
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.format import plural
from workbench.core.params import Params, TextParam
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import TpuError, UsageError
from workbench.hardware.tpu_faults import fault_of
from workbench.hardware.tpu_host import TpuHost, runtime_variables

_TODAY = (
    "Such addresses (COLAB_TPU_ADDR, TPUClusterResolver) worked in Colab and on Google Cloud with "
    "TensorFlow 1 and 2; Google ended grpc access to TPUs on 2025-04-25. Today: in Colab or on "
    "Kaggle, train with a notebook (in the window by the menu beside Train, in a terminal by "
    "`workbench notebook PROJECT FILE.ipynb`); on Google Cloud, on a TPU VM over SSH (in "
    "the window by Run > Connect a TPU or another computer, in a terminal by "
    "`--target ssh:HOST/tpu:local`)."
)
"""What old tutorials did, and what to do instead."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
_HOST = r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9._-]{0,254}"
_GRPC = re.compile(rf"grpc://(?:{_HOST}):(?P<port>[1-9][0-9]{{0,4}})")
_NODE = re.compile(rf"(?:{_HOST}):8470")
_COLAB = "COLAB_TPU_ADDR"
_USUAL_REPLICAS = 8
"""Cores of a TPU that cannot be seen from here: v3-8, v5e-8 and v6e-8 have as many."""

_ADDRESS = TextParam(
    key="address",
    title="Address",
    default="local",
    pattern=rf"{_NAME}|{_GRPC.pattern}".replace("?P<port>", "?:"),
    allowed="local, the name of a TPU VM, or grpc://HOST:PORT",
    max_length=300,
    help="local for the TPU of this computer, or the name of a Google Cloud TPU VM.",
)
_ZONE = TextParam(
    key="zone",
    title="Zone",
    default="",
    pattern=r"([a-z][a-z0-9-]{0,62})?",
    allowed="a zone such as us-central1-a, or nothing",
    help="Zone of the TPU VM. Default: that of gcloud.",
)
_PROJECT = TextParam(
    key="project",
    title="Project",
    default="",
    pattern=r"([a-z][a-z0-9.:-]{0,62})?",
    allowed="a Google Cloud project, or nothing",
    help="Google Cloud project. Default: that of gcloud.",
)


def _read(text: str) -> Params:
    if not text:
        return {}
    if (old := old_address(text)) is not None:
        _check_grpc(old)
        return {"address": old}
    address, at, place = text.partition("@")
    zone, slash, project = place.partition("/")
    is_empty = (at and not place) or (slash and not project)
    if is_empty or (address == "local" and at):
        raise UsageError(
            "Give the zone and project after the name of the TPU.",
            where="tpu",
            received=text,
            expected="for example tpu:local, or tpu:my-tpu@us-central1-a/my-project",
        )
    return {"address": address, "zone": zone, "project": project}


def _write(params: Params) -> str:
    address, zone, project = params["address"], params["zone"], params["project"]
    if _kind(params) != "name" or not (zone or project):
        return str(address)
    return f"{address}@{zone}/{project}" if project else f"{address}@{zone}"


def _kind(params: Params) -> str:
    """Which kind of address it is: local, grpc or name."""
    address = params["address"]
    return "local" if address == "local" else "grpc" if "://" in address else "name"


def _check_grpc(address: str) -> None:
    """Raises UsageError where a grpc address has no host or no possible port."""
    match = _GRPC.fullmatch(address)
    if match is None or int(match["port"]) > 65_535:
        raise UsageError(
            "Not a valid grpc address.",
            where="tpu",
            received=address[:300],
            expected="grpc://HOST:PORT, for example grpc://10.0.0.2:8470",
        )


def old_address(text: str) -> str | None:
    """The grpc address in one of the forms of old tutorials: grpc://HOST:PORT, HOST:8470, or the
    variable COLAB_TPU_ADDR of the environment; None for another text. Raises UsageError.
    """
    text = text.strip().strip("'\"")
    if _COLAB in text:  # as $COLAB_TPU_ADDR, or copied with os.environ[...]
        text = os.environ.get(_COLAB, "").strip()
        if not text:
            raise UsageError(
                f"{_COLAB} is not set on this computer.",
                where="tpu",
                received="no such environment variable",
                expected="an address such as 10.0.0.2:8470",
                fix=_TODAY,
            )
        text = text if "://" in text else f"grpc://{text}"
    if text.lower().startswith("grpc://"):
        return f"grpc://{text[7:].rstrip('/')}"
    return f"grpc://{text}" if _NODE.fullmatch(text) else None


def _found(variables: Mapping[str, str]) -> Iterator[tuple[Params, str]]:
    colab = variables.get("COLAB_TPU_ADDR", "").strip()
    if colab:
        colab = colab if "://" in colab else f"grpc://{colab}"
        yield from _offered(colab, "", "", "from COLAB_TPU_ADDR")
    named = variables.get("TPU_NAME", "").strip()
    if named:
        is_name = named != "local" and "://" not in named
        zone = variables.get("CLOUDSDK_COMPUTE_ZONE", "").strip() if is_name else ""
        project = variables.get("CLOUDSDK_CORE_PROJECT", "").strip() if is_name else ""
        yield from _offered(named, zone, project, "from TPU_NAME")


def _offered(address: str, zone: str, project: str, why: str) -> Iterator[tuple[Params, str]]:
    """What a variable names, if it can be an address: a variable may hold anything."""
    values = {"address": address, "zone": zone, "project": project}
    texts = all(
        re.fullmatch(param.pattern, values[param.key]) for param in (_ADDRESS, _ZONE, _PROJECT)
    )
    if texts and all(value.isprintable() for value in values.values()):
        yield values, why


def _environment(params: Params) -> Mapping[str, str]:
    variables = {
        "TF_CPP_MIN_LOG_LEVEL": "1",  # what libtpu warns of explains a failure
        "TF_USE_LEGACY_KERAS": "0",
        "KERAS_BACKEND": "tensorflow",
    }
    if _kind(params) == "local":
        variables |= runtime_variables(TpuHost().generation())
    return variables


def _probe(params: Params) -> TpuError | None:
    kind = _kind(params)
    if kind == "local":
        return TpuHost().problem()
    if kind == "grpc":
        return TpuError(
            "TPUs can no longer be reached by a grpc address.",
            where=params["address"],
            fix=_TODAY,
        )
    return _over_ssh(params)


def _over_ssh(params: Params) -> TpuError:
    named = f"tpu:{_write(params)}"
    return TpuError(
        "A TPU VM is reached over SSH, not by its name.",
        where=named,
        fix="Its address is looked up with gcloud: in the window by Run > Connect a TPU or another "
        f"computer, in a terminal by `workbench host add {named}`, then "
        "`workbench train --target ssh:USER@HOST/tpu:local`.",
    )


def _connect(tf: Any, params: Params) -> Any:
    problem = None if _kind(params) == "local" else _probe(params)
    if problem is not None:
        raise problem
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
        # Before the strategy, which otherwise finds no cores and fails by an index.
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    except Exception as error:
        raise _in_words(error) from error


def _in_words(error: Exception) -> TpuError:
    text = f"{type(error).__name__}: {error}"
    found = fault_of(text, is_connecting=True)
    if found is not None:
        return TpuError(found.words, where="tpu:local", received=text[:300], fix=found.fix)
    return TpuError(
        "The TPU could not be started.",
        where="tpu:local",
        received=text[:600],
        fix="`workbench doctor tpu:local` checks chips, permissions and packages.",
    )


def _limits(params: Params) -> TargetLimits:
    here = TpuHost().replicas() if _kind(params) == "local" else 0
    return TargetLimits(
        replicas=here or _USUAL_REPLICAS,
        has_bfloat16=True,
        may_measure=False,
        jit_step=False,
        jit_host=False,
        own_layers=False,
        call_s=0.5,
        environment="tpu",
    )


def _describe(params: Params) -> str:
    if _kind(params) != "local":
        return str(params["address"])
    host = TpuHost()
    chips = len(host.chips())
    if not chips:
        return "no TPU in this computer"
    return f"{host.generation() or 'TPU'}, {plural(chips, 'chip')}"


def _label(params: Params) -> str:
    return "TPU" if _kind(params) == "local" else f"TPU {_write(params)}"


SPEC = TargetSpec(
    key="tpu",
    rank=1,
    title="TPU",
    summary="Trains on the cores of a TPU; each core gets a part of every batch.",
    params=(_ADDRESS, _ZONE, _PROJECT),
    environment=_environment,
    connect=_connect,
    describe=_describe,
    limits=_limits,
    form="tpu:local, tpu:NAME[@ZONE/PROJECT] or tpu:grpc://HOST:PORT",
    read=_read,
    write=_write,
    other_form=old_address,
    found=lambda variables: tuple(_found(variables)),
    is_remote=lambda params: _kind(params) == "name",
    probe=_probe,
    is_offered=lambda: bool(TpuHost().chips()),
    label=_label,
)
