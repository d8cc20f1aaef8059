"""What the hosts of a pod are told. Nothing here has run on a pod."""

import json
import shlex

import pytest

from workbench.errors import UsageError
from workbench.hardware.cluster import CLUSTER_VARIABLE, Cluster
from workbench.hardware.tpu_pod import pod_commands, pod_environments

HOSTS = ("t1v-n-1-w-0", "t1v-n-1-w-1", "10.164.0.7", "t1v-n-1-w-3")


def test_each_host_knows_all_and_which_it_is():
    environments = pod_environments("my-pod", HOSTS)
    assert len(environments) == 4
    for index, variables in enumerate(environments):
        assert variables["TPU_WORKER_ID"] == str(index)
        assert variables["TPU_WORKER_HOSTNAMES"].split(",") == list(HOSTS)
        assert variables["TPU_NAME"] == "my-pod"
        cluster = Cluster.from_text(variables[CLUSTER_VARIABLE])
        assert cluster.index == index
        assert [cluster.address(i).host for i in range(4)] == list(HOSTS)


def test_the_first_host_trains_and_the_others_join():
    folder = "/home/a b/$(touch PWN)'s run"
    lines = pod_commands(
        "my-pod", HOSTS, python="/opt/env/bin/python", run=folder, zone="us-central2-b"
    )
    for index, line in enumerate(lines):
        assert line[:6] == ("gcloud", "compute", "tpus", "tpu-vm", "ssh", "my-pod")
        assert line[6:8] == ("--zone=us-central2-b", f"--worker={index}")
        assert not any(word.startswith("--project") for word in line)
        # What the host's shell makes of it is the words that were meant.
        words = shlex.split(line[8].removeprefix("--command="))
        assert words[0] == "env"
        verb = "join" if index else "train"
        assert words[-5:] == ["-P", "-m", "workbench.worker", verb, folder]
        handed = next(w for w in words if w.startswith(CLUSTER_VARIABLE))
        assert json.loads(handed.partition("=")[2])["index"] == index


@pytest.mark.parametrize(
    ("name", "hosts"),
    [
        ("-oProxyCommand=x", HOSTS), ("a;b", HOSTS), ("a\nb", HOSTS), ("", HOSTS),
        ("pod", ("one",)), ("pod", ("one", "one")), ("pod", ("one", "-two")),
        ("pod", ("one", "$(two)")), ("pod", ("one", "two three")), ("pod", ()),
    ],
)  # fmt: skip
def test_what_are_no_names_is_refused(name, hosts):
    with pytest.raises(UsageError):
        pod_environments(name, hosts)
