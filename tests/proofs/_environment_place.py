"""A trainer's environment as the bridge uses it: an interpreter, and our sources as they are sent.

Runs are started with `python -P -m workbench.worker start`, and pictures are classified by
`... serve`, as processes of that interpreter.
"""

from __future__ import annotations

import os
import subprocess
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from workbench.protocol.bases import FinalAnswer
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.messages import Hello
from workbench.protocol.wire import decode_answer, encode_request
from workbench.remote.setup import code_archive
from workbench.runs.environment import users_environment
from workbench.runs.folder import RunFolder

_MACHINE = Path("/sys/class/dmi/id/product_name")


@dataclass(frozen=True)
class RemoteHost:
    """Where trainings run.

    Attributes:
        python: Its interpreter.
        code: Folder that holds the package `workbench` for it.
        home: Of its runs and caches.
        more: Further environment variables.
    """

    python: Path
    code: Path
    home: Path
    more: dict[str, str] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        """Of its processes."""
        known = users_environment(dict(os.environ))
        known.pop("PYTHONHOME", None)
        return {
            **known,
            **self.more,
            "PYTHONPATH": str(self.code),
            "WORKBENCH_HOME": str(self.home),
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }

    def start(self, run: RunFolder, *, resume: bool = False) -> None:
        """Starts a run's trainer there; returns at once.

        Raises:
            RuntimeError: it was not started.
        """
        words = ["start", str(run.path), *(["--resume"] if resume else [])]
        answer = subprocess.run(
            [str(self.python), "-P", "-m", "workbench.worker", *words],
            env=self.variables(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if answer.returncode:
            raise RuntimeError(answer.stdout + answer.stderr)

    def classify(self, pictures: list[tuple[RunFolder, Path]]) -> list[Classified | str]:
        """All scores of one picture by each run, or in words why there are none."""
        process = subprocess.Popen(
            [str(self.python), "-P", "-m", "workbench.worker", "serve"],
            env=self.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        found: list[Classified | str] = []
        with process:
            for number, (run, picture) in enumerate(pictures, 1):
                request = Classify(id=number, model=str(run.path), pictures=[str(picture)], top=0)
                process.stdin.write(encode_request(request))
                process.stdin.flush()
                found.append(_answered(process, number))
            process.stdin.close()
        return found


def _answered(process: subprocess.Popen[bytes], number: int) -> Classified | str:
    assert process.stdout is not None
    result: Classified | str = "no answer"
    while line := process.stdout.readline():
        answer = decode_answer(line)
        if isinstance(answer, Hello) or answer.id != number:
            continue
        if isinstance(answer, Classified):
            result = answer if answer.error is None else answer.error.what
        elif isinstance(answer, FinalAnswer):
            error = getattr(answer, "error", None)
            return result if error is None else f"{error.what} {error.received}"
    return "the worker crashed"


def unpacked_code(folder: Path) -> Path:
    """The sources that another computer is sent, unpacked."""
    _, data = code_archive()
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
    return folder


def tpu_variables() -> dict[str, str]:
    """What keeps libtpu from looking for a TPU where there is none; nothing on a Google VM."""
    if _MACHINE.exists() and "Google" in _MACHINE.read_text(errors="replace"):
        return {}
    return {
        "TPU_SKIP_MDS_QUERY": "1",
        "TPU_ACCELERATOR_TYPE": "v5litepod-1",
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_WORKER_ID": "0",
        "TPU_LOG_DIR": "disabled",
    }
