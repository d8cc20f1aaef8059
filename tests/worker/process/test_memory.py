"""What a process says of its memory is its own, not that of the process that started it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.worker.process.memory import memory_sizes, peak_bytes, resident_bytes

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells"),
]

_LARGE = 300_000_000

_STARTS_ANOTHER = f"""
import subprocess, sys
held = b"x" * {_LARGE}
code = "from workbench.worker.process.memory import peak_bytes; print(peak_bytes())"
# As a trainer starts the next run: spawned, where ru_maxrss is handed on.
subprocess.run([sys.executable, "-c", code], close_fds=False, check=True)
"""


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
