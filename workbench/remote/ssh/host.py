"""Another computer, and what is ours there."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.core.params import Params
from workbench.hardware.address import (
    MAX_PORT,
    Address,
    checked_host,
    checked_path,
    checked_port,
    checked_user,
)

DEFAULT_HOME = "~/.workbench"
SSH_PORT = 22


@dataclass(frozen=True, kw_only=True)
class RemoteHost:
    """A computer that is reached over the person's own ssh. Every part has been checked.

    Attributes:
        host, user, port: As `Address`; "" and 0 where the person's ssh configuration decides.
        key_file: Private key to offer; "" for those that ssh finds itself.
        home: Our folder there.
        python: Interpreter to train with instead of an environment of ours; "" for ours.

    Raises:
        UsageError: a part is not allowed.
    """

    host: str
    user: str = ""
    port: int = 0
    key_file: str = ""
    home: str = DEFAULT_HOME
    python: str = ""

    def __post_init__(self) -> None:
        checked_host(self.host)
        if self.user:
            checked_user(self.user)
        if not 0 <= self.port <= MAX_PORT:
            checked_port(str(self.port))
        checked_path(self.home, "home")
        for path, what in ((self.key_file, "key file"), (self.python, "python")):
            if path:
                checked_path(path, what)

    @property
    def bare_host(self) -> str:
        """The host without the brackets of an IPv6 address, as programs take it."""
        return self.host.strip("[]")

    @property
    def key_name(self) -> str:
        """The name that its host keys are kept under: one for each host and port."""
        return f"[{self.bare_host}]:{self.port or SSH_PORT}".lower()

    def text(self) -> str:
        """Its address as people write it."""
        return Address(self.host, self.user, self.port).text()


def place_of(params: Params) -> RemoteHost:
    """The place that the parameters of an `ssh` target name; raises UsageError."""
    return RemoteHost(**{field.name: params[field.name] for field in fields(RemoteHost)})
