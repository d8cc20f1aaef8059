"""The C header computes what LiteRT's int8 interpreter computes, and is plain C99 and C++."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from tests.worker.conftest import chain
from tests.worker.exporting.conftest import SHAPE, make_run
from workbench.core.network.graph import Edge, Graph, Node
from workbench.exports import run_exports
from workbench.exports._c import windows
from workbench.exports._c.flat import NoCodeError, read_flat_model
from workbench.exports._c.header import header_text
from workbench.exports._lite import converted, integers_only
from workbench.exports.c import lower
from workbench.templates import find_template
from workbench.worker.requests.exporting.converter import ExportContext
from workbench.worker.saved_models.keras_runner import load_keras_runner

pytestmark = pytest.mark.worker

STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2"]
MAIN = """
#include <stdio.h>
#include "model.h"
static uint8_t image[MODEL_IMAGE_SIZE], scores[MODEL_NUM_CLASSES];
int main(void)
{
    while (fread(image, sizeof image, 1, stdin) == 1) {
        model_classify(image, scores);
        fwrite(scores, sizeof scores, 1, stdout);
    }
    return model_class_names[0][0] == 0;
}
"""
CONV = ("conv2d", {"filters": 4, "kernel_size": (3, 3)})


def net(*layers, end=(("dense", {"units": 3}),)):
    return chain(("input", {"shape": SHAPE}), ("rescaling", {}), *layers, ("flatten", {}), *end)


def merge(kind, channels=4):
    """Two convolutions, the second one with these channels, put together."""
    nodes = [
        Node("i", "input", "input", {"shape": SHAPE}),
        Node("r", "rescaling", "rescaling", {}),
        Node("a", *CONV[:1], "a", CONV[1]),
        Node("b", "conv2d", "b", {**CONV[1], "filters": channels, "activation": "relu"}),
        Node("m", kind, "m", {}),
        Node("f", "flatten", "f", {}),
        Node("d", "dense", "d", {"units": 3}),
    ]
    edges = ("ir", "ra", "rb", "am", "bm", "mf", "fd")
    ports = {"bm": 1}
    return Graph.of(nodes, [Edge(e[0], e[1], ports.get(e, 0)) for e in edges])


POOL = {"padding": "same", "pool_size": (3, 3), "strides": (2, 2)}
KERNEL = {"filters": 4, "kernel_size": (3, 3)}
CASES = {
    "conv2d": net(("conv2d", {**KERNEL, "kernel_size": (5, 3), "strides": (2, 2)})),
    "conv2d same": net(("conv2d", {**KERNEL, "padding": "same", "strides": (2, 2)})),
    "dilated": net(("conv2d", {**KERNEL, "padding": "same", "dilation_rate": (2, 2)})),
    "groups": net(CONV, ("conv2d", {**KERNEL, "groups": 2})),
    "depthwise": net(("depthwise_conv2d", {"kernel_size": (3, 3), "depth_multiplier": 2})),
    "separable": net(("separable_conv2d", {**KERNEL, "padding": "same"})),
    "transposed": net(("conv2d_transpose", {**KERNEL, "strides": (2, 2), "padding": "same"})),
    "transposed valid": net(("conv2d_transpose", {**KERNEL, "strides": (2, 3)})),
    "dense on images": net(CONV, ("dense", {"units": 5, "activation": "relu"})),
    "average pooling": net(CONV, ("average_pooling2d", POOL)),
    "max pooling": net(CONV, ("max_pooling2d", POOL)),
    "global average": net(CONV, ("global_average_pooling2d", {})),
    "global max": net(CONV, ("global_max_pooling2d", {})),
    "batch normalization": net(("batch_normalization", {}), CONV, ("batch_normalization", {})),
    "group normalization": net(CONV, ("group_normalization", {"groups": 2})),
    "layer normalization": net(CONV, ("layer_normalization", {})),
    "prelu": net(CONV, ("prelu", {})),
    "crop": net(CONV, ("cropping2d", {"cropping": (1, 2, 3, 0)})),
    "pad": net(CONV, ("relu", {}), ("zero_padding2d", {"padding": (1, 2, 0, 3)})),
    "resize": net(CONV, ("resizing", {"height": 9, "width": 17})),
    "resize nearest": net(
        CONV, ("resizing", {"height": 9, "width": 17, "interpolation": "nearest"})
    ),
    "up": net(CONV, ("up_sampling2d", {})),
    "up bilinear": net(CONV, ("up_sampling2d", {"interpolation": "bilinear"})),
    "softmax": net(CONV, ("softmax", {})),
    "no preprocessing": chain(
        ("input", {"shape": SHAPE}), ("flatten", {}), ("dense", {"units": 3, "activation": "tanh"})
    ),
    **{
        kind: merge(kind)
        for kind in ("add", "average", "concatenate", "maximum", "multiply", "subtract")
    },
    **{
        kind: net(CONV, ("activation", {"activation": kind}))
        for kind in (
            *("relu6", "tanh", "sigmoid", "gelu", "silu", "elu", "selu", "leaky_relu"),
            *("hard_silu", "hard_sigmoid", "exponential", "mish", "soft_shrink", "softsign"),
        )
    },
}


def flat(folder, graph, count=20, **more):
    """What LiteRT's converter makes of a network with random weights."""
    run = make_run(folder, graph, **more)
    spec = run_exports()["c"]
    shape = more.get("shape", SHAPE)
    context = ExportContext(load_keras_runner(run.path), spec, folder, images(shape, count))
    for variable in context.model.weights:
        if not variable.path.endswith(("kernel", "count")):  # else 0 and 1
            noise = np.random.default_rng(len(variable.path)).uniform(0.3, 1.2, variable.shape)
            variable.assign(noise)
    return converted(context, integers_only, is_integer=True, is_calibrated=True, count=1)


def images(shape, count):
    """Images of different brightness and contrast, uint8."""
    random = np.random.default_rng(4)
    middle, spread = (random.uniform(*limits, (count, 1, 1, 1)) for limits in ((20, 230), (5, 90)))
    return np.clip(random.normal(middle, spread, (count, *shape)), 0, 255).astype(np.uint8)


def compiled(folder, data, compiler=("gcc", "-std=c99", "-pedantic")):
    """The program of MAIN with the header of a converted network, and the header."""
    model = read_flat_model(data)
    program = lower(model)
    names = [f"Blüte {i} “?\\" for i in range(program.scores.buffer.size)]
    shape = model.tensors[model.image].shape[1:]
    text = header_text(program, shape=shape, class_names=names, title="*/ A net")
    (folder / "model.h").write_text(text, encoding="ascii")
    (folder / "main.c").write_text(MAIN)
    out = folder / compiler[0]
    command = [*compiler, *STRICT, "-o", str(out), str(folder / "main.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out, text


def answers(program, pictures):
    """Scores of a compiled program."""
    done = subprocess.run([program], input=pictures.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(len(pictures), -1).astype(int)


def expected(data, pictures):
    """Scores of LiteRT's interpreter."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    (given,), (found,) = interpreter.get_input_details(), interpreter.get_output_details()
    rows = []
    for picture in pictures:
        interpreter.set_tensor(given["index"], picture[None])
        interpreter.invoke()
        rows.append(interpreter.get_tensor(found["index"]).ravel())
    return np.array(rows).astype(int)


@pytest.mark.full_but(
    "conv2d",
    "depthwise",
    "transposed",
    "max pooling",
    "batch normalization",
    "group normalization",
    "resize",
    "softmax",
    "add",
    "concatenate",
    "gelu",
)
@pytest.mark.parametrize("case", CASES)
def test_an_operator_gives_the_numbers_of_litert(case, tmp_path):
    data = flat(tmp_path, CASES[case])
    pictures = images(SHAPE, 30)
    program, _ = compiled(tmp_path, data)
    ours, theirs = answers(program, pictures), expected(data, pictures)
    assert theirs.std(axis=0).max() > 0  # it tells images apart
    assert abs(ours - theirs).max() <= 2


@pytest.mark.full_but("lenet5")
@pytest.mark.parametrize(
    "key", ["fashion_convnet", "cifar10_convnet", "cifar10_speedrun", "lenet5", "small_resnet"]
)
def test_a_template_gives_the_labels_of_litert(key, tmp_path):
    graph = find_template(key).project.graph
    shape = next(node for node in graph.nodes.values() if node.kind == "input").params["shape"]
    names = [str(number) for number in range(10)]
    data = flat(tmp_path, graph, shape=tuple(shape), class_names=names)
    pictures = images(tuple(shape), 12)
    program, text = compiled(tmp_path, data)
    ours, theirs = answers(program, pictures), expected(data, pictures)
    assert abs(ours - theirs).max() <= 3
    chosen = theirs[np.arange(len(ours)), ours.argmax(axis=1)]
    assert (theirs.max(axis=1) - chosen <= 1).all()  # the same label, or one of the same score
    arena = int(re.search(r"ARENA_SIZE (\d+)", text)[1])
    places = lower(read_flat_model(data)).steps
    assert arena < sum({id(b): b.size for step in places for b in step.buffers}.values())


def test_the_header_is_cpp_and_needs_no_library(tmp_path):
    data = flat(tmp_path, CASES["group normalization"])
    pictures = images(SHAPE, 5)
    c, _ = compiled(tmp_path, data)
    cpp, _ = compiled(tmp_path, data, ("g++", "-x", "c++"))
    assert (answers(cpp, pictures) == answers(c, pictures)).all()
    alone = tmp_path / "alone.c"
    alone.write_text(
        '#include "model.h"\nvoid f(const uint8_t *i, uint8_t *s) { model_classify(i, s); }\n'
    )
    command = ["gcc", "-std=c99", "-O3", "-ffreestanding", "-c", str(alone), "-o"]
    subprocess.run([*command, str(tmp_path / "alone.o")], check=True)
    found = subprocess.run(
        ["nm", "-u", str(tmp_path / "alone.o")], capture_output=True, text=True, check=True
    )
    assert set(found.stdout.replace("U ", "").split()) <= {"memcpy", "memset", "memmove"}


@pytest.mark.parametrize("kind", ["sparsemax", "log_softmax"])
def test_what_there_is_no_c_code_for_is_named(kind, tmp_path):
    data = flat(tmp_path, net(CONV, ("activation", {"activation": kind})))
    with pytest.raises(NoCodeError, match="/activation_3"):
        lower(read_flat_model(data))


def test_a_layer_too_large_is_named(tmp_path, monkeypatch):
    data = flat(tmp_path, CASES["conv2d"])
    monkeypatch.setattr(windows, "_MOST_BYTES", 200)
    with pytest.raises(NoCodeError, match="/dense_4"):
        lower(read_flat_model(data))
