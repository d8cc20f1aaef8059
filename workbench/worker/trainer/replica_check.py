"""`python -m workbench.worker.trainer.replica_check RUN`: puts a run's checkpoint into a network
on its target, and checks whether every replica then holds what the file holds.

Started by `checkup.tpu_first_run`; prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import RunFolderError, WorkbenchError
from workbench.runs.environment import project_environment, refuse_unready
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventWriter
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.worker.checkpoints.training_state import TrainingJob, snapshot
from workbench.worker.cluster.members import Peers
from workbench.worker.process.lazy_keras import tf
from workbench.worker.process.run_channel import EventLogger, StopSwitch


def check(run: RunFolder) -> dict[str, Any]:
    """Builds the network, restores it, and compares every replica with the checkpoint.

    Returns:
        replicas, how many variables there are, the names of those that differ on some
        replica, and the largest memory a chip has used, in bytes; 0 where it does not say.

    Raises:
        WorkbenchError: the run has no checkpoint, or its target cannot be reached.
    """
    checkpoint = read_checkpoint(run)
    if checkpoint is None:
        raise RunFolderError("This run has no checkpoint.", where=str(run.path))
    project = run.project()
    os.environ.update(project_environment(project))
    refuse_unready(project.target)
    from workbench.worker.trainer.setup import TrainingSetup  # after the variables are set

    with (
        tempfile.TemporaryDirectory() as folder,
        EventWriter(Path(folder) / "events.jsonl") as writer,
    ):
        # The run's log and its control file are its trainer's.
        stop = StopSwitch(RunFolder(Path(folder)))
        job = TrainingJob(run, project, EventLogger(writer), stop)
        ready = TrainingSetup(job, checkpoint, Peers()).make()
        variables = ready.compiled.state_variables()
        differing = [
            name
            for name, copies in _copies(variables).items()
            # What a checkpoint leaves out was held against its checksum.
            if any(not _is_same(each, checkpoint.arrays.get(name, copies[0])) for each in copies)
        ]
        return {
            "replicas": ready.replicas,
            "variables": len(variables),
            "differing": differing,
            "memory_bytes": _memory_bytes(),
        }


def _copies(variables: dict[str, Any]) -> dict[str, list[np.ndarray[Any, Any]]]:
    """Each variable's value on every replica, by the name that a checkpoint gives it."""
    names = snapshot(variables)  # in the same order
    return {
        name: [np.array(copy.numpy()) for copy in getattr(variable, "values", (variable,))]
        for name, variable in zip(names, variables.values(), strict=True)
    }


def _is_same(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    return left.shape == right.shape and left.tobytes() == np.asarray(right).tobytes()


def _memory_bytes() -> int:
    peaks = [0]
    for device in tf.config.list_logical_devices("TPU"):
        try:
            peaks.append(int(tf.config.experimental.get_memory_info(device.name)["peak"]))
        except (ValueError, KeyError, tf.errors.OpError):
            break  # this runtime does not report it
    return max(peaks)


def main(words: list[str]) -> int:
    """Checks the run in the folder `words[0]`; the errors' exit codes, or 1 where it differs."""
    try:
        found = check(RunFolder(Path(words[0]).absolute()))
    except WorkbenchError as error:
        print(json.dumps({"error": error.to_dict()}), flush=True)  # noqa: T201 - the answer
        return error.exit_code
    print(json.dumps(found), flush=True)  # noqa: T201 - the answer
    return 1 if found["differing"] else 0


if __name__ == "__main__":
    exit_code = main(sys.argv[1:])
    # TensorFlow's threads are not waited for, as in __main__.
    os._exit(exit_code)
