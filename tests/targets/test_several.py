"""Several machines by their addresses; no TensorFlow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target, target_text
from workbench.errors import RunError, UsageError
from workbench.hardware.cluster import Cluster, local_cluster, read_addresses, with_ports
from workbench.targets import all_targets

SEVERAL = all_targets()["several"]

_NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9](\.[a-z0-9]{1,5})?", fullmatch=True)
_HOSTS = st.one_of(_NAMES, st.ip_addresses(v=4).map(str), st.just("[fe80::1]"))
_ADDRESSES = st.builds(
    lambda host, port: f"{host}:{port}" if port else host, _HOSTS, st.integers(0, 65_535)
).filter(lambda text: text.partition(":")[0] not in {"localhost", "127.0.0.1"})


@given(addresses=st.lists(_ADDRESSES, min_size=2, max_size=6, unique=True))
def test_a_text_names_its_machines(addresses):
    text = "several:" + ",".join(addresses)
    choice = parse_target(text, all_targets())
    assert target_text(choice, all_targets()) == text
    assert list(SEVERAL.machines(choice.params)) == addresses
    assert SEVERAL.limits(choice.params).replicas == len(addresses)


def test_processes_on_this_computer_are_a_choice_too():
    choice = parse_target("several", all_targets())
    assert choice == Choice("several", {"machines": "localhost,localhost"})
    assert not SEVERAL.is_offered()


@pytest.mark.parametrize(
    "value",
    [
        "a", "a,a", "a:1,a:1", "a,", ",a", "a,b;c", "a,$(b)", "-o,b", "a,b:0", "a,b:65536",
        "a,b:x", "a b,c", "user@a,b", "localhost,b", ",".join(f"h{i}" for i in range(65)),
    ],
)  # fmt: skip
def test_what_are_no_addresses_is_refused(value):
    with pytest.raises(UsageError):
        parse_target(f"several:{value}", all_targets())


def test_processes_here_get_ports_and_a_key_of_their_own():
    cluster = local_cluster(read_addresses("localhost,localhost,localhost:24999"))
    ports = [cluster.address(index).port for index in range(3)]
    assert len(set(ports)) == 3
    assert ports[2] == 24_999
    assert all(ports)
    assert len(cluster.key) == 32
    assert cluster.key != local_cluster(read_addresses("localhost,localhost")).key


def test_a_cluster_reaches_a_worker_through_its_environment():
    machines = with_ports(read_addresses("one,two:9"))
    assert machines == ("one:23200", "two:9")
    cluster = Cluster(machines, 0, "k").of(1)
    assert Cluster.from_text(cluster.text()) == cluster


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", '{"machines": ["a:1"], "index": 0}',
        '{"machines": ["a:1", "b"], "index": 0}', '{"machines": ["a:1", "b:1"], "index": 2}',
        '{"machines": ["a:1", "b:1"], "index": -1}', '{"machines": "a:1,b:1"}',
    ],
)  # fmt: skip
def test_what_is_no_cluster_is_refused(text):
    with pytest.raises(RunError, match="is invalid"):
        Cluster.from_text(text)


def test_a_single_process_cannot_be_several_machines(monkeypatch):
    monkeypatch.delenv("WORKBENCH_CLUSTER", raising=False)
    with pytest.raises(RunError, match="only train whole runs"):
        SEVERAL.connect(None, {"machines": "localhost,localhost"})
