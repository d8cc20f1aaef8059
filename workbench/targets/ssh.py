"""Another computer, reached over the person's own ssh; what trains there is a target of it.

ssh:[USER@]HOST[:PORT]            its processor
ssh:[USER@]HOST[:PORT]/TARGET     another of its targets, e.g. ssh:tpu-vm-1/tpu:local
ssh:HOST,HOST,...                 several computers share every batch; the first one leads
ssh:HOST,HOST,.../several:A,B,... the same, where they know each other by other addresses
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.core.params import ChoiceParam, IntParam, Params, TextParam, check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import parse_target, target_text
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RemoteError, UsageError, WorkbenchError
from workbench.hardware.address import HOST, MAX_PORT, PATH, USER, Address, parse_address
from workbench.hardware.cluster import MOST_MACHINES, read_addresses

_HERE = "this_computer"
_TOGETHER = "several"


@dataclass(frozen=True, kw_only=True)
class OthersParam(TextParam):
    """Further computers as one text, "[USER@]HOST[:PORT],..."; nothing for none."""

    max_length: int = 20_000

    def check(self, value: Any) -> str:
        text = super().check(value).strip()
        try:
            return ",".join(other.text() for other in _addresses(text))
        except UsageError as error:
            raise self._refuse(value) from error

    def expected(self) -> str:
        return f"up to {MOST_MACHINES - 1} addresses [USER@]HOST[:PORT] with commas between"


def _addresses(text: str) -> list[Address]:
    return [parse_address(part.strip()) for part in text.split(",")] if text else []


_PARAMS = (
    TextParam(
        key="host",
        title="Computer",
        default="",
        pattern=f"({HOST})?",
        allowed="letters, digits, dots and dashes; an IPv6 address in brackets",
        help="Its name or address, or a name from your ssh configuration.",
    ),
    TextParam(
        key="user",
        title="User",
        default="",
        pattern=f"({USER})?",
        allowed="letters, digits, dots, dashes and underscores, or nothing",
        help="Your account there; left open, your ssh configuration decides.",
    ),
    IntParam(
        key="port",
        title="Port",
        default=0,
        maximum=MAX_PORT,
        help="Where its ssh server listens; 0 leaves it to your ssh configuration, usually 22.",
    ),
    OthersParam(
        key="others",
        title="Further computers",
        default="",
        help="Computers that share every batch with the first one, with commas between; they are "
        "set up and started with it. Key file, Python and folder are the same on all.",
    ),
    TextParam(
        key="target",
        title="Trains on",
        default=_HERE,
        max_length=500,
        help="A target of that computer: this_computer, virtual:8, gpu or tpu:local.",
    ),
    TextParam(
        key="key_file",
        title="Key file",
        default="",
        pattern=f"({PATH})?",
        allowed="the path of a private key, or nothing",
        max_length=1000,
        help="A private key to offer; left open, your ssh agent and configuration decide.",
    ),
    ChoiceParam(
        key="data",
        title="Pictures",
        default="upload",
        choices=("upload", "host"),
        titles={"upload": "sent from here, once", "host": "read there"},
        help="Sent from this computer once, or read there: the data set's path is then one on "
        "that computer.",
    ),
    TextParam(
        key="python",
        title="Python",
        default="",
        pattern=f"({PATH})?",
        allowed="the path of an interpreter there, or nothing",
        max_length=1000,
        help="An interpreter there that has TensorFlow and Keras; left open, an environment is "
        "made there from a list of packages with checksums.",
    ),
    TextParam(
        key="home",
        title="Folder",
        default="~/.workbench",
        pattern=PATH,
        allowed="a path on that computer",
        max_length=1000,
        help="The folder there for environments, pictures and runs.",
    ),
)


def _read(text: str) -> Params:
    if not text:
        return {}
    place, slash, inner = text.partition("/")
    first, _, others = place.partition(",")
    address = parse_address(first)
    params: dict[str, Any] = {"host": address.host, "user": address.user, "port": address.port}
    if others or first != place:
        params["others"] = ",".join(parse_address(part).text() for part in others.split(","))
    if slash:
        params["target"] = _text_of(inner_target(inner))
    return params


def _write(params: Params) -> str:
    if not params["host"]:
        return ""
    addresses = ",".join(address.text() for address in computers(params))
    inner = params["target"]
    return addresses if inner == _HERE else f"{addresses}/{inner}"


def computers(params: Params) -> list[Address]:
    """All computers that train, the leading one first."""
    first = Address(params["host"], params["user"], params["port"])
    return [first, *_addresses(params["others"])]


def trains_on(params: Params) -> Choice:
    """The target of the other computer; where there are several, all of them together.

    Raises:
        UsageError: it is no target there, or not one of so many computers.
    """
    places = computers(params)
    if len(places) == 1:
        return inner_target(params["target"])
    text = params["target"]
    if text == _HERE:
        text = f"{_TOGETHER}:{','.join(place.host for place in places)}"
    choice = inner_target(text)
    machines = choice.params.get("machines", "") if choice.key == _TOGETHER else ""
    if not machines or len(read_addresses(machines)) != len(places):
        raise UsageError(
            "Several computers train together with their processors, each at one address.",
            where="ssh",
            received=text[:200],
            expected=f"nothing, or {_TOGETHER}: with {len(places)} addresses",
            fix="Leave out what stands behind the slash, or train on one computer.",
        )
    if len({replace(place, user="") for place in places}) < len(places):
        raise UsageError(
            "A computer is named twice.",
            where="ssh",
            received=_write(params)[:200],
            expected="different computers",
        )
    return choice


def inner_target(text: str) -> Choice:
    """The target of the other computer that a text names.

    Raises:
        UsageError: there is none of that name, or it is yet another computer.
    """
    from workbench.targets import all_targets  # noqa: PLC0415 - it is what lists this file

    choice = parse_target(text, all_targets())
    if choice.key == SPEC.key or all_targets()[choice.key].is_remote(choice.params):
        raise UsageError(
            "Another computer trains on a target of its own, not on a third computer.",
            where="ssh",
            received=text[:200],
            expected="for example this_computer, gpu or tpu:local",
        )
    return choice


def _text_of(choice: Choice) -> str:
    from workbench.targets import all_targets  # noqa: PLC0415 - as above

    return target_text(choice, all_targets())


def _limits(params: Params) -> TargetLimits:
    """Those of the target there, as far as they can be told from here."""
    from workbench.targets import all_targets  # noqa: PLC0415 - as above

    try:
        choice = trains_on(params)
    except UsageError:
        return TargetLimits()
    spec = all_targets()[choice.key]
    return spec.limits(check_all(spec.params, choice.params)[0])


def _probe(params: Params) -> WorkbenchError | None:
    """What can be seen without asking the other computer."""
    if not params["host"]:
        return UsageError(
            "No other computer has been named yet.",
            where="ssh",
            expected="ssh:[USER@]HOST[:PORT][/TARGET]",
        )
    try:
        trains_on(params)
    except UsageError as error:
        return error
    return None


def _connect(tf: Any, params: Params) -> Any:
    raise RemoteError(
        "A trainer on this computer cannot train on another one.",
        key="not_here",
        where=f"ssh:{_write(params)}",
        fix="Start it with `workbench train --target ssh:HOST`, which sends it there.",
    )


def _label(params: Params) -> str:
    if not params["host"]:
        return ""
    inner = "" if params["target"] == _HERE else f", {params['target']}"
    hosts = ", ".join(address.host for address in computers(params))
    return f"{hosts}{inner}"


SPEC = TargetSpec(
    key="ssh",
    title="Another computer over ssh",
    summary="Trains on a computer that your ssh reaches, a TPU VM for example, or on several "
    "together; the training goes on there when the line is cut or this computer is off.",
    params=_PARAMS,
    connect=_connect,
    describe=lambda params: _write(params) or "a computer that your ssh reaches",
    limits=_limits,
    read=_read,
    write=_write,
    is_remote=lambda params: True,
    probe=_probe,
    is_offered=lambda: False,
    label=_label,
)
