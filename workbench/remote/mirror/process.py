"""The process of a run mirror, from its lock to its end."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from workbench.core.params import Params
from workbench.core.specs import TargetSpec
from workbench.core.storage.own_file import take_lock
from workbench.errors import RemoteError, RunFolderError, WorkbenchError
from workbench.remote.mirror.cluster_hosts import members_of
from workbench.remote.mirror.file_fetcher import Fetching
from workbench.remote.mirror.run_mirror import LinkReporter, OnProgress, RunMirror, note_attempt
from workbench.remote.setup import prepare
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.connection import Connection
from workbench.runs.environment import known_target
from workbench.runs.folder import RunFolder, inherited_lock
from workbench.runs.home import check_own
from workbench.runs.link import Remote, plain_target, read_remote
from workbench.runs.state.queue import start_next_after
from workbench.targets.ssh import SPEC as SSH


def carry(folder: str | Path, *, resume: bool = False) -> int:
    """Brings a run from where it is trained (with `resume` it goes on there from its checkpoint);
    the state of the connection is written into its folder. Returns 0 when it is over and all of
    it is here, or it was left to itself; else the exit code of the error.
    """
    run = RunFolder(Path(folder).absolute())
    exit_code = _carry_locked(run, resume=resume)
    start_next_after(run)  # now that the lock is free
    return exit_code


def _carry_locked(run: RunFolder, *, resume: bool) -> int:
    lock = None
    try:
        check_own(run.path)
        lock = inherited_lock(run.lock_path) or take_lock(run.lock_path)
        if lock is None:
            raise RunFolderError("Another process is using this run.", where=str(run.path))
        return _carry(run, resume=resume)
    except WorkbenchError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"The run folder cannot be used: {error}\n")
        return RunFolderError.exit_code
    finally:
        if lock is not None:
            os.close(lock)


def _carry(run: RunFolder, *, resume: bool) -> int:
    remote = read_remote(run)
    target = remote.choice() if remote is not None else run.project().target
    reporter = LinkReporter(run, host=target.key, device="")
    try:
        spec, params = known_target(target)
        place = place_for(spec, params)
        members = members_of(params)
        is_tpu = spec.limits(params).environment == "tpu"
        reporter = LinkReporter(run, host=place.text(), device="The TPU" if is_tpu else "")
        if resume:
            note_attempt(run)
    except WorkbenchError as error:
        reporter.refused(error)
        raise

    def ready(line: Connection, on_progress: OnProgress) -> Remote:
        made = prepare(run, line, on_progress, python=place.python)
        return Remote(
            target=plain_target(target),
            host=place.text(),
            run=made.run,
            code=made.code,
            parcel=made.parcel,
            environment=made.environment,
            is_resumed=made.has_state,
        )

    return RunMirror(
        run, partial(Connection.to, place), ready, reporter, resume=resume, members=members
    ).run()


def fetch(run: RunFolder) -> None:
    """Brings what there is of a run on another computer, once, without following it. Raises
    RunFolderError where it is not there or a run mirror brings it, others where it cannot be
    reached.
    """
    remote = read_remote(run)
    if remote is None:
        raise RunFolderError("This run is not on another computer.", where=str(run.path))
    check_own(run.path)
    lock = take_lock(run.lock_path, wait_s=0.2)
    if lock is None:
        raise RunFolderError(
            "This run is already connected: its files are downloaded automatically.",
            where=str(run.path),
            fix=f"Train shows it, in a terminal `workbench attach {run.name}`.",
        )
    try:
        place = place_for(*known_target(remote.choice()))
        with Connection.to(place) as line:
            fetching = Fetching(run, line, remote.run)
            for bring in (fetching.small, fetching.state, fetching.model, fetching.words):
                bring()
            fetching.close()
    finally:
        os.close(lock)


def place_for(spec: TargetSpec, params: Params) -> RemoteHost:
    """The computer of a target, with what was saved for its address (key, folder, interpreter).
    Raises RemoteError where it cannot be reached over ssh, UsageError for its address.
    """
    problem = spec.probe(params)
    if problem is not None:
        raise problem
    if spec.key != SSH.key:
        raise RemoteError(
            "This target is not reached over SSH.",
            key="not_ssh",
            where=spec.key,
            expected="ssh:[USER@]HOST[:PORT][/TARGET]",
        )
    return saved_hosts.place_for(params)
