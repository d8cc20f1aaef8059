"""`workbench join`: trains together with other machines; typed on each but the first."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

from workbench.cli._output import print_line
from workbench.core.projects.project import Choice, Project
from workbench.errors import UsageError
from workbench.hardware.cluster import CLUSTER_VARIABLE, Cluster, read_addresses, with_ports
from workbench.runs.environment import trainer_environment
from workbench.targets.several import SPEC as SEVERAL

NAME = "join"
HELP = "join a training on several machines as a worker"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds arguments for who trains together, and which of them this machine is."""
    parser.add_argument(
        "machines",
        metavar="MACHINES",
        help="HOST,HOST,... as in --target several: on the first machine (the chief)",
    )
    parser.add_argument(
        "--machine", type=int, required=True, metavar="N", help="number of this machine, from 2"
    )
    parser.add_argument(
        "--again", action="store_true", help="wait for the next training when one has ended"
    )


def run(arguments: argparse.Namespace) -> int:
    """Waits for the first machine and trains with it; 4 when that fails. Ctrl+C ends the
    training on all machines.
    """
    text = str(arguments.machines).removeprefix(f"{SEVERAL.key}:")
    machines = with_ports(read_addresses(text))
    if not 2 <= arguments.machine <= len(machines):
        raise UsageError(
            "There is no such machine, or it is the chief.",
            where="--machine",
            received=str(arguments.machine),
            expected=f"from 2 to {len(machines)}",
            fix="The first machine trains with `workbench train PROJECT --target several:...`.",
        )
    cluster = Cluster(machines, arguments.machine - 1)
    while True:
        exit_code = _join(cluster)
        if not arguments.again:
            return exit_code


def _join(cluster: Cluster) -> int:
    """Trains once, in a process of its own."""
    choice = Choice(SEVERAL.key, {"machines": ",".join(cluster.machines)})
    handed = {CLUSTER_VARIABLE: cluster.text()}
    environment = trainer_environment(Project(target=choice), handed)
    with tempfile.TemporaryDirectory(prefix="workbench-join-") as folder:
        print_line(f"Machine {cluster.index + 1} is waiting for {cluster.machines[0]}.")
        words = [sys.executable, "-P", "-m", "workbench.worker", "join", str(Path(folder))]
        with subprocess.Popen(words, env=environment) as process:
            while process.poll() is None:
                # It receives Ctrl+C too, and ends when all have ended.
                with contextlib.suppress(KeyboardInterrupt):
                    process.wait()
    print_line("Training failed." if process.returncode == 0 else "Training completed.")
    return 0 if process.returncode == 0 else 4
