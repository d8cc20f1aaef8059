"""TensorFlow's real strategy for TPUs where there is no TPU: it traces, and cannot run.

`TPUStrategy` queries a resolver for devices. This one returns cores that do not exist, so
everything that is decided while a step is traced is decided as on a TPU: how variables are
kept, how gradients are added up, what is put into the part that a TPU compiles.

Not seen so: what TensorFlow does with that part, and anything that runs. Values that are
assigned reach the first replica only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from workbench.core.checks.shapes import Propagation
from workbench.core.network.roles import find_outputs
from workbench.core.params import defaults
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.targets import all_targets
from workbench.worker.execution.compiled import Compiled, Connected, compile_training, sizes_of
from workbench.worker.model.build import finish_statistics
from workbench.worker.step import trainable
from workbench.worker.step.training_loop import MAX_STEPS

PER_CORE = 2


def fake_strategy(tf: Any, cores: int) -> Any:
    """A real `tf.distribute.TPUStrategy` of so many cores that are not there."""
    from tensorflow.python.eager.context import LogicalDevice
    from tensorflow.python.tpu.tpu_system_metadata import TPUSystemMetadata

    class Resolver(tf.distribute.cluster_resolver.TPUClusterResolver):  # type: ignore[misc]
        """Answers without asking anybody."""

        def __init__(self) -> None:
            self.task_type, self.task_id = "worker", 0

        def master(self, *_: Any, **__: Any) -> str:
            return ""

        def get_master(self) -> str:
            return ""

        def cluster_spec(self) -> Any:
            return tf.train.ClusterSpec({})

        def num_accelerators(self, *_: Any, **__: Any) -> dict[str, int]:
            return {"TPU": cores}

        @property
        def tpu_hardware_feature(self) -> None:
            return None

        def get_tpu_system_metadata(self) -> Any:
            names = [f"/job:localhost/replica:0/task:0/device:TPU:{i}" for i in range(cores)]
            return TPUSystemMetadata(
                num_cores=cores,
                num_hosts=1,
                num_of_cores_per_host=cores,
                topology=None,
                devices=[LogicalDevice(name=name, device_type="TPU") for name in names],
            )

    tf.config.set_soft_device_placement(True)
    return tf.distribute.TPUStrategy(Resolver())


def tpu_limits(cores: int) -> TargetLimits:
    """What training on a TPU must obey."""
    spec = all_targets()["tpu"]
    return replace(spec.limits(defaults(spec.params)), replicas=cores)


@dataclass(frozen=True)
class Trace:
    """A traced call of the training loop.

    Attributes:
        inside: How often each operation occurs in the part that the TPU compiles.
        outside: The same for what stays on the host.
        replicas: Of each such part.
        is_looped: The part is in a loop over the call's steps.
        shapes: Of what the iterator hands to a replica; None where a length is not known.
        num_learned: Variables that have a gradient.
    """

    inside: Mapping[str, int]
    outside: Mapping[str, int]
    replicas: tuple[int, ...]
    is_looped: bool
    shapes: tuple[tuple[int, ...] | None, ...]
    num_learned: int

    def faults(self, cores: int) -> list[str]:
        """What is not as it must be on a TPU of so many cores; empty when all is."""
        found = []
        if self.replicas != (cores,):
            found.append(f"parts for the TPU: {self.replicas} replicas, not one of {cores}")
        if not self.is_looped:
            found.append("the steps are not looped over within the call")
        if not self.shapes or None in self.shapes:
            found.append(f"shapes that are not known: {self.shapes}")
        if self.inside["CrossReplicaSum"] < self.num_learned:
            sums = self.inside["CrossReplicaSum"]
            found.append(f"{sums} sums over the cores for {self.num_learned} gradients")
        if self.outside["CrossReplicaSum"] or not self.inside:
            found.append("sums over the cores that the TPU does not see")
        return found


def compile_on(strategy: Any, project: Project) -> Compiled:
    """What the trainer compiles for a project on a strategy, from made-up pictures."""
    cores = strategy.num_replicas_in_sync
    recipe = project.recipe.with_values(batch_size=PER_CORE * cores)
    project = replace(project, recipe=recipe)
    data = _pictures(project, PER_CORE * cores)

    def not_adapted(*args: Any, **_: Any) -> None:
        finish_statistics(args[1])  # nothing runs here: the values stay those of the start

    with mock.patch.object(trainable, "adapt_normalizations", not_adapted):
        return compile_training(
            project,
            data,
            target=Connected(strategy, tpu_limits(cores)),
            sizes=sizes_of(project, len(data.train), replicas=cores),
            check=lambda: None,
        )


def trace_training(tf: Any, compiled: Compiled) -> Trace:
    """Traces a call of several steps with their learning rates, as the trainer makes it."""
    specs = tf.TensorSpec((), tf.int32), tf.TensorSpec((MAX_STEPS,), tf.float32)
    function = compiled.loop._run_steps.get_concrete_function(compiled.iterator, *specs)
    return _trace(function, len(compiled.built.model.trainable_variables))


def trace_evaluation(tf: Any, compiled: Compiled) -> Trace:
    """Traces a call of several steps of validation."""
    loop, evaluator = compiled.loop, compiled.validation
    assert evaluator is not None
    iterator = loop.distribute(evaluator._dataset)
    zeros = loop.step.evaluation_zeros()
    steps = tf.TensorSpec((), tf.int32)
    return _trace(loop._run_evaluation.get_concrete_function(iterator, steps, *zeros), 0)


def _trace(function: Any, num_learned: int) -> Trace:
    graph = function.graph.as_graph_def()
    bodies = {name for node in graph.node for name in _loop_bodies(node)}
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    replicas, shapes, is_looped = [], [], False
    for name, nodes in _functions(graph):
        for node in nodes:
            counts = inside if "_tpu_replicate" in node.attr else outside
            counts[node.op] += 1
            if node.op == "TPUReplicateMetadata":
                replicas.append(node.attr["num_replicas"].i)
                is_looped = name in bodies
            if node.op == "IteratorGetNext":
                shapes += [_shape(shape) for shape in node.attr["output_shapes"].list.shape]
    return Trace(inside, outside, tuple(replicas), is_looped, tuple(shapes), num_learned)


def _functions(graph: Any) -> list[tuple[str, Any]]:
    return [
        ("", graph.node),
        *((each.signature.name, each.node_def) for each in graph.library.function),
    ]


def _loop_bodies(node: Any) -> list[str]:
    return [node.attr["body"].func.name] if node.op in {"While", "StatelessWhile"} else []


def _shape(shape: Any) -> tuple[int, ...] | None:
    sizes = tuple(dim.size for dim in shape.dim)
    return None if shape.unknown_rank or -1 in sizes else sizes


def _pictures(project: Project, count: int) -> PreparedData:
    """Random pictures and classes of the network's input and output."""
    graph = project.graph
    shapes = Propagation(graph, all_layers()).shapes
    shape = next(shapes[key] for key, node in graph.nodes.items() if node.kind == "input")
    classes = shapes[find_outputs(graph, all_layers())[0]][-1]
    pixels = np.random.default_rng(3).integers(0, 256, (count, *shape), dtype=np.uint8)
    part = PreparedPart(pixels, np.arange(count) % classes)
    return PreparedData(tuple(f"c{number}" for number in range(classes)), part, part, None)
