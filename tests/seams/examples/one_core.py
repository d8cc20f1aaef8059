"""One core of this computer, which leaves the others to other work."""

from __future__ import annotations

from dataclasses import replace

from workbench.targets.this_computer import SPEC as THIS_COMPUTER

_ONE = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}

SPEC = replace(
    THIS_COMPUTER,
    key="one_core",
    title="One core",
    summary="Trains on a single CPU core of this computer.",
    environment=lambda params: {**THIS_COMPUTER.environment(params), **_ONE},
    describe=lambda _params: "1 core",
)
