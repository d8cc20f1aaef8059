"""Saved computers, and Google's own words for one of theirs."""

from __future__ import annotations

import json
import os

import pytest

from workbench.cli import main
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target
from workbench.errors import InputError, RemoteError, UsageError
from workbench.remote.mirror import process as carry
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.gcloud import gcloud_argv, place_from_gcloud, place_in
from workbench.remote.ssh.host_keys import HostKey, accept, accepted_keys
from workbench.runs import trust
from workbench.targets import all_targets

# As gcloud prints it: a bash line, with the options of its own first contact.
DRY_RUN = (
    "/usr/bin/ssh -t -i /home/me/.ssh/google_compute_engine -o CheckHostIP=no "
    "-o HashKnownHosts=no -o HostKeyAlias=tpu.4711-0 -o IdentitiesOnly=yes "
    "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/home/me/.ssh/google_compute_known_hosts "
    "me_example_org@203.0.113.7"
)


def test_a_computer_is_kept_with_what_was_found():
    place = RemoteHost(host="vm", user="me", port=2222, key_file="~/key", home="/disk/wb")
    facts = {
        "cores": 112,
        "memory_bytes": 192e9,
        "chips": [{}, {}],
        "cloud": {"accelerator": "v5e"},
    }
    saved_hosts.save_host(RemoteHost(host="old"))
    saved_hosts.seen_now(place, facts)
    first, second = saved_hosts.saved_hosts()
    assert (first.address, second.address) == ("me@vm:2222", "old")
    assert first.words.startswith("v5e, 112 cores")
    assert first.place() == place
    assert first.seen > 0
    saved_hosts.save_host(place, environment="tpu")
    assert saved_hosts.find_host("me@vm:2222").words == first.words
    assert saved_hosts.forget_computer(place).host
    assert saved_hosts.find_host("me@vm:2222") is None
    assert saved_hosts.forget_computer(place).words() == "Unknown host."


def test_a_name_stays_with_its_address_whatever_is_found_there():
    place = RemoteHost(host="vm", user="me")
    saved_hosts.save_host(place, words="v5e", environment="tpu")
    assert saved_hosts.rename_host("me@vm", "  Lab \n TPU ").name == "Lab TPU"
    saved_hosts.seen_now(place, {"cores": 4})
    saved_hosts.save_host(place, environment="gpu")
    (host,) = saved_hosts.saved_hosts()
    assert (host.label, host.address, host.place()) == ("Lab TPU", "me@vm", place)
    assert saved_hosts.label_of(saved_hosts.choice_of(host)) == "Lab TPU, GPUs"
    assert saved_hosts.rename_host("me@vm", "").label == "me@vm"
    assert saved_hosts.rename_host("me@vm", "me@vm").name == ""


@pytest.mark.parametrize("name", ["x" * 41, "a\x1b[2Jb", "a\u202eb", "lab tpu", "YOU@vm"])
def test_a_name_that_cannot_be_shown_or_is_taken_is_refused(name):
    for user in ("me", "you"):
        saved_hosts.save_host(RemoteHost(host="vm", user=user))
    saved_hosts.rename_host("you@vm", "Lab TPU")
    before = saved_hosts.hosts_path().read_bytes()
    with pytest.raises(UsageError) as caught:
        saved_hosts.rename_host("me@vm", name)
    assert caught.value.expected
    assert saved_hosts.hosts_path().read_bytes() == before


def test_only_a_saved_computer_is_named():
    with pytest.raises(UsageError) as caught:
        saved_hosts.rename_host("vm", "Lab TPU")
    assert "workbench host add vm" in caught.value.fix


def test_a_list_from_before_there_were_names_is_read():
    saved_hosts.save_host(RemoteHost(host="vm"))
    saved_hosts.hosts_path().write_text(
        '{"hosts": [{"address": "me@vm", "words": "v5e", "seen": 3.0}],'
        ' "format": "workbench-hosts", "version": 1}'
    )
    assert saved_hosts.rename_host("me@vm", "Lab TPU").words == "v5e"
    assert [host.label for host in saved_hosts.saved_hosts()] == ["Lab TPU"]


def test_targets_are_labeled_by_account_port_and_what_trains_there():
    saved_hosts.save_host(RemoteHost(host="two", port=2222))
    saved_hosts.rename_host("two:2222", "Lab TPU")

    def label(text):
        return saved_hosts.label_of(parse_target(text, all_targets()))

    assert label("ssh:me@vm") == "me@vm"
    assert label("ssh:you@vm:2222/tpu:local") == "you@vm:2222, TPU"
    assert label("ssh:vm/virtual:8") == "vm, 8 simulated devices"
    assert label("ssh:two:2222/gpu") == "Lab TPU, GPUs"
    assert label("ssh:me@one,two:2222") == "me@one, Lab TPU"
    assert label("virtual:8") == "8 simulated devices"
    assert saved_hosts.label_of(Choice("ssh")) == "Another computer (SSH)"
    unknown = Choice("ssh", {"host": "vm", "target": "cray"})
    assert saved_hosts.label_of(unknown) == "vm, cray"


KEY = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh")


def test_forgetting_takes_the_consent_along_and_leaves_the_key_of_another_account(capsys):
    me, you = (RemoteHost(host="vm", user=user, port=2222) for user in ("me", "you"))
    accept(me, [KEY])
    choices = {}
    for place in (me, you):
        saved_hosts.save_host(place)
        choices[place] = saved_hosts.choice_at(place, "this_computer")
        trust.remember(choices[place])

    assert main(["host", "forget", "me@vm:2222", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "address": "me@vm:2222", "host": True, "keys": False, "consent": True,
        "key_kept_for": ["you@vm:2222"],
    }  # fmt: skip
    assert accepted_keys(you) == [KEY]
    assert [trust.is_known(choice) for choice in choices.values()] == [False, True]
    with pytest.raises(trust.UnknownPlaceError):
        trust.check_known(choices[me])

    assert main(["host", "forget", "you@vm:2222"]) == 0
    assert capsys.readouterr().err == "Forgotten.\n"
    assert accepted_keys(you) == []
    assert not trust.is_known(choices[you])
    assert main(["host", "forget", "you@vm:2222"]) == 0
    assert capsys.readouterr().err == "Unknown host.\n"


def test_the_terminal_names_computers_and_lists_the_names(capsys):
    assert main(["host", "rename", "me@vm", "Lab TPU"]) == 2
    saved_hosts.save_host(RemoteHost(host="vm", user="me"), words="v5e", environment="tpu")
    capsys.readouterr()
    assert main(["host", "rename", "me@vm", "Lab TPU"]) == 0
    assert capsys.readouterr().err == "me@vm is named Lab TPU.\n"
    assert main(["host", "list"]) == 0
    assert capsys.readouterr().out.split(maxsplit=2) == ["me@vm", "never", "Lab TPU; v5e\n"]
    assert main(["host", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Lab TPU"
    assert main(["targets"]) == 0
    assert "Another computer (SSH): Lab TPU; me@vm/tpu:local; " in capsys.readouterr().out
    assert main(["targets", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["name"] for line in lines} == {"", "Lab TPU"}
    assert main(["host", "rename", "me@vm", "", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == ""


def test_a_target_takes_what_was_saved_for_its_address():
    saved_hosts.save_host(
        RemoteHost(host="vm", key_file="~/key", home="/disk/wb", python="/usr/bin/python3")
    )
    params = check_all(all_targets()["ssh"].params, {"host": "vm"})[0]
    assert saved_hosts.place_for(params) == RemoteHost(
        host="vm", key_file="~/key", home="/disk/wb", python="/usr/bin/python3"
    )
    assert saved_hosts.place_for({**params, "home": "/other"}).home == "/other"
    # The run mirror goes where it was shown to go.
    assert carry.place_for(all_targets()["ssh"], params).key_file == "~/key"
    assert saved_hosts.place_for({**params, "user": "me"}).key_file == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hosts": 3}', '{"hosts": [{}]}', "\0"])
def test_a_damaged_list_is_begun_anew(text):
    saved_hosts.save_host(RemoteHost(host="vm"))
    saved_hosts.hosts_path().write_text(text)
    assert saved_hosts.saved_hosts() == []
    saved_hosts.save_host(RemoteHost(host="vm"))
    assert len(saved_hosts.saved_hosts()) == 1


def test_a_newer_list_is_left_as_it_is():
    saved_hosts.save_host(RemoteHost(host="vm"))
    path = saved_hosts.hosts_path()
    newer = json.dumps({**json.loads(path.read_text()), "version": 2})
    path.write_text(newer)
    with pytest.raises(InputError):
        saved_hosts.save_host(RemoteHost(host="other"))
    assert path.read_text() == newer


@pytest.mark.parametrize(
    ("facts", "environment"),
    [({}, "worker"), ({"gpus": ["A100"]}, "gpu"), ({"chips": [{}], "gpus": ["x"]}, "tpu")],
)
def test_the_environment_fits_what_is_there(facts, environment):
    assert saved_hosts.fitting_environment(facts) == environment


def test_gcloud_s_dry_run_is_read():
    place = place_in(f"External IP address was not found\n{DRY_RUN}\n", "x")
    assert place == RemoteHost(
        host="203.0.113.7", user="me_example_org", key_file="/home/me/.ssh/google_compute_engine"
    )
    other = place_in("ssh -p 2222 -l me -o 'Port=5' '[fe80::1]' -- command", "x")
    assert (other.host, other.user, other.port) == ("[fe80::1]", "me", 2222)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "ssh",
        "ssh -t",
        "ssh 'a;touch PWN'",
        "ssh -i key -oProxyCommand='gcloud start-iap-tunnel' me@compute.123",
        "ssh -J jump me@vm",
        "ssh 'unfinished",
        "ssh -p 99999 me@vm",
    ],
)
def test_what_names_no_computer_is_refused(text):
    with pytest.raises(RemoteError) as caught:
        place_in(text, "x")
    assert caught.value.key == "gcloud_words"


@pytest.mark.parametrize("name", ["", "-x", "a b", "a;b", "--flags-file=x", "a\nb", "$(x)"])
def test_names_are_checked_before_gcloud_is_called(name):
    with pytest.raises(UsageError):
        gcloud_argv(name, "", "")
    with pytest.raises(UsageError):
        gcloud_argv("vm", name or "-", "")


@pytest.fixture
def gcloud(tmp_path, monkeypatch):
    """A program of that name that runs a given script."""

    def make(script):
        path = tmp_path / "bin" / "gcloud"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{tmp_path}/arguments\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
        return tmp_path / "arguments"

    return make


def test_gcloud_is_called_for_a_dry_run_alone(gcloud):
    arguments = gcloud(f"echo '{DRY_RUN}'")
    assert place_from_gcloud("my-tpu", "us-central1-a", "my-project").user == "me_example_org"
    words = arguments.read_text().split()
    assert words[:5] == ["compute", "tpus", "tpu-vm", "ssh", "my-tpu"]
    assert {"--dry-run", "--worker=0", "--zone=us-central1-a", "--project=my-project"} <= set(words)


def test_gcloud_s_refusal_is_shown(gcloud):
    gcloud("echo 'ERROR: (gcloud) NOT_FOUND: my-tpu' >&2; exit 1")
    with pytest.raises(RemoteError) as caught:
        place_from_gcloud("my-tpu")
    assert caught.value.key == "gcloud"
    assert "NOT_FOUND" in caught.value.received


@pytest.mark.parametrize("script", ["exec sleep 600", "sleep 600; true"])
def test_a_gcloud_that_waits_is_ended_with_all_that_it_has_started(gcloud, script):
    gcloud(script)
    with pytest.raises(RemoteError) as caught:
        place_from_gcloud("my-tpu", deadline_s=0.5)
    assert caught.value.key == "gcloud_silent"


def test_a_missing_gcloud_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RemoteError) as caught:
        place_from_gcloud("my-tpu")
    assert caught.value.key == "no_gcloud"
