"""What a project's network starts with: pretrained weights of one backbone, or none. Qt-free."""

from __future__ import annotations

from workbench.backbones import all_backbones
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Project
from workbench.core.specs import BackboneSpec

FROM_SCRATCH = "From scratch"


def backbones_of(graph: Graph) -> list[BackboneSpec]:
    """The backbones whose weights a network starts with, as far as this version has them."""
    keys = {node.pretrained.partition("/")[0] for node in graph.nodes.values() if node.pretrained}
    return [spec for key, spec in all_backbones().items() if key in keys]


def network_words(graph: Graph) -> str:
    """What a network starts with: "MobileNet, pretrained", "From scratch"."""
    if not graph.nodes:
        return "No network"
    titles = [spec.title for spec in backbones_of(graph)]
    return f"{' and '.join(titles)}, pretrained" if titles else FROM_SCRATCH


def reason_of(project: Project) -> str:
    """Why the project was started with its network; "" where it has another one by now, or was not
    started from images.
    """
    named = {spec.title for spec in all_backbones().values() if spec.title in project.summary}
    # The longest title that fits is the one that is meant: some titles begin with another.
    named -= {short for short in named for title in named if short != title and short in title}
    present = {spec.title for spec in backbones_of(project.graph)}
    return project.summary if present == named and project.graph.nodes else ""
