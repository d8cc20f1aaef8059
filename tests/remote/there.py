"""Another computer for tests of run mirrors: what it keeps is in a folder of this one."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np

from tests.remote import cutting_pipe, light_trainer
from tests.remote.bridges import LOCAL, local_line, send
from workbench.core.projects.project import Project
from workbench.protocol.events import Plan
from workbench.remote.setup import Setup
from workbench.remote.ssh.connection import Connection
from workbench.runs.folder import create_run
from workbench.runs.link import Remote
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.checkpoint import DataMark, Machine, TrainerState, write_checkpoint
from workbench.runs.store.weights_file import write_arrays

WEIGHTS = {"dense/kernel": np.arange(120_000, dtype=np.float32).reshape(300, 400)}


class There:
    """The other computer: a folder with a bridge, and lines to it. A light trainer trains there,
    which logs so many `events`, and `keeps` its checkpoint when it is completed.
    """

    def __init__(self, home, *, events=light_trainer.EVENTS, keeps=False):
        self.home = home
        self.events = events
        self.keeps = keeps
        self.runs = home / "runs"
        self.runs.mkdir(parents=True)
        self.lines = 0
        self.cuts = None
        self.sends = None
        checksum = write_arrays(self.runs / "weights.npz", WEIGHTS)
        card = ModelCard(
            class_names=["a", "b"], input_shape=[2, 2, 1], fit="crop", graph={}, checksum=checksum
        )
        write_card(self.runs, card)
        made = create_run(Project(), path=home / "made")
        state = TrainerState(
            number=2, step=10, epochs_done=0, seconds=1.0, plan=Plan(precision="float32"),
            machine=Machine(versions={}, cores=1, cpu="", flags=[]),
            data=DataMark(num_train=1, num_validation=0, num_test=0, digest=""),
        )  # fmt: skip
        write_checkpoint(made, state, WEIGHTS)
        (made.checkpoints_path / "1.npz").rename(self.runs / "1.npz")

    def connect(self):
        self.lines += 1
        limit = next(self.cuts, None) if self.cuts is not None else None
        if limit is None:
            return local_line(self.home)
        env = {**os.environ, "HOME": str(self.home), "TMPDIR": str(self.home)}
        argv = (sys.executable, cutting_pipe.__file__, str(limit), *LOCAL)
        return Connection(argv, home=str(self.home), name="there", env=env)

    def prepare(self, line, on_progress):
        on_progress("the code", 0.5)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in (
                ("workbench/__init__.py", ""),
                ("workbench/worker/__init__.py", ""),
                ("workbench/worker/__main__.py", self._trainer()),
            ):
                archive.writestr(zipfile.ZipInfo(name), text)
        code = send(line, "code", packed.getvalue())
        state = Setup(line, on_progress).state(self.sends) if self.sends is not None else ""
        answer = line.call(
            "create", b'{"project": {}}', name="run-1", code=code, python=sys.executable, parcel="",
            state=state,
        )  # fmt: skip
        return Remote(
            target={"key": "ssh"}, host="there", run=answer.text("run"), code=code,
            is_resumed=bool(state),
        )  # fmt: skip

    def _trainer(self):
        text = Path(light_trainer.__file__).read_text()
        text = text.replace("KEEPS = False", f"KEEPS = {self.keeps}")
        return text.replace(f"EVENTS = {light_trainer.EVENTS}", f"EVENTS = {self.events}")

    @property
    def log(self):
        return (self.runs / "run-1" / "events.jsonl").read_bytes()

    def pids(self):
        """The trainers that the run has had."""
        return (self.runs / "run-1" / "log.txt").read_text().split()[1::2]
