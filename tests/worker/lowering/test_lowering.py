"""The training step as a TPU's compiler gets it, and what is said of one that cannot be."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.proofs._tpu_projects import random_project
from tests.proofs.tpu_lowering import PRECISIONS, Judge
from tests.worker.conftest import chain
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import pipeline_nodes
from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import GraphError
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.preflight.lowered import (
    Lowered,
    Refused,
    Unchecked,
    fixes_of,
    marked,
    node_of,
    problem_of,
    with_names,
)
from workbench.templates import find_template
from workbench.worker.execution.compiled import compile_training, connect, sizes_of
from workbench.worker.lowering import lower as lowering
from workbench.worker.lowering.child import lower_within
from workbench.worker.lowering.lower import lower_step

pytestmark = [
    pytest.mark.worker,
    # Bicubic resizing has no gradient in bfloat16; that is refused, too.
    pytest.mark.filterwarnings("ignore:Gradients do not exist:UserWarning"),
]

CONV = ("conv2d", {"filters": 4})
END = (("flatten", {}), ("dense", {"units": 3, "activation": "softmax"}))
BATCH = 8


def project_of(*middle, **recipe):
    graph = chain(("input", {"shape": (8, 9, 3)}), *middle, *END)
    return Project(graph=graph, recipe=TrainingRecipe().with_values(**recipe))


def lowered(project, precision="bfloat16", **more):
    return lower_step(project, batch=BATCH, precision=precision, **more)


def first_arguments(answer):
    """The types of pictures, labels and rate."""
    line = next(line for line in answer.text.splitlines() if "@main(" in line)
    return [part.split(">")[0] for part in line.split("tensor<")[1:4]]


def test_frozen_layers_are_not_updated_in_the_step():
    whole = project_of(CONV, CONV)
    frozen = {key: replace(whole.graph.nodes[key], training="never") for key in ("n1", "n2")}
    graph = Graph({**whole.graph.nodes, **frozen}, whole.graph.edges)
    head = lowered(replace(whole, graph=graph))
    assert isinstance(head, Lowered)
    # Adam's moments of two kernels and their updates make a third of the text.
    assert len(head.text) < 0.8 * len(lowered(whole).text)


def test_the_text_is_the_whole_step_in_standard_operations():
    answer = lowered(project_of(CONV, ("batch_normalization", {}), ("dropout", {})))
    assert isinstance(answer, Lowered)
    assert first_arguments(answer) == ["8x8x9x3xui8", "8xi64", "f32"]
    assert "mhlo.copy" not in answer.text
    assert "stablehlo.optimization_barrier" in answer.text
    assert answer.text.count("stablehlo.convolution") >= 2  # forward and backward
    assert "rng_bit_generator" in answer.text
    # 6 of the weights' tensors, 2 of statistics and 1 of random state are written, and Adam's
    aliased = answer.text.count("output_index")
    assert aliased >= 9 + 2 * 6 + 1
    assert answer.seconds > 0


def test_precision_is_as_requested():
    texts = {name: lowered(project_of(CONV), name).text for name in ("float32", "bfloat16")}
    assert "bf16" not in texts["float32"]
    assert "bf16" in texts["bfloat16"]


@pytest.mark.parametrize(
    ("middle", "recipe", "pictures", "labels"),
    [
        ([("rescaling", {}), CONV], {}, "bf16", "8xi64"),
        ([CONV], {"mixing": "cutmix", "class_weights": "balanced"}, "ui8", "8x3xf32"),
        ([CONV], {"mixing": "mixup", "loss": "focal", "clip_norm": 1.0}, "bf16", "8x3xf32"),
        ([CONV], {"loss": "mean_squared", "ema_decay": 0.9, "optimizer": "muon"}, "ui8", "8xi64"),
    ],
)
def test_the_step_takes_what_the_pipeline_gives(middle, recipe, pictures, labels):
    answer = lowered(project_of(*middle, **recipe))
    assert first_arguments(answer) == [f"8x8x9x3x{pictures}", labels, "f32"]


def test_the_types_are_those_of_real_batches():
    """Of the trainer's own pipeline, for each way that pictures and labels come in."""
    pictures = np.zeros((16, 8, 9, 3), np.uint8)
    part = PreparedPart(pictures, np.arange(16) % 3)
    data = PreparedData(("a", "b", "c"), part, None, None)
    for middle, recipe in itertools.product(
        ([CONV], [("rescaling", {}), CONV]),
        ({}, {"mixing": "mixup"}, {"mixing": "cutmix"}, {"random_erasing": 0.5}),
    ):
        project = project_of(*middle, batch_size=BATCH, precision="bfloat16", xla="off", **recipe)
        target = connect(project)
        sizes = sizes_of(project, 16)
        compiled = compile_training(project, data, target=target, sizes=sizes, check=lambda: None)
        real = compiled.batches.element_spec
        specs = lowering.step_of(compiled.built, project.recipe, batch=BATCH)[1]
        assert [spec.dtype for spec in specs[:2]] == [spec.dtype for spec in real], (middle, recipe)
        assert [spec.shape for spec in specs[:2]] == [spec.shape for spec in real]


@pytest.mark.parametrize("key", ["lenet5", "small_resnet"])
def test_templates_lower(key):
    assert isinstance(lowered(find_template(key).project), Lowered)


@pytest.mark.parametrize("number", [0, 1, 2, 64, 67])
def test_random_networks_lower_or_are_refused_with_what_helps(number):
    """64: a pooling at fault only together with its surroundings, for which a fix was offered
    that did not help. 67: a text that is no StableHLO. More: `packaging/prove.sh tpu_lowering`.
    """
    _, project = random_project(number)
    judge = Judge()
    assert judge.failure(project, PRECISIONS[number % 2]) == ""
    assert judge.counts.total() == 1


# refusals ---------------------------------------------------------------------------------


def resizing(interpolation):
    return ("resizing", {"height": 5, "width": 5, "interpolation": interpolation})


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("interpolation", ["bicubic", "lanczos3"])
def test_a_layer_without_an_xla_kernel_is_named_and_each_fix_mends_it(precision, interpolation):
    project = project_of(CONV, resizing(interpolation))
    answer = lowered(project, precision)
    assert isinstance(answer, Refused)
    assert answer.node == "n2"
    assert "“resizing_2”" in answer.words
    assert answer.op.startswith(("Resize", "ScaleAndTranslate"))
    assert answer.settings == [("interpolation", "bilinear")]
    fixes = fixes_of(answer, project.graph, all_layers())
    assert [fix.key for fix in fixes] == ["set_interpolation", "move_behind_input"]
    assert all(fix.title.split()[0].lower() in answer.fix.lower() for fix in fixes)
    for fix in fixes:
        mended = replace(project, graph=fix.apply(project.graph))
        assert isinstance(lowered(mended, precision), Lowered), fix


def test_a_refusal_is_a_problem_of_its_layer():
    project = project_of(CONV, ("up_sampling2d", {"interpolation": "bicubic"}))
    answer = lowered(project)
    problem = problem_of(answer, project.graph, all_layers())
    assert (problem.node, problem.severity) == ("n2", "error")
    assert answer.words in problem.message
    assert not answer.can_move  # it is a layer of the model alone
    (fix,) = problem.fixes
    assert isinstance(lowered(replace(project, graph=fix.apply(project.graph))), Lowered)
    # of a graph that has changed meanwhile
    without = project.graph.without_nodes(["n2"])
    assert fixes_of(answer, without, all_layers()) == ()
    assert problem_of(answer, without, all_layers()).node is None


def test_what_runs_in_the_input_pipeline_is_not_compiled():
    project = project_of(resizing("bicubic"), ("random_rotation", {}), CONV)
    assert len(pipeline_nodes(project.graph, all_layers())) == 2
    answer = lowered(project)
    assert first_arguments(answer)[0] == "8x5x5x3xbf16"


def test_an_operation_that_only_tpus_have_is_no_refusal():
    project = project_of(CONV, resizing("nearest"))
    answer = lowered(project)
    assert isinstance(answer, Unchecked)
    assert (answer.op, answer.node) == ("ResizeNearestNeighborGrad", "n2")
    problem = problem_of(answer, project.graph, all_layers())
    assert (problem.node, problem.severity, problem.fixes) == ("n2", "warning", ())


def test_beside_an_unknown_operation_one_that_only_tpus_have_is_not_reported():
    answer = lowered(project_of(CONV, resizing("nearest"), resizing("bicubic")), "float32")
    assert isinstance(answer, Refused)
    assert (answer.op[:13], answer.node) == ("ResizeBicubic", "n3")


def test_names_do_not_mislead():
    """A second "a" in a graph is called "a_1" by TensorFlow, and here another node is, too."""
    project = project_of(CONV, resizing("bilinear"), resizing("bicubic"))
    nodes = project.graph.nodes
    named = Graph.of(
        [replace(nodes[key], name={"n2": "a_1", "n3": "a"}.get(key, key)) for key in nodes],
        project.graph.edges,
    )
    answer = lowered(replace(project, graph=named))
    assert (answer.node, "“a”" in answer.words) == ("n3", True)


def test_a_step_that_fails_outside_every_layer_names_none(monkeypatch):
    def broken(self, gradients, variables, rate):
        raise TypeError("Input 'x' of 'Nothing' Op has a wrong type.")

    monkeypatch.setattr(lowering.StepMath, "_update", broken)
    answer = lowered(project_of(CONV))
    assert isinstance(answer, Refused)
    assert (answer.op, answer.node, answer.settings, answer.can_move) == ("Nothing", "", [], False)
    assert problem_of(answer, project_of(CONV).graph, all_layers()).node is None


def test_marks_are_read_from_paths():
    graph = project_of(CONV).graph
    assert list(marked(graph).nodes) == list(graph.nodes)
    assert (
        marked(graph).edges
        == graph.edges
        == tuple(Edge(a, b) for a, b in itertools.pairwise(graph.nodes))
    )
    assert node_of("gradient_tape/network_1/node1x_1/mul", graph) == "n1"
    assert node_of("network/node99x/mul", graph) == node_of("adam/mul", graph) == ""
    assert with_names("at node1x_1/mul, node99x", graph) == "at conv2d_1_1/mul, node99x"


# untrusted networks -------------------------------------------------------------------------


def test_errors_have_the_names_of_the_graph():
    with pytest.raises(GraphError, match="“dense_3”"):
        lowered(project_of(CONV), num_classes=10)
    project = project_of(("conv2d", {"filters": 4, "kernel_size": (30, 30)}))
    with pytest.raises(GraphError, match="“conv2d_1”"):
        lowered(project)


def test_too_many_weights_are_not_even_made(monkeypatch):
    wide = ("flatten", {}), ("dense", {"units": 1_000_000})
    project = Project(graph=chain(("input", {"shape": (500, 500, 1)}), *wide, *END))
    monkeypatch.setattr(lowering, "build_model", None)
    answer = lowered(project)
    assert isinstance(answer, Unchecked)
    assert "GB" in answer.words


def children():
    """Numbers of the processes that this one has started."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def within(project, *, batches=(4, 2), deadline_s=120.0, **more):
    before = children()
    try:
        return list(
            lower_within(
                project, batches=batches, precision="float32", deadline_s=deadline_s, **more
            )
        )
    finally:
        assert children() == before


def test_a_child_answers_for_each_batch():
    answers = within(project_of(CONV))
    assert [batch for batch, _ in answers] == [4, 2]
    assert [first_arguments(answer)[1] for _, answer in answers] == ["4xi64", "2xi64"]


def test_errors_come_out_of_a_child_as_they_are():
    with pytest.raises(GraphError, match="“conv2d_1”"):
        within(project_of(("conv2d", {"filters": 4, "kernel_size": (30, 30)})))


def test_the_deadline_ends_a_child_and_answers_for_all_batches():
    answers = within(project_of(CONV), deadline_s=0.2)
    assert [batch for batch, _ in answers] == [4, 2]
    assert all("0.2 s" in answer.words for _, answer in answers)
    assert all(isinstance(answer, Unchecked) for _, answer in answers)


def test_a_child_that_dies_is_an_answer_too():
    ours = children()

    def kill():
        for pid in set(children()) - set(ours):
            os.kill(int(pid), signal.SIGKILL)

    answers = within(project_of(CONV), check=kill)
    assert [type(answer) for _, answer in answers] == [Unchecked, Unchecked]
    assert "TensorFlow was killed (signal 9)" in answers[0][1].words


def test_whoever_waits_can_end_it():
    class EnoughError(Exception):
        pass

    def check():
        raise EnoughError

    with pytest.raises(EnoughError):
        within(project_of(CONV), check=check)
