"""Exported programs carry a project's data decisions: the same classes, parts, labels and pixels.

`bash packaging/prove.sh exported_data [--cases NAME ...]`

Each data set of `tests/exported_data.py` is trained by Workbench, and goes out as a notebook, a script
for TPUs, a Python script and a ready folder. The programs run in processes of their own, training
included; what they have read is compared with the run: classes, images of each class and part,
labels, pixels to the bit. The results of notebook and script are imported as runs, and compared again.
Ends with 1 where anything differs, or where the run itself is not as the data set was made.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from tests.benchmarks._runs import own_home, train
from tests.exported_data import CASES, Known
from tests.exported_runs import Images, differences, in_ready_folder, misread, of_program, of_run
from workbench.cli import _service
from workbench.cli import main as workbench
from workbench.core.projects.project_file import save_project
from workbench.pictures.png import write_png
from workbench.protocol.service_call import ServiceCall
from workbench.runs.folder import RunFolder

MOST_WRITTEN = 40
COLUMNS = ("notebook", "tpu script", "python", "ready folder", "imported")


def main(words: list[str] | None = None) -> int:
    """Prints the table; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [case.__name__ for case in CASES]
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    wanted = parser.parse_args(words).cases
    home, began, failed = own_home(), time.monotonic(), []
    print(f"{'data set':12} {'train/val./test':>15} classes  {' '.join(COLUMNS)}", flush=True)
    with ServiceCall() as call, tempfile.TemporaryDirectory() as place:
        _service.ServiceCall = lambda: nullcontext(call)
        for case in CASES:
            if case.__name__ in wanted:
                failed += _try(case, Path(place) / case.__name__)
    shutil.rmtree(home, ignore_errors=True)
    for line in failed:
        print(line)
    seconds = time.monotonic() - began
    print(
        f"exported_data: {len(wanted)} data sets, 4 programs each, {len(failed)} differences, "
        f"{seconds:.0f} s"
    )
    return 1 if failed else 0


def _try(case: Callable[[Path], Known], place: Path) -> list[str]:
    place.mkdir()
    known, found = case(place), {}
    project = place / "p.workbench"
    save_project(known.project, project)
    run = train(known.project)
    here = of_run(run, place / "cache")
    found["read"] = list(misread(known, here))
    for name, problems in _programs(project, run, here, place, known):
        found.setdefault(name, []).extend(problems)
    marks = [f"{'same' if not found[name] else 'OTHER':>{len(name)}}" for name in COLUMNS]
    counts = "/".join(map(str, here.counts))
    print(f"{case.__name__:12} {counts:>15} {len(here.names):7}  {' '.join(marks)}", flush=True)
    return [f"{case.__name__}, {key}: {line}" for key, lines in found.items() for line in lines]


def _programs(
    project: Path, run: RunFolder, here: Images, place: Path, known: Known
) -> Iterator[tuple[str, list[str]]]:
    """What each program has other than the run."""
    away = place / "away"
    away.mkdir()
    for column, name in (("notebook", "p.ipynb"), ("tpu script", "tpu.py")):
        _command("notebook", project, away / name)
        there = of_program("program", away / name)
        yield column, list(differences(there, here))
        yield "imported", list(_imported(project, here, place))
    _command("export", project, "python", away / "net.py")
    there = of_program("python", away / "net.py", str(away / "net.images.npz"))
    yield "python", list(differences(there, here))
    _command("export", run.path, "onnx", place / "folder", "--folder")
    yield "ready folder", list(in_ready_folder(place / "folder", run, _files(known, here, place)))


def _imported(project: Path, here: Images, place: Path) -> Iterator[str]:
    """A result as a run: its own parts are the same, and its test is measured on them."""
    result = place / "away" / "workbench_result.zip"
    said = _command("readback", result, project, "--json")
    run = RunFolder(Path(json.loads(said.splitlines()[-1])["run"]))
    yield from differences(of_run(run, place / "cache"), here)
    said = _command("evaluate", run.path, "--json")
    accuracy = json.loads(said.splitlines()[-1])["accuracy"]
    test = run.model_card().test
    if test is None or abs(test.accuracy - accuracy) > 1e-6 or test.count != here.counts[2]:
        yield f"test accuracy {test and test.accuracy}, here {accuracy}"
    result.unlink()


def _files(known: Known, here: Images, place: Path) -> list[str]:
    """Images to classify: those of the data set, or written from its arrays."""
    if known.pictures:
        return [str(path) for path in known.pictures]
    (place / "written").mkdir()
    images = here.x["test"][:MOST_WRITTEN]
    paths = [place / "written" / f"{number}.png" for number in range(len(images))]
    for path, pixels in zip(paths, images, strict=True):
        write_png(path, np.asarray(pixels))
    return [str(path) for path in paths]


def _command(*words: object) -> str:
    """What a command prints; all share one service worker."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = workbench([str(word) for word in words])
    assert code == 0, f"{words}: {out.getvalue()}"
    return out.getvalue()


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.exit(main())
