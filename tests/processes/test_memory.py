"""How much memory there is: what the kernel's files say of containers, and of this process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.host.memory import group_limits, memory_limit
from workbench.processes.memory import (
    available_memory,
    memory_sizes,
    own_limits,
    peak_bytes,
    resident_bytes,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports it")

_LARGE = 300_000_000
_GROUP = "/service/training"
_NO_LIMIT = 9223372036854771712

_STARTS_ANOTHER = f"""
import subprocess, sys
held = b"x" * {_LARGE}
code = "from workbench.processes.memory import peak_bytes; print(peak_bytes())"
# As a trainer starts the next run: spawned, where ru_maxrss is handed on.
subprocess.run([sys.executable, "-c", code], close_fds=False, check=True)
"""


@pytest.fixture
def kernel(tmp_path):
    """Writes files as the kernel has them below the root that it returns."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return str(tmp_path)

    return write


def version_2(folder, limit, used=0, inactive=0):
    return {
        f"{folder}/memory.max": limit,
        f"{folder}/memory.current": used,
        f"{folder}/memory.stat": f"anon 5\ninactive_file {inactive}\nfile 7",
    }


def version_1(folder, limit, used=0, inactive=0):
    return {
        f"{folder}/memory.limit_in_bytes": limit,
        f"{folder}/memory.usage_in_bytes": used,
        f"{folder}/memory.stat": f"inactive_file 1\ntotal_inactive_file {inactive}",
    }


def test_a_computer_without_groups_has_no_limits(kernel):
    root = kernel({})
    assert group_limits(root) == []
    assert memory_limit(root) == memory_limit("/no/such/root") > _LARGE


@pytest.mark.parametrize("tree", ["sys/fs/cgroup", "sys/fs/cgroup/unified"])
def test_version_2_counts_the_own_group_and_those_above(kernel, tree):
    root = kernel(
        {
            "proc/self/cgroup": f"0::{_GROUP}",
            **version_2(f"{tree}/service/training", 900, used=500, inactive=100),
            **version_2(f"{tree}/service", "max"),
            **version_2(tree, 2000, used=1500),
        }
    )
    assert group_limits(root) == [(900, 400), (2000, 1500)]
    assert memory_limit(root) == 900


def test_version_1_has_a_tree_for_memory(kernel):
    tree = "sys/fs/cgroup/memory"
    root = kernel(
        {
            "proc/self/cgroup": f"5:cpu,cpuacct:/other\n4:memory:{_GROUP}\n1:name=systemd:/",
            **version_1(f"{tree}/service/training", 900, used=500, inactive=600),
            **version_1(tree, _NO_LIMIT, used=5000),
        }
    )
    assert group_limits(root) == [(900, 0)]


@pytest.mark.parametrize("path", ["/docker/0123", "/../../docker/0123", "/"])
def test_a_container_that_sees_only_its_own_tree(kernel, path):
    """/proc names the group as it is called outside."""
    root = kernel(
        {"proc/self/cgroup": f"4:memory:{path}", **version_1("sys/fs/cgroup/memory", 700)}
    )
    assert group_limits(root) == [(700, 0)]


def test_what_this_process_may_have_is_never_more_than_there_is():
    assert 0 < available_memory() <= memory_limit()
    (limit, held), *others = own_limits()
    assert limit == memory_limit()
    assert 0 < held < limit
    assert all(limit > 0 for limit, _ in others)


def test_a_limit_of_the_process_itself_counts():
    code = (
        "import resource\n"
        "from workbench.processes.memory import own_limits\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\n"
        "print(own_limits()[-1][0])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert int(answer.stdout) == 1 << 30


def test_a_process_does_not_inherit_the_peak_of_its_starter():
    answer = subprocess.run(
        [sys.executable, "-c", _STARTS_ANOTHER], capture_output=True, text=True, check=True
    )
    assert 0 < int(answer.stdout) < _LARGE


def test_a_peak_stays_when_the_memory_is_given_back():
    held = b"x" * _LARGE
    assert resident_bytes() >= _LARGE
    del held
    assert peak_bytes() >= _LARGE
    assert resident_bytes() <= memory_sizes()["VmHWM"] == peak_bytes()
