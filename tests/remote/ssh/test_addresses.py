"""Whatever is written in an address, a project or a list of hosts: no program gets it but as one
word behind `--`, and what could be anything else than an address starts no program at all.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.cli import main
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target, target_text
from workbench.errors import RemoteError, UsageError
from workbench.hardware.cluster import Address, parse_address
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import COMMAND, RemoteHost, place_of, ssh_argv
from workbench.remote.ssh.connection import Connection
from workbench.remote.ssh.host_keys import HostKey, accept, known_hosts_path
from workbench.targets import all_targets

SSH = all_targets()["ssh"]

HOSTILE = [
    "-oProxyCommand=touch PWN",
    "-oProxyCommand=touch${IFS}PWN",
    "--",
    "-",
    "a;touch PWN",
    "a`touch PWN`",
    "$(touch PWN)",
    "a\ntouch PWN",
    "a\rtouch PWN",
    "a b",
    "a|touch PWN",
    "a&touch PWN",
    "a'touch PWN'",
    'a"touch PWN"',
    "a>PWN",
    "a\\touch",
    "a\0b",
    "%h",
    "~/x",
    "a*",
    "\N{RIGHT-TO-LEFT OVERRIDE}gro.elpmaxe",
    "ex\N{CYRILLIC SMALL LETTER A}mple.org",
    "a" * 300,
    "[::1",
    "[;touch PWN]",
    "[::1]x",
    "",
]


@pytest.fixture
def fake_programs(tmp_path, monkeypatch):
    """`ssh`, `ssh-keyscan` and `gcloud` that write down how they were called."""
    folder, log = tmp_path / "bin", tmp_path / "calls.log"
    folder.mkdir()
    for name in ("ssh", "ssh-keyscan", "gcloud"):
        script = folder / name
        script.write_text(
            f'#!/bin/sh\nfor word in "$0" "$@"; do printf \'%s\\036\' "$word"; done >>{log}\n'
            f"printf '\\n' >>{log}\nexit 255\n"
        )
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)

    def calls():
        text = log.read_text() if log.exists() else ""
        return [line.split("\x1e") for line in text.split("\x1e\n") if line]

    return calls


# Addresses


@pytest.mark.parametrize("text", HOSTILE)
def test_no_part_of_an_address_may_be_anything_else(text):
    for build in (
        lambda: parse_address(text),
        lambda: parse_address(f"user@{text}"),
        lambda: RemoteHost(host=text or "-"),
        lambda: RemoteHost(host="vm", user=text or "-"),
    ):
        with pytest.raises(UsageError):
            build()
    with pytest.raises(UsageError):
        parse_address(f"{text}@vm")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "22x", "", "2 2", "²", "9" * 5000])
def test_ports_have_bounds(port):
    with pytest.raises(UsageError):
        parse_address(f"vm:{port}")


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}", fullmatch=True)
addresses = st.builds(
    Address,
    host=names | st.sampled_from(["[::1]", "[fe80::1]", "10.0.0.2"]),
    user=st.just("") | names,
    port=st.just(0) | st.integers(1, 65_535),
)


@given(addresses)
def test_an_address_reads_back(address):
    assert parse_address(address.text()) == address


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_wrong_usage(text):
    try:
        address = parse_address(text)
    except UsageError:
        return
    argv = ssh_argv(
        RemoteHost(host=address.host, user=address.user, port=address.port),
        known_hosts=Path("/x/known_hosts"),
    )
    assert argv[-3] == "--"
    assert not argv[-2].startswith("-")
    assert argv[-1] == COMMAND


@given(addresses, st.sampled_from(["this_computer", "virtual:2", "tpu:local"]))
def test_a_target_text_names_the_same_computer(address, inner):
    text = f"ssh:{address.text()}" + ("" if inner == "this_computer" else f"/{inner}")
    choice = parse_target(text, all_targets())
    assert target_text(choice, all_targets()) == text
    assert place_of(choice.params).text() == address.text()


@pytest.mark.parametrize("inner", ["ssh:other", "tpu:name@zone-a", "nonsense", "virtual:1"])
def test_another_computer_trains_on_a_target_of_its_own(inner):
    with pytest.raises(UsageError):
        parse_target(f"ssh:vm/{inner}", all_targets())


def test_the_limits_are_those_of_the_target_there():
    two = parse_target("ssh:vm/virtual:2", all_targets())
    assert SSH.limits(two.params).replicas == 2
    assert SSH.limits(parse_target("ssh:vm/tpu:local", all_targets()).params).environment == "tpu"
    assert SSH.is_remote(two.params)
    assert SSH.probe(two.params) is None


def test_a_trainer_here_never_trains_there():
    with pytest.raises(RemoteError):
        SSH.connect(None, parse_target("ssh:vm", all_targets()).params)


# What is started


def test_every_option_is_ours_before_the_persons_own(tmp_path):
    place = RemoteHost(host="[::1]", user="me", port=2222, key_file="~/key", home="~/it's; here")
    argv = ssh_argv(place, known_hosts=tmp_path / 'a %b "c"'.replace('"', "'"))
    assert argv[:2] == ["ssh", "-T"]
    assert argv[-3:] == ["--", "::1", COMMAND]
    options = {argv[i + 1] for i, word in enumerate(argv) if word == "-o"}
    assert {
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "ForwardAgent=no",
        "ForwardX11=no",
        "ClearAllForwardings=yes",
        "PermitLocalCommand=no",
        "ServerAliveInterval=15",
        "ServerAliveCountMax=3",
        "ConnectTimeout=10",
        "HostKeyAlias=[::1]:2222",
        "GlobalKnownHostsFile=/dev/null",
        "ControlPath=none",
    } <= options
    assert any(o.startswith("UserKnownHostsFile=") and "%%b" in o for o in options)
    assert argv[argv.index("-i") + 1] == str(Path("~/key").expanduser())
    assert not any("it's" in word for word in argv)  # paths there go as data


@pytest.mark.parametrize(
    ("text", "command"),
    [(text, "check") for text in HOSTILE]
    + [(HOSTILE[0], name) for name in ("fingerprint", "setup", "add", "forget")],
)
def test_a_hostile_word_starts_no_program(fake_programs, text, command, capsys):
    for dest in (text, f"ssh:{text}", f"ssh:{text}@vm", f"tpu:{text}@zone", f"tpu:vm@{text}"):
        try:
            code = main(["host", command, dest])
        except SystemExit as end:  # argparse: the word is an option, and none of ours
            code = end.code
        assert code != 0
        assert fake_programs() == []
    assert not list(Path().rglob("*PWN*"))
    capsys.readouterr()


@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
@pytest.mark.parametrize("field", ["host", "user", "key_file", "home", "python", "target"])
def test_a_hostile_project_starts_no_program(fake_programs, text, field):
    """As a project file could say it: the checks of the form are not the only ones."""
    params = check_all(SSH.params, {"host": "vm"})[0] | {field: text}
    checked, errors = check_all(SSH.params, params)
    if errors:
        assert checked[field] != text
    try:
        place = place_of(params)
    except UsageError:
        assert fake_programs() == []
        return
    assert field in {"key_file", "home", "python", "target"}
    with pytest.raises(RemoteError):
        Connection.to(place)
    (call,) = fake_programs()
    assert call[-3:] == ["--", "vm", COMMAND]
    if field == "key_file":
        assert call[call.index("-i") + 1] == os.path.expanduser(text)  # noqa: PTH111 - as ssh_argv has it, for any text
    else:
        assert call.count(text) == (text == "--")
    assert not list(Path().rglob("*PWN*"))


@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_a_hostile_list_of_hosts_is_passed_over(fake_programs, text):
    saved_hosts.save_host(RemoteHost(host="good"))
    path = saved_hosts.hosts_path()
    saved = json.loads(path.read_text())
    saved["hosts"] += [
        {"address": text},
        {"address": "vm", "key_file": "-x"},
        {"address": f"{text}@a"},
    ]
    path.write_text(json.dumps(saved))
    assert [host.address for host in saved_hosts.saved_hosts()] == ["good"]
    assert fake_programs() == []


@pytest.mark.parametrize(
    "text", ["-oProxyCommand=touch PWN", "$(touch PWN)", "a;touch PWN", "a`b`"]
)
def test_the_real_ssh_runs_nothing_of_it(tmp_path, monkeypatch, text):
    """Even past our own checks: the words come behind `--`, and no shell is between."""
    monkeypatch.chdir(tmp_path)
    place = RemoteHost(host="vm")
    object.__setattr__(place, "host", text)
    with pytest.raises(RemoteError):
        Connection(ssh_argv(place, known_hosts=tmp_path / "known"), name="x")
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_key_is_none(tmp_path):
    place = RemoteHost(host="vm")
    blob = "AAAAC3NzaC1lZDI1NTE5AAAAIJ3Yl0hXx1H5h5cX6Tz6m8s2b2b2Jb2b2b2b2b2b2b2b"
    accept(place, [HostKey("ssh-ed25519", blob)])
    text = known_hosts_path().read_text()
    assert text == f"[vm]:22 ssh-ed25519 {blob}\n"


def test_choices_without_a_computer_say_so():
    assert SSH.probe(check_all(SSH.params, {})[0]) is not None
    assert target_text(Choice("ssh"), all_targets()) == "ssh"
