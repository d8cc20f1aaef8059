"""What answers at a TPU's old grpc address, checked without TensorFlow.

TensorFlow itself is not a way to find out: connecting to a closed, a silent or a wrong port it
never returns and logs nothing. A child process checks instead (`grpc_child.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys

from workbench.errors import TpuError
from workbench.hardware import grpc_child

DEADLINE_S = 9.0
"""Seconds for the whole check, the child's start included."""

TODAY = (
    "Such addresses (COLAB_TPU_ADDR, TPUClusterResolver) worked in Colab and on Google Cloud with "
    "TensorFlow 1 and 2; Google ended grpc access to TPUs on 2025-04-25. Today: in Colab or on "
    "Kaggle, train with a notebook (in the window by the menu beside Train, in a terminal by "
    "`workbench notebook PROJECT FILE.ipynb`); on Google Cloud, on a TPU VM over SSH (in "
    "the window by Run > Connect a TPU or another computer, in a terminal by "
    "`--target ssh:HOST/tpu:local`)."
)
"""What old tutorials did, and what to do instead."""


def probe_grpc(host: str, port: int) -> TpuError:
    """Returns what is there. Always an error: nothing trains this way any more.

    Args:
        host: A name or an address, IPv6 without brackets.
        port: 1 to 65,535.
    """
    command = [sys.executable, "-P", grpc_child.__file__, host, str(port)]
    try:
        output = subprocess.run(
            command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=DEADLINE_S
        ).stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    except OSError as error:
        output = json.dumps(["The address could not be checked.", str(error)]).encode()
    lines = output.splitlines() or [b'["The address could not be checked.", "no answer"]']
    what, received = json.loads(lines[-1])
    where = f"grpc://{f'[{host}]' if ':' in host else host}:{port}"
    return TpuError(what, where=where, received=received, fix=TODAY)
