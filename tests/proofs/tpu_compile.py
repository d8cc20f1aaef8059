"""Google's TPU compiler on every template: it fits, or is refused with needs and has.

    python -m tests.proofs.tpu_compile [--templates KEY,...] [--tpus v2-8,...] [--refused KEY] [--sweep KEY]

Installs the compiler environment by its own command, and accepts the license that came with it
explicitly: it prints that. Then, by `workbench preflight` alone:

* every template at its published batch / 8 for each core compiles for v2, v3 and v5e, with a
  memory verdict; what lowering passes, the compiler compiles;
* a batch far too large is refused with needs and has, and the proposed one compiles;
* a sweep over 8 to 1,024 for each core is printed.

Ends with 1 when one of these does not hold.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.projects.project_file import project_text
from workbench.protocol.service_call import worker_environment
from workbench.templates import Template, find_template, list_templates

_CORES = 8
_TOO_LARGE = 65_536  # pictures of 192 x 192 a step, 8,192 for each core: needs over 50 GiB
_PATIENCE_S = 7200.0


@dataclass
class Tally:
    """What was seen.

    Attributes:
        compiled: (template, TPU) pairs that fit.
        problems: What did not hold, in words.
    """

    compiled: int = 0
    problems: list[str] = field(default_factory=list)


def workbench(*words: str) -> tuple[int, dict[str, Any]]:
    """One command's exit code and its one line of JSON."""
    result = subprocess.run(
        [sys.executable, "-m", "workbench", *words, "--json"],
        env=worker_environment(), stdout=subprocess.PIPE, check=False, timeout=_PATIENCE_S,
    )  # fmt: skip
    lines = result.stdout.decode().splitlines()
    return result.returncode, json.loads(lines[-1]) if lines else {}


def say(words: str) -> None:
    print(words, flush=True)


def install() -> None:
    """The compiler environment, by the commands that people use.

    Raises:
        SystemExit: it cannot be installed here.
    """
    _, status = workbench("compiler", "status")
    if not status["installed"]:
        code, shown = workbench("compiler", "install")
        if "licence" not in shown:
            say(f"The compiler could not be downloaded: {shown}")
            raise SystemExit(1)
        say("The license that came with libtpu:")
        say(shown["licence"])
        say(f"This proof accepts it by its checksum {shown['sha256']}.")
        code, status = workbench("compiler", "install", "--accept", shown["sha256"])
        if code:
            say(f"The compiler could not be installed: {status}")
            raise SystemExit(1)
    say(f"compiler environment: {status['packages']}, {status['size_bytes'] / 1e9:.2f} GB")


def preflight(path: Path, tpu: str, batch: int, *more: str) -> tuple[int, dict[str, Any]]:
    return workbench("preflight", str(path), "--tpu", tpu, "--batch", str(batch), *more)


def memory_words(report: dict[str, Any]) -> str:
    memory = report.get("memory")
    if not memory:
        return "no memory verdict"
    return f"{memory['needs_bytes'] / 2**30:.3f} of {memory['has_bytes'] / 2**30:.2f} GiB"


def compile_template(path: Path, template: Template, tpu: str, tally: Tally) -> None:
    """At its published batch / 8 for each core: lowering passes and the compiler compiles it."""
    batch = max(_CORES, template.project.recipe.batch_size)
    code, report = preflight(path, tpu, batch)
    estimate = report.get("estimate") or {}
    say(
        f"{template.key:18} {tpu:7} {report.get('per_core_batch')} a core: "
        f"{memory_words(report)}, {estimate.get('step_ms')} ms a step, "
        f"{estimate.get('bound')} (compiler estimate), {report.get('seconds')} s"
    )
    if code == 0 and report["level"] == "compiler" and report["memory"]:
        tally.compiled += 1
        return
    tally.problems.append(f"{template.key} on {tpu}: {report.get('verdict') or report}")


def refuse(path: Path, template: Template, tpu: str, tally: Tally) -> None:
    """Far too large: refused with needs and has; what is proposed instead compiles."""
    code, report = preflight(path, tpu, _TOO_LARGE)
    proposed = report.get("suggested_batch", 0)
    say(f"{template.key} {tpu} {_TOO_LARGE:,}: exit {code}; {report.get('verdict')}")
    memory = report.get("memory") or {"needs_bytes": 0, "has_bytes": 0}
    if code != 1 or memory["needs_bytes"] <= memory["has_bytes"] or not proposed:
        tally.problems.append(f"{_TOO_LARGE:,} pictures on {tpu} are not refused: {report}")
        return
    code, report = preflight(path, tpu, proposed)
    say(f"{template.key} {tpu} {proposed:,} as proposed: exit {code}; {report.get('verdict')}")
    if code or report["level"] != "compiler":
        tally.problems.append(f"the proposed {proposed:,} on {tpu} does not compile: {report}")


def sweep(path: Path, template: Template, tpu: str, tally: Tally) -> None:
    """8 to 1,024 for each core, and the batch that is proposed."""
    _, report = preflight(path, tpu, 128 * _CORES, "--sweep")
    for point in report.get("sweep", []):
        estimate = point["estimate"] or {}
        say(
            f"  {point['per_core_batch']:>6,} a core {memory_words(point):>20} "
            f"{estimate.get('step_ms')} ms {estimate.get('images_per_second')} images/s "
            f"{estimate.get('bound')} {point['problem']}"
        )
    proposed = report.get("suggested_batch", 0)
    say(f"{template.key} {tpu}: {proposed:,} proposed (compiler estimate)")
    sizes = [point["per_core_batch"] for point in report.get("sweep", [])]
    gaps = [p["per_core_batch"] for p in report.get("sweep", []) if not p["memory"]]
    if sizes[:1] != [8] or sizes[-1:] != [1024] or gaps or not proposed:
        tally.problems.append(f"the sweep on {tpu} has {sizes}, without an answer {gaps}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--templates", default=",".join(t.key for t in list_templates()))
    parser.add_argument("--tpus", default="v2-8,v3-8,v5e-8")
    parser.add_argument("--refused", default="flowers_convnet", help="'' for none")
    parser.add_argument("--sweep", default="cifar10_convnet", help="'' for none")
    arguments = parser.parse_args()
    began, tally = time.monotonic(), Tally()
    install()
    templates = [find_template(key) for key in arguments.templates.split(",") if key]
    tpus = arguments.tpus.split(",")
    with tempfile.TemporaryDirectory() as name:
        paths: dict[str, Path] = {}
        for template in list_templates():
            paths[template.key] = Path(name) / f"{template.key}.workbench"
            paths[template.key].write_text(project_text(template.project))
        for template in templates:
            for tpu in tpus:
                compile_template(paths[template.key], template, tpu, tally)
        if arguments.refused:
            refuse(paths[arguments.refused], find_template(arguments.refused), tpus[-1], tally)
        if arguments.sweep:
            sweep(paths[arguments.sweep], find_template(arguments.sweep), tpus[-1], tally)
    for problem in tally.problems:
        say(f"PROBLEM: {problem}")
    say(
        f"tpu_compile: {tally.compiled} of {len(templates) * len(tpus)} programs compiled by "
        f"Google's compiler, not run on hardware; {len(tally.problems)} problems, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
