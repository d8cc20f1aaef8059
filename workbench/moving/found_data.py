"""Whether a folder holds the images that runs were trained on at a path where nothing is any more.

Evidence is what runs keep of their evaluated images: file and content of each. Only what a person
has named is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.format import plural
from workbench.core.params import PathParam, PathsParam
from workbench.core.projects.project import Project
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, ProjectFileError, RunFolderError
from workbench.pictures.contents import content_of_file
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.index import list_runs
from workbench.runs.store.evaluation import known_scores, read_image_scores
from workbench.runs.store.image_scores import ScoredImages

MOST_COMPARED = 400
"""Images whose content is compared: of a larger data set as many, at equal distances."""


@dataclass(frozen=True)
class FoundData:
    """What is known of a place where images may be now.

    Attributes:
        old, new: Absolute paths: where the runs look, and where to look instead.
        num_runs: Runs that look there.
        num_known: Images whose content those runs know.
        num_compared: How many of them were compared.
        num_same: How many of these are at the same place below `new`, with the same content.
        missing: A file that is not there, or is another one; "" for none.
    """

    old: str
    new: str
    num_runs: int = 0
    num_known: int = 0
    num_compared: int = 0
    num_same: int = 0
    missing: str = ""

    @property
    def is_same(self) -> bool:
        """All that was compared is the same, and there was something to compare."""
        return 0 < self.num_compared == self.num_same

    def words(self) -> str:
        """The evidence in a sentence."""
        if not self.num_compared:
            return "No run has kept the content of its images: they cannot be compared."
        sampled = f" of the {self.num_known:,} that are known" if self.is_sampled else ""
        compared = f"{plural(self.num_compared, 'image')}{sampled} compared by content"
        if self.is_same:
            return f"The same images: {compared}."
        return (
            f"Not the same images: {self.num_same:,} of {compared} are the same; not, for "
            f"example, {self.missing}."
        )

    @property
    def is_sampled(self) -> bool:
        """Not all images that are known were compared."""
        return self.num_compared < self.num_known


def look_at(
    old: str,
    new: str,
    *,
    home: Path | None = None,
    step: Callable[[], object] = lambda: None,
) -> FoundData:
    """Compares what is at `new` with what runs know of `old`; reads files, and no image that lies
    elsewhere.

    Args:
        old: A path as runs name it, where nothing is any more.
        new: A file or folder.
        home: Folder of the runs; the user's where None.
        step: Called before each file; may raise to end it.

    Raises:
        DatasetError: there is nothing at `new`.
    """
    before, after = (os.path.abspath(os.path.expanduser(each)) for each in (old, new))  # noqa: PTH100, PTH111
    if not os.path.exists(after):  # noqa: PTH110 - bytes that are no text
        raise DatasetError("There is no such file or folder.", where=after, fix="Check the path.")
    runs = [run for run in _runs(home or runs_home()) if _uses(run, before)]
    known: dict[str, bytes] = {}
    for run in runs:
        known |= {name: content for name, content in _contents(run, before) if name not in known}
    names = sorted(known)
    places = np.unique(np.linspace(0, len(names) - 1, min(len(names), MOST_COMPARED)).astype(int))
    chosen = [names[at] for at in places] if names else []
    missing, num_same = "", 0
    for name in chosen:
        step()
        if content_of_file(os.path.join(after, name)) == known[name]:  # noqa: PTH118 - as above
            num_same += 1
        else:
            missing = missing or name
    return FoundData(before, after, len(runs), len(names), len(chosen), num_same, missing)


def _runs(home: Path) -> Iterator[RunFolder]:
    for summary in list_runs(home):
        yield RunFolder(summary.path)


def _uses(run: RunFolder, path: str) -> bool:
    """Whether a run was trained on what was at a path, or below it."""
    try:
        project = run.request().to_project()
    except (RunFolderError, ProjectFileError):
        return False
    return any(each == path or each.startswith(path + os.sep) for each in paths_of(project))


def paths_of(project: Project) -> list[str]:
    """The files and folders of a project's data set, absolute."""
    spec = all_datasets().get(project.dataset.key)
    found: list[str] = []
    for param in spec.params if spec is not None else ():
        value = project.dataset.params.get(param.key)
        if isinstance(param, PathParam) and isinstance(value, str) and value:
            found.append(value)
        elif isinstance(param, PathsParam) and isinstance(value, list | tuple):
            found += [each for each in value if isinstance(each, str)]
    return [
        os.path.abspath(os.path.expanduser(each))  # noqa: PTH100, PTH111 - keeps odd text
        for each in found
        if "://" not in each
    ]


def _contents(run: RunFolder, folder: str) -> Iterator[tuple[str, bytes]]:
    """Name below the folder, and content, of each image that a run has kept an answer for: none of
    a run that has no weights yet, as one that has just failed on the missing images.
    """
    try:
        evaluations = known_scores(run).evaluations.values()
    except RunFolderError:
        return
    for kept in evaluations:
        try:
            images = read_image_scores(run, kept)
        except RunFolderError:
            continue
        if images is not None and len(images.lengths):
            yield from _below(images, folder + os.sep)


def _below(images: ScoredImages, start: str) -> Iterator[tuple[str, bytes]]:
    for number in range(len(images)):
        file = images.kept_file(number)
        if file.startswith(start):
            yield file[len(start) :], bytes(images.content[number])
