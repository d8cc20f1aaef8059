"""What a trainer that waits for a run benchmarks of the open project: its steps, on noise.

A step takes as long whatever its images show, so nothing is loaded for it.
"""

from __future__ import annotations

import numpy as np

from workbench.backbones import backbone_keys, missing_weights, pretrained_layer
from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.network.roles import find_outputs, input_nodes
from workbench.core.projects.project import Project
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.processes.memory import available_memory
from workbench.runs.start import END_BELOW_BYTES
from workbench.runs.state.preparing import predict_run, read_speeds
from workbench.worker.execution.autotune import plan_key
from workbench.worker.execution.compiled import BenchmarkAhead, benchmark, connect
from workbench.worker.step.trainable import Sizes, Task

_NUM_BATCHES = 2

_STEPS = 1_000_000
"""Nobody waits for it, so the search gets the time that it gets in the longest training."""


def begin_benchmark(ahead: BenchmarkAhead, project: Project) -> None:
    """Begins it where the network can be trained, nothing has to be downloaded, and memory is left;
    another project's ends.
    """
    graph = project.graph
    analysis = analyse(graph, all_layers(), recipe=project.recipe, pretrained=pretrained_layer)
    if analysis.errors or missing_weights(backbone_keys(graph)) or not _fits(analysis, project):
        ahead.end()
        return
    key = plan_key(project, project.recipe.batch_size)
    ahead.begin(key, lambda: benchmark(noise_task(project, analysis)))


def noise_task(project: Project, analysis: Analysis) -> Task:
    """A very long training of a project's network on images of noise."""
    graph, batch_size = project.graph, project.recipe.batch_size
    shape = analysis.shapes[input_nodes(graph, all_layers())[0].id]
    num_classes = analysis.shapes[find_outputs(graph, all_layers())[0]][-1]
    random, number = np.random.default_rng(project.recipe.seed), _NUM_BATCHES * batch_size
    images = random.integers(0, 256, (number, *shape), np.uint8)
    names = tuple(str(number) for number in range(num_classes))
    data = PreparedData(names, PreparedPart(images, np.arange(number) % num_classes), None, None)
    target = connect(project)
    sizes = Sizes(batch_size, _STEPS, 1)
    return Task(project, data, target.strategy, sizes, limits=target.limits, share=target.share)


def _fits(analysis: Analysis, project: Project) -> bool:
    predicted = predict_run(analysis, project.recipe, None, speeds=read_speeds())
    return available_memory() > END_BELOW_BYTES + predicted.memory_bytes
