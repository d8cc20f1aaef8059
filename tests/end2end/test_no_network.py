"""A real window over projects and run folders that name a stranger's address: nothing connects."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.hostile import Listener, write_projects, write_runs
from workbench.runs.home import data_home

_NETWORK = re.compile(r"connect\(.*AF_INET|sendto\(.*AF_INET|execve\([^,]*(ssh|gcloud)")

_ROUTE_ONLY = re.compile(r'inet_addr\("192\.0\.2\.1"\)|inet_pton\(AF_INET6, "2001:db8::1"')
"""Is there a route? A datagram socket is connected to an address for documentation: the kernel
chooses its route, and nothing is sent (`workbench.downloads.download`)."""

_LONGEST_S = 400.0


def _traced(words, log):
    """What a command did on the network, and the programs for it that were started."""
    strace = shutil.which("strace")
    trace = [strace, "-f", "-qq", "-e", "trace=connect,sendto,execve", "-o", str(log)]
    done = subprocess.run(
        [*(trace if strace else []), sys.executable, *words],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, text=True, timeout=_LONGEST_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    if strace is None:
        return []
    lines = log.read_text().splitlines()
    return [line for line in lines if _NETWORK.search(line) and not _ROUTE_ONLY.search(line)]


@pytest.fixture
def hostile(tmp_path):
    with Listener() as listener:
        projects = write_projects(tmp_path, listener.port)
        write_runs(data_home(), listener.port)
        yield listener, projects


def test_opening_listing_and_drawing_touch_no_network(hostile, tmp_path):
    listener, projects = hostile
    found = _traced(["-m", "tests.hostile", *map(str, projects)], tmp_path / "trace")
    assert (found, listener.greetings) == ([], [])


@pytest.mark.full_but("command0")
@pytest.mark.parametrize("command", [["runs"], ["runs", "--json"], ["queue"]])
def test_listing_in_the_terminal_touches_no_network(hostile, tmp_path, command):
    listener, _ = hostile
    found = _traced(["-m", "workbench", *command], tmp_path / "trace")
    assert (found, listener.greetings) == ([], [])


@pytest.mark.skipif(
    None in (shutil.which("strace"), shutil.which("ssh")), reason="strace or ssh is not installed"
)
def test_the_trace_would_show_a_connection(hostile, tmp_path):
    listener, _ = hostile
    words = ["-m", "workbench", "doctor", f"ssh:127.0.0.1:{listener.port}"]
    strace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,execve", "-o"]
    log = tmp_path / "trace"
    subprocess.run([*strace, str(log), sys.executable, *words], capture_output=True, check=False)
    assert [line for line in log.read_text().splitlines() if _NETWORK.search(line)]
    assert listener.greetings
