"""`workbench host`: other computers that train, reached over the person's own ssh."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import msgspec

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line, print_text, report
from workbench.core.format import bytes_text, local_time
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target
from workbench.errors import UsageError
from workbench.remote.setup import Setup
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.connection import Connection
from workbench.remote.ssh.gcloud import NO_FIRST_CHECK, place_from_gcloud
from workbench.remote.ssh.host_keys import HostKey, accept, accepted_keys, offered_keys
from workbench.targets import all_targets
from workbench.targets.ssh import SPEC as SSH
from workbench.targets.ssh import trains_on
from workbench.targets.tpu import SPEC as TPU

NAME = "host"
HELP = "list, add, name, check, set up or forget other computers that train over SSH"

_DEST = "[USER@]HOST[:PORT], ssh:..., or tpu:NAME[@zone[/project]] (looked up with gcloud)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds one of list, add, rename, check, setup, forget, fingerprint."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the known computers")
    listing.set_defaults(act=_list)
    add_json_option(listing)
    made = {}
    for name, act, words in (
        ("add", _add, "save an address, without connecting"),
        ("rename", _rename, "name a saved computer"),
        ("fingerprint", _fingerprint, "show the host key fingerprint, and trust it"),
        ("check", _check, "connect and show what the computer has"),
        ("setup", _setup, "create the Python environment there and send the program"),
        ("forget", _forget, "forget an address, its host key and the consent to connect to it"),
    ):
        made[name] = command = commands.add_parser(name, help=words)
        command.add_argument("dest", metavar="DEST", help=_DEST)
        command.set_defaults(act=act)
        add_json_option(command)
    for name, option, metavar, words in (
        ("add", "--key", "FILE", "private key file"),
        ("add", "--home", "FOLDER", "remote folder of Workbench"),
        ("add", "--python", "PATH", "remote Python interpreter"),
        ("fingerprint", "--accept", "SHA256:...", "trust this host key fingerprint"),
    ):
        made[name].add_argument(option, metavar=metavar, default="", help=words)
    made["rename"].add_argument(
        "name", metavar="NAME", type=str, help='what lists show; "" the address'
    )
    made["setup"].add_argument(
        "--environment", choices=("worker", "tpu", "gpu"), help="override the detected environment"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the chosen command; exit code 1 where a fingerprint is not the one that answers."""
    code: int = arguments.act(arguments)
    return code


def _choice(dest: str) -> Choice:
    """An `ssh` or `tpu` target of DEST."""
    is_whole = dest.startswith((f"{SSH.key}:", f"{TPU.key}:"))
    return parse_target(dest if is_whole else f"{SSH.key}:{dest}", all_targets())


def _place(dest: str) -> RemoteHost:
    """The place that DEST names, with what was saved for it.

    Raises:
        UsageError: it is not an address.
        RemoteError: gcloud does not list it.
    """
    choice = _choice(dest)
    spec = all_targets()[choice.key]
    if not spec.is_remote(choice.params):
        raise UsageError("This is not another computer.", received=dest, expected=_DEST)
    if choice.key == SSH.key:
        if (problem := spec.probe(choice.params)) is not None:
            raise problem
        if choice.params["others"]:
            raise UsageError(
                "Only one computer at a time.",
                received=dest,
                expected=_DEST,
                fix="Run the command once per computer.",
            )
        return saved_hosts.place_for(choice.params)
    print_line(NO_FIRST_CHECK)
    params = choice.params
    return place_from_gcloud(params["address"], params["zone"], params["project"])


def _list(arguments: argparse.Namespace) -> int:
    saved = saved_hosts.saved_hosts()
    for host in saved:
        if arguments.json:
            print_json(_plain(host))
            continue
        then = local_time(host.seen) if host.seen else None
        seen = f"{then:%Y-%m-%d %H:%M}" if then is not None else "never"
        words = "; ".join(filter(None, (host.name, host.words)))
        print_text(f"{host.address:32} {seen:16}  {words}")
    if not saved and not arguments.json:
        print_line("No other computer yet. Add one with: workbench host add [USER@]HOST")
    return 0


def _add(arguments: argparse.Namespace) -> int:
    place = _place(arguments.dest)
    place = replace(
        place,
        key_file=arguments.key or place.key_file,
        home=arguments.home or place.home,
        python=arguments.python or place.python,
    )
    host = saved_hosts.save_host(place)
    words = f"Saved. Next: workbench host fingerprint {place.text()}"
    report(_plain(host), words, as_json=arguments.json)
    return 0


def _rename(arguments: argparse.Namespace) -> int:
    host = saved_hosts.rename_host(_place(arguments.dest).text(), arguments.name)
    words = f"{host.address} is named {host.name}." if host.name else f"{host.address} has no name."
    report(_plain(host), words, as_json=arguments.json)
    return 0


def _plain(host: saved_hosts.SavedHost) -> dict[str, Any]:
    return {**msgspec.structs.asdict(host), "target": f"{SSH.key}:{host.address}"}


def _fingerprint(arguments: argparse.Namespace) -> int:
    place = _place(arguments.dest)
    offered, known = offered_keys(place), accepted_keys(place)
    chosen = [key for key in offered if key.fingerprint == arguments.accept]
    if chosen:
        accept(place, chosen)
        known = accepted_keys(place)
    _print_keys(arguments, place, offered, known)
    if arguments.accept and not chosen:
        print_line("The host has no such fingerprint. Nothing was trusted.")
        return 1
    return 0


def _print_keys(
    arguments: argparse.Namespace, place: RemoteHost, offered: list[HostKey], known: list[HostKey]
) -> None:
    if arguments.json:
        keys = [
            {"kind": key.kind, "fingerprint": key.fingerprint, "is_accepted": key in known}
            for key in offered
        ]
        print_json({"address": place.text(), "keys": keys, "is_known": bool(known)})
        return
    for key in offered:
        print_text(f"{key.fingerprint}  {key.kind}  {'trusted' if key in known else 'not trusted'}")
    if not known:
        print_line(
            "Compare it with the one shown by the computer's owner or console. If it is the same:"
        )
        print_line(f"  workbench host fingerprint {place.text()} --accept {offered[0].fingerprint}")


def _check(arguments: argparse.Namespace) -> int:
    place = _place(arguments.dest)
    with Connection.to(place) as line:
        facts = Setup(line, _print_progress).probe(place.python)
    host = saved_hosts.seen_now(place, facts)
    if arguments.json:
        print_json({"address": place.text(), "words": host.words, "facts": facts})
        return 0
    print_text(f"{place.text()}: {host.words}")
    for python in facts.get("pythons", []):
        version = ".".join(map(str, python.get("version", [])))
        print_text(f"  Python {version}  {python.get('path', '')}")
    for environment in facts.get("environments", []):
        print_text(f"  environment {environment.get('name')} is set up")
    print_text(f"  {bytes_text(facts.get('free_bytes', 0))} free in {place.home}")
    return 0


def _setup(arguments: argparse.Namespace) -> int:
    place = _place(arguments.dest)
    with Connection.to(place) as line:
        setup = Setup(line, _print_progress)
        facts = setup.probe(place.python)
        named = arguments.environment or _wanted(arguments.dest)
        name = named or saved_hosts.fitting_environment(facts)
        python, _ = (place.python, "") if place.python else setup.environment(name, facts)
        code = setup.code()
    saved_hosts.seen_now(place, facts)
    saved_hosts.save_host(place, environment="" if place.python else name)
    result: dict[str, Any] = {"address": place.text(), "environment": name, "python": python}
    if arguments.json:
        print_json({**result, "code": code})
    else:
        print_text(f"{place.text()} is ready to train with {python}")
    return 0


def _wanted(dest: str) -> str:
    """The environment of the target in DEST; "" where it names none."""
    choice = _choice(dest)
    if choice.key != SSH.key or "/" not in dest:
        return ""
    inner = trains_on(choice.params)
    spec = all_targets()[inner.key]
    return spec.limits(check_all(spec.params, inner.params)[0]).environment


def _forget(arguments: argparse.Namespace) -> int:
    place = _place(arguments.dest)
    forgotten = saved_hosts.forget_computer(place)
    value = {"address": place.text(), **msgspec.structs.asdict(forgotten)}
    report(value, forgotten.words(), as_json=arguments.json)
    return 0


def _print_progress(words: str, fraction: float) -> None:
    print_line(f"{words} ({fraction:.0%})" if 0 <= fraction <= 1 else words)
