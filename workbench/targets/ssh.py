"""Another computer, reached over the person's own ssh; what trains there is a target of it.

ssh:[USER@]HOST[:PORT]            its processor
ssh:[USER@]HOST[:PORT]/TARGET     another of its targets, e.g. ssh:tpu-vm-1/tpu:local
ssh:HOST,HOST,...                 several computers share every batch; the first one leads
ssh:HOST,HOST,.../several:A,B,... the same, where they reach each other by other addresses
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.params import ChoiceParam, IntParam, Params, TextParam
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import limits_of, parse_target, target_text
from workbench.core.specs import TargetLimits, TargetSpec
from workbench.errors import RemoteError, UsageError, WorkbenchError
from workbench.hardware.cluster import (
    HOST,
    MAX_PORT,
    MOST_MACHINES,
    PATH,
    USER,
    Address,
    parse_address,
    read_addresses,
)

_FORM = "ssh:[USER@]HOST[:PORT][/TARGET]"
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
        return f"up to {MOST_MACHINES - 1} addresses [USER@]HOST[:PORT], separated by commas"


def _addresses(text: str) -> list[Address]:
    return [parse_address(part.strip()) for part in text.split(",")] if text else []


_PARAMS = (
    TextParam(
        key="host",
        title="Host",
        default="",
        pattern=f"({HOST})?",
        allowed="letters, digits, dots and dashes; an IPv6 address in brackets",
        help="Host name or address, or a host of your SSH configuration.",
    ),
    TextParam(
        key="user",
        title="User",
        default="",
        pattern=f"({USER})?",
        allowed="letters, digits, dots, dashes and underscores, or nothing",
        help="User name there. Default: from your SSH configuration.",
    ),
    IntParam(
        key="port",
        title="Port",
        default=0,
        minimum=0,
        maximum=MAX_PORT,
        help="Port of the SSH server. 0: from your SSH configuration, usually 22.",
    ),
    OthersParam(
        key="others",
        title="More hosts",
        default="",
        help="Hosts that train together with the first one, separated by commas. They are "
        "set up and started with it. Key file, Python and folder are the same on all.",
    ),
    TextParam(
        key="target",
        title="Target there",
        default=_HERE,
        max_length=500,
        help="Target on that computer: this_computer, virtual:8, gpu or tpu:local.",
    ),
    TextParam(
        key="key_file",
        title="Key file",
        default="",
        pattern=f"({PATH})?",
        allowed="the path of a private key, or nothing",
        max_length=1000,
        help="Private SSH key. Default: from your SSH agent and configuration.",
    ),
    ChoiceParam(
        key="data",
        title="Images",
        default="upload",
        choices=("upload", "host"),
        titles={"upload": "uploaded once", "host": "already there"},
        help="Uploaded once from this computer, or already there: the path of the data set "
        "is then a path on that computer.",
    ),
    TextParam(
        key="python",
        title="Python",
        default="",
        pattern=f"({PATH})?",
        allowed="the path of a Python interpreter there, or nothing",
        max_length=1000,
        help="Python interpreter there with TensorFlow and Keras. Default: an environment "
        "with pinned packages is installed.",
    ),
    TextParam(
        key="home",
        title="Folder",
        default="~/.workbench",
        pattern=PATH,
        allowed="a path on that computer",
        max_length=1000,
        help="Folder there for environments, images and runs.",
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
    """All computers that train, the chief first."""
    first = Address(params["host"], params["user"], params["port"])
    return [first, *_addresses(params["others"])]


def trains_on(params: Params) -> Choice:
    """The target of the other computer; where there are several, all of them together. Raises
    UsageError where it is no target there, or not one of so many computers.
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
            "Several hosts can only train on their CPUs.",
            where="ssh",
            received=text[:200],
            expected=f"nothing, or {_TOGETHER}: with {len(places)} addresses",
            fix="Leave out the part after the slash, or train on one host.",
        )
    if len({replace(place, user="") for place in places}) < len(places):
        raise UsageError(
            "A host is listed twice.",
            where="ssh",
            received=_write(params)[:200],
            expected="different hosts",
        )
    return choice


def inner_target(text: str) -> Choice:
    """The target there that a text names; UsageError for an unknown one, or a further ssh."""
    from workbench.targets import all_targets  # noqa: PLC0415 - it is what lists this file

    choice = parse_target(text, all_targets())
    if choice.key == SPEC.key or all_targets()[choice.key].is_remote(choice.params):
        raise UsageError(
            "The target there must be on that computer itself, not on a third one.",
            where="ssh",
            received=text[:200],
            expected="for example this_computer, gpu or tpu:local",
        )
    return choice


def _text_of(choice: Choice) -> str:
    from workbench.targets import all_targets  # noqa: PLC0415 - as above

    return target_text(choice, all_targets())


def _limits(params: Params) -> TargetLimits:
    """Limits of the target on the other computer, as far as they are known here."""
    from workbench.targets import all_targets  # noqa: PLC0415 - as above

    try:
        return limits_of(trains_on(params), all_targets())
    except UsageError:
        return TargetLimits()


def _probe(params: Params) -> WorkbenchError | None:
    """What can be checked without connecting to the other computer."""
    if not params["host"]:
        return UsageError("No host given.", where="ssh", expected=_FORM)
    try:
        trains_on(params)
    except UsageError as error:
        return error
    return None


def _connect(tf: Any, params: Params) -> Any:
    raise RemoteError(
        "A training process on this computer cannot train on another one.",
        key="not_here",
        where=f"ssh:{_write(params)}",
        fix="Start it with `workbench train --target ssh:HOST`.",
    )


def label(params: Params, name_of: Callable[[Address], str] = Address.text) -> str:
    """The hosts as `name_of` calls them, and what of a single one trains: "me@vm:2222, TPU"."""
    if not params["host"]:
        return ""
    places = computers(params)
    hosts = ", ".join(map(name_of, places))
    is_cpu = params["target"] == _HERE or len(places) > 1
    return hosts if is_cpu else f"{hosts}, {_label_there(params['target'])}"


def _label_there(text: str) -> str:
    from workbench.targets import target_label  # noqa: PLC0415 - as above

    try:
        return target_label(inner_target(text))
    except UsageError:
        return text


SPEC = TargetSpec(
    key="ssh",
    title="Another computer (SSH)",
    summary="Trains on a computer reached over SSH, such as a TPU VM, or on several together. "
    "Training continues there when the connection is lost or this computer is off.",
    params=_PARAMS,
    connect=_connect,
    describe=lambda params: _write(params) or "a computer reached over SSH",
    limits=_limits,
    form=_FORM,
    read=_read,
    write=_write,
    is_remote=lambda params: True,
    probe=_probe,
    is_offered=lambda: False,
    label=label,
    addresses=lambda params: [place.text() for place in computers(params) if place.host],
)
