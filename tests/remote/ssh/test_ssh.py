"""The real ssh against a private sshd on loopback: keys, refusals, lines and set-up."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from dataclasses import replace
from io import BytesIO
from zipfile import ZIP_STORED, ZipFile

import pytest

from tests.sshd import make_key, sshd  # noqa: F401 - a fixture
from workbench.cli import main
from workbench.errors import RemoteError
from workbench.remote.setup import Setup
from workbench.remote.ssh import host_keys
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.connection import Connection


@pytest.fixture
def place(sshd, monkeypatch):  # noqa: F811
    # ssh itself is not to see the developer's keys and configuration.
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    return RemoteHost(
        host=sshd.address,
        user=sshd.user,
        port=sshd.port,
        key_file=str(sshd.key_file),
        home=str(sshd.home / "workbench"),
    )


@pytest.fixture
def accepted(place):
    host_keys.accept(place, host_keys.offered_keys(place))
    return place


def refusal(place):
    with pytest.raises(RemoteError) as caught, Connection.to(place):
        pass
    return caught.value


def test_first_contact_shows_the_fingerprint_and_sends_nothing(place, sshd):  # noqa: F811
    assert not host_keys.is_known(place)
    error = refusal(place)
    assert (error.key, error.is_passing) == ("host_key_unknown", False)
    assert f"workbench host fingerprint {place.text()}" in error.fix
    assert list(sshd.home.iterdir()) == []
    (key,) = host_keys.offered_keys(place)
    assert key.fingerprint == sshd.fingerprint
    assert not host_keys.is_known(place)


def test_an_accepted_computer_answers(accepted, sshd):  # noqa: F811
    with Connection.to(accepted) as line:
        facts = Setup(line, lambda *words: None).probe(sys.executable)
    assert facts["home"] == accepted.home
    assert [python["path"] for python in facts["pythons"]] == [sys.executable]
    assert {p.name for p in sshd.home.iterdir()} == {"workbench"}


def test_another_identity_is_refused_and_forgetting_it_is_the_only_way(accepted, sshd):  # noqa: F811
    sshd.stop()
    sshd.new_host_key()
    sshd.start()
    error = refusal(accepted)
    assert (error.key, error.is_passing) == ("host_key_changed", False)
    assert list(sshd.home.iterdir()) == []
    new = host_keys.offered_keys(accepted)
    with pytest.raises(RemoteError) as caught:
        host_keys.accept(accepted, new)
    assert caught.value.key == "host_key_changed"
    assert host_keys.forget(accepted)
    assert not host_keys.forget(accepted)
    host_keys.accept(accepted, new)
    with Connection.to(accepted) as line:
        assert line.call("list").fields["ok"]


def test_keys_of_other_computers_are_kept(accepted):
    other = replace(accepted, port=1)
    host_keys.accept(other, host_keys.accepted_keys(accepted))
    host_keys.forget(other)
    assert host_keys.is_known(accepted)
    assert host_keys.known_hosts_path().stat().st_size > 0


def test_a_key_that_is_not_let_in(accepted, tmp_path):
    make_key(tmp_path / "other")
    error = refusal(replace(accepted, key_file=str(tmp_path / "other")))
    assert (error.key, error.is_passing) == ("not_allowed", False)


def test_a_key_file_that_is_none(accepted, tmp_path):
    path = tmp_path / "other"
    path.write_text("no key")
    path.chmod(0o600)
    assert refusal(replace(accepted, key_file=str(path))).key in {"bad_key_file", "not_allowed"}


def test_nobody_listens(accepted, sshd):  # noqa: F811
    sshd.stop()
    error = refusal(accepted)
    assert (error.key, error.is_passing) == ("refused", True)
    with pytest.raises(RemoteError) as caught:
        host_keys.offered_keys(accepted)
    assert caught.value.is_passing


def test_a_name_that_is_none(accepted):
    place = replace(accepted, host="no-such-host.invalid")
    host_keys.accept(place, host_keys.accepted_keys(accepted))
    assert refusal(place).key == "no_name"


def test_a_computer_without_python(accepted, sshd):  # noqa: F811
    config = sshd.folder / "sshd_config"
    sshd.stop()
    sshd._config = lambda: (
        config.read_text()
        .replace("PATH=", f"PATH={sshd.folder}/nothing OLD=")
        .replace(" sh -c", " /bin/sh -c")
    )
    sshd.start()
    assert refusal(accepted).key == "no_python"


def test_a_cut_line_is_reported_and_a_new_one_goes_on(accepted, sshd):  # noqa: F811
    """In the middle of an upload: the rest alone is sent over the new line."""
    data = BytesIO()
    with ZipFile(data, "w", ZIP_STORED) as archive:
        archive.writestr("random", os.urandom(12 << 20))
    whole = data.getvalue()

    sha = hashlib.sha256(whole).hexdigest()
    pieces = []

    def piece(offset):
        pieces.append(offset)
        if len(pieces) == 6:
            sshd.end_lines()
        return whole[offset : offset + (1 << 20)]

    with Connection.to(accepted) as line:
        setup = Setup(line, lambda *words: None)
        with pytest.raises(RemoteError) as caught:
            setup._send("parcel", sha, len(whole), piece)
        assert caught.value.is_passing
    before = len(pieces)
    assert before == 6
    with Connection.to(accepted) as line:
        Setup(line, lambda *words: None)._send("parcel", sha, len(whole), piece)
        assert line.call("have", kind="parcel", sha=sha, size=len(whole)).flag("is_whole")
    again = [offset for offset in pieces[before:] if offset in pieces[: before - 1]]
    assert again == []
    assert pieces[before] == pieces[before - 1]


def test_a_line_costs_no_shared_one(accepted, sshd):  # noqa: F811
    """Two lines at once, the end of one is not the other's."""
    with Connection.to(accepted) as one:
        with Connection.to(accepted) as other:
            assert json.loads(other.call("list").data) == []
        assert json.loads(one.call("list").data) == []


def test_the_commands_lead_from_an_address_to_a_ready_computer(sshd, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    address = f"{sshd.user}@{sshd.address}:{sshd.port}"

    def answer_of(*words, code=0):
        capsys.readouterr()
        assert main(["host", *words, "--json"]) == code
        lines = capsys.readouterr().out.splitlines()
        return json.loads(lines[-1]) if lines else None

    home = str(sshd.home / "workbench")
    keep = ["--key", str(sshd.key_file), "--home", home, "--python", sys.executable]
    assert answer_of("add", address, *keep)["target"] == f"ssh:{address}"
    assert answer_of("check", address, code=4)["error"]["what"].startswith("The host key")
    shown = answer_of("fingerprint", address)
    assert not shown["is_known"]
    assert shown["keys"][0]["fingerprint"] == sshd.fingerprint
    assert not answer_of("fingerprint", address, "--accept", "SHA256:other", code=1)["is_known"]
    shown = answer_of("fingerprint", address, "--accept", sshd.fingerprint)
    assert shown["keys"] == [
        {"kind": "ssh-ed25519", "fingerprint": sshd.fingerprint, "is_accepted": True}
    ]
    facts = answer_of("check", f"ssh:{address}/virtual:2")["facts"]
    assert facts["home"] == home
    ready = answer_of("setup", address)
    assert ready["python"] == sys.executable
    assert [p.name for p in (sshd.home / "workbench" / "code").iterdir()] == [ready["code"]]
    listed = answer_of("list")
    assert listed["address"] == address
    assert listed["seen"] > 0
    forgotten = answer_of("forget", address)
    assert (forgotten["host"], forgotten["keys"]) == (True, True)
    assert answer_of("list") is None


def test_a_computer_behind_a_jump_host_is_reached_through_it(sshd, tmp_path, monkeypatch):  # noqa: F811
    """The person's configuration names the way; a program before the real ssh brings it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "config").write_text(
        f"Host inner\n  ProxyCommand ssh -o UserKnownHostsFile={tmp_path}/jump "
        f"-o StrictHostKeyChecking=no -i {sshd.key_file} -p {sshd.port} "
        f"-W {sshd.address}:{sshd.port} {sshd.user}@{sshd.address}\n"
    )
    real = shutil.which("ssh")
    (folder / "ssh").write_text(f'#!/bin/sh\nexec {real} -F {tmp_path}/config "$@"\n')
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    inner = RemoteHost(
        host="inner", user=sshd.user, key_file=str(sshd.key_file), home=str(sshd.home)
    )
    assert refusal(inner).key == "host_key_unknown"
    (key,) = host_keys.offered_keys(inner)
    assert key.fingerprint == sshd.fingerprint
    assert list(sshd.home.iterdir()) == []
    host_keys.accept(inner, [key])
    with Connection.to(inner) as line:
        assert line.call("list").fields["ok"]
