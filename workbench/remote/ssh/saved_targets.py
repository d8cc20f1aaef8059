"""Computers that were connected before, as targets of a menu or a list."""

from __future__ import annotations

from workbench.core.params import check_all
from workbench.core.projects.project import HERE, Choice
from workbench.remote.ssh.host import RemoteHost
from workbench.remote.ssh.saved_hosts import saved_hosts
from workbench.targets.gpu import SPEC as GPU
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.tpu import SPEC as TPU

INNER_TARGETS = {"tpu": f"{TPU.key}:local", "gpu": GPU.key, "worker": HERE.key}
"""What trains there, by the environment that fits it."""


def choice_at(place: RemoteHost, inner: str) -> Choice:
    """The target that trains at a place, on one of that computer's own targets."""
    params = {"host": place.host, "user": place.user, "port": place.port, "target": inner}
    return Choice(SSH.key, check_all(SSH.params, params)[0])


def saved_choices() -> list[tuple[Choice, str]]:
    """The computers that were connected before, as targets, each with what it has."""
    return [
        (choice_at(host.place(), INNER_TARGETS.get(host.environment, HERE.key)), host.words)
        for host in saved_hosts()
    ]
