"""What follows from the data of the project being edited: its network, its classes, and what runs
are measured on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.core.network.layout import node_sizes
from workbench.core.network.outputs import num_outputs, with_num_outputs
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.data_versions import Versions
from workbench.core.projects.project import Project, View
from workbench.core.projects.robustness import RobustnessTest
from workbench.document import placement
from workbench.document.learning_project import LearningProject
from workbench.document.view_state import with_places


class DataProject(LearningProject):
    """A project whose network and classes are edited where its data is looked at."""

    def use_network(self, project: Project, text: str) -> None:
        """Takes the network, the training settings and the summary of a project; the data set, its
        edits and the target stay. `text` names the undo step.
        """
        graph, folded = project.graph, project.view.folded
        sizes = node_sizes(graph, self.layers)
        places = placement.complete(graph, project.view.positions, sizes, folded)
        state = replace(
            self._state,
            graph=graph,
            recipe=project.recipe,
            summary=project.summary,
            view=View(folded=folded),
        )
        self._push(text, with_places(state, places))

    def set_classes(
        self, classes: Mapping[str, str], text: str, *, counts: tuple[int, int]
    ) -> None:
        """Renames, merges or leaves out classes (`DataEdits.classes`), in a step that `text` names.

        Args:
            classes: Name in the data set -> name in the project, "" for one that is left out.
            text: Words of the undo step.
            counts: How many classes there were before, and are then: a last layer with exactly as
                many outputs follows.
        """
        before, after = counts
        edits: DataEdits = replace(self._state.edits, classes=dict(classes))
        graph = self.graph
        if before != after and num_outputs(graph, self.layers) == before:
            graph = with_num_outputs(graph, self.layers, after)
        self._push(text, replace(self._state, graph=graph, edits=edits))

    def set_data_versions(self, versions: Versions) -> None:
        """Changes the named versions of the data edits: no step of undo, which keeps them, as one
        saves a version to be able to go back.
        """
        self.show_state(replace(self._state, data_versions=versions))

    def set_robustness(self, tests: tuple[RobustnessTest, ...], text: str) -> None:
        """Changes what each later run is measured on; `text` names the undo step."""
        self._push(text, replace(self._state, robustness=tests))
