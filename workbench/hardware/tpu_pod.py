"""TPU pods: TPUs whose chips belong to several hosts, with the same program on each of them.

Never run on hardware. What stands here is what each host must be told and how it is started,
as Google documents it; whether a training of ours comes up on a pod nobody has seen. So no
target offers it: it is the beginning of one, for whoever has a pod to try it on.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from workbench.errors import UsageError
from workbench.hardware.address import checked_host
from workbench.hardware.cluster import CLUSTER_VARIABLE, Cluster, read_address, with_ports

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def pod_cluster(hosts: Sequence[str]) -> Cluster:
    """The hosts of a pod as machines that come together by our line; the first one leads.

    Args:
        hosts: Names or addresses as the hosts know each other, in the order of their numbers.

    Raises:
        UsageError: one is no host, or there are fewer than two.
    """
    if len(hosts) < 2 or len(set(hosts)) < len(hosts):
        raise UsageError(
            "A pod has several hosts.",
            where="TPU pod",
            received=", ".join(hosts) or "none",
            expected="two different hosts at least; one host is tpu:local",
        )
    return Cluster(with_ports(tuple(read_address(checked_host(host)) for host in hosts)))


def pod_environments(name: str, hosts: Sequence[str]) -> tuple[dict[str, str], ...]:
    """The variables of the worker on each host, which must be set before TensorFlow is imported.

    On a TPU VM the metadata server says who the workers are; these say the same where it does
    not answer. TPU_NAME is what TensorFlow's resolver asks for on a pod.

    Raises:
        UsageError: the name or a host is none.
    """
    cluster = pod_cluster(hosts)
    return tuple(
        {
            "TPU_NAME": _checked_name(name),
            "TPU_WORKER_HOSTNAMES": ",".join(hosts),
            "TPU_WORKER_ID": str(index),
            CLUSTER_VARIABLE: cluster.of(index).text(),
        }
        for index in range(len(hosts))
    )


def pod_commands(
    name: str, hosts: Sequence[str], *, python: str, run: str, zone: str = "", project: str = ""
) -> tuple[tuple[str, ...], ...]:
    """The command lines that start a worker on each host, by Google Cloud's own program.

    The first host's trains the run; the others join it. They are argument lists: no shell of
    this computer sees them, and what the host's shell sees is quoted for it.

    Args:
        name: Of the TPU.
        hosts: In the order of their numbers.
        python: Interpreter on the hosts.
        run: Folder on the hosts: a run's on the first one, any on the others.
        zone: Where the TPU is; gcloud's own default where empty.
        project: Whose it is; gcloud's own default where empty.

    Raises:
        UsageError: the name or a host is none.
    """
    places = [f"--{key}={value}" for key, value in (("zone", zone), ("project", project)) if value]
    lines = []
    for index, variables in enumerate(pod_environments(name, hosts)):
        verb = "train" if index == 0 else "join"
        set_variables = [f"{key}={value}" for key, value in variables.items()]
        words = ["env", *set_variables, python, "-P", "-m", "workbench.worker", verb, run]
        ssh = ("gcloud", "compute", "tpus", "tpu-vm", "ssh", name, *places, f"--worker={index}")
        lines.append((*ssh, f"--command={shlex.join(words)}", "--", "-T", "-o", "BatchMode=yes"))
    return tuple(lines)


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            "This is no name of a TPU.",
            where="TPU pod",
            received=name[:100] if name.isprintable() else repr(name)[:100],
            expected="letters, digits, dots, dashes and underscores",
        )
    return name
