"""A training on another computer, reached through a real ssh server: all parts are the real ones.

The other computer is this one with another home folder, reached over loopback; its Python is the
one of the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.sshd import sshd  # noqa: F401 - a fixture
from workbench.core.projects.project import Choice
from workbench.protocol.events import Batch, CheckpointKept, LogLine, RunStarted
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.host_keys import accept, offered_keys
from workbench.runs.control import request_pause
from workbench.runs.folder import create_run
from workbench.runs.link import read_link, read_remote
from workbench.runs.log.event_log import read_all
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import newest_state
from workbench.runs.trust import remember
from workbench.templates import find_template

pytestmark = [pytest.mark.full, pytest.mark.worker]

PATIENCE_S = 240.0


class Remote:
    """A run of the fashion template, and where it is on the other computer."""

    def __init__(self, server, *, epochs):
        place = RemoteHost(
            host=server.address, user=server.user, port=server.port,
            key_file=str(server.key_file), python=sys.executable,
        )  # fmt: skip
        accept(place, offered_keys(place))
        params = {
            "host": place.host, "user": place.user, "port": place.port,
            "key_file": place.key_file, "python": sys.executable,
        }  # fmt: skip
        project = find_template("fashion_convnet").project
        recipe = project.recipe.with_values(
            epochs=epochs, batch_size=20, steps_per_epoch=6, precision="float32", xla="off"
        )
        self.run = create_run(replace(project, recipe=recipe, target=Choice("ssh", params)))
        remember(self.run.project().target)
        self.home = server.home / ".workbench"

    @property
    def there(self):
        return self.home / "runs" / read_remote(self.run).run

    def events(self, kind):
        return [event for event in read_all(self.run.events_path) if isinstance(event, kind)]

    def wait_for(self, is_it):
        deadline = time.monotonic() + PATIENCE_S
        while not is_it():
            words = f"{outcome_of(self.run).sentence()} {read_link(self.run)}"
            assert time.monotonic() < deadline, words
            assert read_link(self.run) is None or read_link(self.run).state != "refused", words
            time.sleep(0.05)

    def kill_mirror(self):
        pid = read_link(self.run).pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for number in (pid, *map(int, children)):
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        self.wait_for(lambda: not self.run.is_alive())

    def check_same_logs(self):
        assert self.run.events_path.read_bytes() == (self.there / "events.jsonl").read_bytes()
        numbers = [event.seq for event in read_all(self.run.events_path)]
        assert numbers == list(range(1, len(numbers) + 1))


def workbench(*words):
    return subprocess.run(
        [sys.executable, "-m", "workbench", *words],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def test_trained_there_cut_killed_paused_resumed_and_classified_here(sshd, tmp_path):  # noqa: F811
    remote = Remote(sshd, epochs=40)
    start_trainer(remote.run)
    remote.wait_for(lambda: remote.events(Batch))
    assert outcome_of(remote.run).kind == "running"
    sshd.end_lines()
    remote.wait_for(lambda: read_link(remote.run).state == "lost")
    remote.wait_for(lambda: read_link(remote.run).state == "attached")
    remote.kill_mirror()
    assert outcome_of(remote.run).kind == "away"
    words = [sys.executable, "-m", "workbench", "attach", str(remote.run.path), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as attached:
        first = json.loads(attached.stdout.readline())
        assert first["seq"] > 1  # what was printed before is not printed again
        request_pause(remote.run)
        assert [json.loads(line) for line in attached.stdout][-1]["outcome"] == "stopped"
    remote.wait_for(lambda: not remote.run.is_alive())
    assert outcome_of(remote.run).kind == "paused"
    remote.check_same_logs()
    start_trainer(remote.run, resume=True)
    remote.wait_for(lambda: not remote.run.is_alive())
    assert outcome_of(remote.run).kind == "completed"
    remote.check_same_logs()
    first, second = remote.events(RunStarted)
    assert (first.on, first.pid == second.pid) == (f"root@{sshd.address}:{sshd.port}", False)
    assert (second.bit_exact, first.resumed_at_step) == (True, None)
    steps = [step for b in remote.events(Batch) for step in range(b.first_step, b.step + 1)]
    assert sorted(set(steps)) == list(range(1, 241))
    assert remote.run.weights_path.read_bytes() == (remote.there / "weights.npz").read_bytes()
    assert len(list((remote.home / "parcels").iterdir())) == 1

    remote.run.weights_path.unlink()
    remote.run.card_path.unlink()
    fetched = workbench("fetch", str(remote.run.path), "--json")
    assert json.loads(fetched.stdout)["has_model"], fetched.stderr
    assert remote.run.weights_path.read_bytes() == (remote.there / "weights.npz").read_bytes()
    picture = tmp_path / "picture.png"
    Image.fromarray(np.full((28, 28), 90, np.uint8)).save(picture)
    done = workbench("classify", str(remote.run.path), str(picture), "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["scores"][0]["class"] in remote.run.model_card().class_names
    assert answer["label"] is not None or answer["unknown"]

    longer = workbench("resume", str(remote.run.path), "--epochs", "41", "--json")
    last = json.loads(longer.stdout.splitlines()[-1])
    assert (last["outcome"], last["epochs_done"]) == ("completed", 41), longer.stderr
    remote.wait_for(lambda: not remote.run.is_alive())
    remote.check_same_logs()
    started = remote.events(RunStarted)[-1]
    assert (started.resumed_at_step, started.epochs, started.bit_exact) == (240, 41, True)
    assert remote.run.weights_path.read_bytes() == (remote.there / "weights.npz").read_bytes()
    assert outcome_of(remote.run).can_train_longer
    assert any("does not depend on the number" in e.text for e in remote.events(LogLine))


def test_a_computer_that_went_away_is_left_and_the_run_goes_on_here(sshd):  # noqa: F811
    remote = Remote(sshd, epochs=400)
    start_trainer(remote.run)
    remote.wait_for(lambda: newest_state(remote.run) is not None)
    trainer = remote.events(RunStarted)[0].pid
    sshd.stop()
    os.kill(trainer, signal.SIGKILL)
    remote.wait_for(lambda: read_link(remote.run).state == "lost")
    remote.kill_mirror()
    step = newest_state(remote.run).step
    assert step > 0
    before = remote.run.events_path.read_bytes()

    refused = workbench("resume", str(remote.run.path), "--json")
    assert refused.returncode == 3
    assert "attach" in json.loads(refused.stdout)["error"]["fix"]
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", "resume", str(remote.run.path),
         "--target", "this_computer", "--json"],
        stdout=subprocess.PIPE, text=True,
    ) as resumed:  # fmt: skip
        started = next(
            e for line in resumed.stdout if (e := json.loads(line))["event"] == "run_started"
        )
        assert started["resumed_at_step"] == step
        assert any("ssh" in reason for reason in started["bit_exact"])
        assert (started["on"], started["target"]) == ("", "this_computer")
        request_pause(remote.run)
        assert [json.loads(line) for line in resumed.stdout][-1]["outcome"] == "stopped"
    assert remote.run.events_path.read_bytes().startswith(before)
    assert read_remote(remote.run) is None
    assert remote.events(CheckpointKept)
