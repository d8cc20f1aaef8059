"""What a run is to train: the content of `request.json` in its folder, written once."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.protocol.bases import Whole
from workbench.runs.extensions import Extension, Extensions

REQUEST_VERSION = 1


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a run in a sweep.

    Attributes:
        place: Number of the run in the sweep, from 1.
        combination: Number of its combination of values, from 1: the same for all seeds.
        values: The changed settings and their values, as KEY and VALUE of `workbench set`.
        warm_up: After how many epochs the run may be stopped for being worse than the others
            (`runs.library.median_stopping`); 0 for never.
    """

    place: Whole
    combination: Whole
    values: dict[str, str]
    warm_up: Whole = 0


class InitialWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of another run that a run starts from.

    Attributes:
        run: That run: "run 3" of the same project, else the name of its folder.
        epoch: The epoch they are of; 0 where they were not trained here.
        checksum: SHA-256 over them, see `weights_file.array_checksum`.
    """

    run: str
    epoch: Whole
    checksum: str


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is to train, and how.

    Attributes:
        project: The project as project-file JSON.
        title: Words for people: those of the project.
        project_path: File the project came from, "" when it was never saved.
        number: Its number among the runs of the project, from 1; 0 where the project has no
            identity, or the run was made by an earlier version or outside of the folder of runs.
        differs: What of it is not as in the previous run of its project, then what is not as in
            the first, see `naming.differing`.
        network: What in its network is not as in those, in words; "" for the same network.
        label: Words that name it in place of its settings, such as a weights file; "" for none.
        series: The runs that it is trained and compared with, such as those of a cross-validation:
            the same for all of them; "" for none.
        point: Its place in the series, where that is a sweep.
        initial: The weights that it starts from; None for random and pretrained ones.
        created: Seconds since the epoch.
        parcel: Name by content of the images as they were packed elsewhere, to be loaded
            from `parcels_home` instead of the project's data set; "" for none.
        on: The computer that trains it, as those call it who sent it there; "" for this one.
        patience_from: The epoch from which the patience of early stopping is counted, since the run
            was extended; 0 for the best one.
        extension: The last time that the run was extended. As `patience_from`, in the file only if
            it was sent to another computer; here it is in a file of its own.
    """

    project: dict[str, Any]
    title: str = ""
    project_path: str = ""
    number: Whole = 0
    differs: list[str] = []
    network: str = ""
    label: str = ""
    series: str = ""
    point: SweepPoint | None = None
    initial: InitialWeights | None = None
    created: float = 0.0
    parcel: str = ""
    on: str = ""
    patience_from: Whole = 0
    extension: Extension | None = None
    format: str = "workbench-run"
    version: Whole = REQUEST_VERSION

    @property
    def project_id(self) -> str:
        """The identity of its project; "" for a run of an earlier version."""
        found = self.project.get("id", "")
        return found if isinstance(found, str) else ""

    def extended(self, extensions: Extensions) -> RunRequest:
        """The request with the epochs that the run was extended to."""
        if not extensions.epochs:
            return self
        recipe = self.project.get("recipe")
        values = {**(recipe if isinstance(recipe, dict) else {}), "epochs": extensions.epochs}
        return msgspec.structs.replace(
            self,
            project={**self.project, "recipe": values},
            patience_from=max(self.patience_from, extensions.patience_from),
            extension=extensions.entries[-1],
        )

    def to_project(self) -> Project:
        """The project to train; raises ProjectFileError when it is damaged."""
        return parse_project(msgspec.json.encode(self.project).decode(), "request.json")
