"""Saved computers, and Google's own words for one of theirs."""

from __future__ import annotations

import json
import os

import pytest

from workbench.core.params import check_all
from workbench.errors import InputError, RemoteError, UsageError
from workbench.remote.mirror import process as carry
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.gcloud import gcloud_argv, place_from_gcloud, place_in
from workbench.remote.ssh.host import RemoteHost
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
    assert saved_hosts.forget_host("me@vm:2222")
    assert not saved_hosts.forget_host("me@vm:2222")


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
