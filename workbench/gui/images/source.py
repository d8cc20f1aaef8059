"""The data set that images are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.projects.data_edits import edits_to_plain
from workbench.core.projects.project import Project


@dataclass(frozen=True)
class ImageSource:
    """A data set with edits: an `ImagePlace` is one in it.

    Attributes:
        key, params: The source.
        edits: As JSON values (`edits_to_plain`).
    """

    key: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    edits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> ImageSource:
        """The data set of a project as it is now."""
        return cls(project.dataset.key, project.dataset.params, edits_to_plain(project.edits))

    def fields(self) -> dict[str, Any]:
        """The source as fields of a `DataRequest`."""
        return {"source": self.key, "params": dict(self.params), "edits": dict(self.edits)}
