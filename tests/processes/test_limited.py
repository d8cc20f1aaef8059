"""A script in a limited child process: it works, and it cannot go beyond its limits."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from workbench.processes.limited import limited_command

MEMORY = 512 << 20


def _run(folder: Path, code: str, order: str = "") -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(code)
    command = limited_command(script, memory_bytes=MEMORY, cpu_s=2)
    return subprocess.run(
        command, input=order, capture_output=True, text=True, cwd=folder, check=False
    )


def test_a_script_reads_its_order_and_answers(tmp_path):
    code = "import sys\nprint(sys.stdin.read()[::-1], sys.flags.isolated)\nsys.exit(3)"
    done = _run(tmp_path, code, "order")
    assert (done.stdout, done.returncode) == ("redro 1\n", 3)


def test_it_writes_no_file(tmp_path):
    done = _run(tmp_path, "with open('written', 'w') as file:\n    file.write('x')")
    assert "File too large" in done.stderr
    assert not (tmp_path / "written").read_bytes()


def test_it_gets_no_more_memory(tmp_path):
    done = _run(tmp_path, f"bytearray({MEMORY})")
    assert "MemoryError" in done.stderr


def test_it_opens_few_files(tmp_path):
    done = _run(tmp_path, f"files = [open({sys.executable!r}) for _ in range(100)]")
    assert "Too many open files" in done.stderr


def test_it_is_ended_when_it_computes_without_end(tmp_path):
    assert _run(tmp_path, "while True: pass").returncode in {-signal.SIGXCPU, -signal.SIGKILL}
