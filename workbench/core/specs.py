"""What a plug-in file declares. A spec is data plus functions that are *handed* keras or
tf by the worker; a plug-in file never imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, Protocol

import numpy as np

from workbench.core.params import Param, Params, defaults
from workbench.errors import UsageError, WorkbenchError

Shape = tuple[int, ...]
"""A shape without the batch axis, channels last: (height, width, channels) or (units,)."""

CATEGORIES: Mapping[str, str] = {
    "input": "Input",
    "preprocessing": "Preprocessing",
    "convolution": "Convolution",
    "pooling": "Pooling",
    "core": "Core",
    "normalisation": "Normalization",
    "regularisation": "Regularization",
    "activation": "Activation",
    "merge": "Merge",
}
"""Palette categories in their order: key -> title."""

Place = Literal["model", "pipeline", "either"]
"""Where a layer runs: in the model; in the input pipeline on the host (augmentation); or
in the pipeline when it stands in the unbroken chain behind Input, else in the model."""


class ShapeProblem(Exception):  # noqa: N818 - a finding, not a fault
    """Raised by `infer_shape`: these inputs do not fit this layer.

    Args:
        title: Short heading, e.g. "Dense needs a flat input".
        reason: One or two sentences, without the nodes' names (the caller adds them).
        fixes: Keys of fixes that would help, e.g. ("insert_flatten",): see core.checks.
    """

    def __init__(self, title: str, reason: str, fixes: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.title = title
        self.reason = reason
        self.fixes = tuple(fixes)


@dataclass(frozen=True)
class ParamCount:
    """Numbers a layer learns, and numbers it keeps without learning them."""

    trainable: int = 0
    non_trainable: int = 0

    @property
    def total(self) -> int:
        return self.trainable + self.non_trainable


InferShape = Callable[[Params, Sequence[Shape]], Shape]
CountParams = Callable[[Params, Sequence[Shape]], ParamCount]
CountMultiplyAdds = Callable[[Params, Sequence[Shape], Shape], int]


def _as_they_are(params: Params) -> dict[str, Any]:
    return dict(params)


@dataclass(frozen=True, kw_only=True)
class LayerSpec:
    """One layer type: everything that palette, form, file, check, build and docs read.

    Attributes:
        key: File name and JSON value, e.g. "conv2d".
        title: Keras's own class name, e.g. "Conv2D".
        category: A key of CATEGORIES.
        summary: What it does, one or two plain sentences.
        params: Its parameters; keys are Keras's argument names where one exists.
        infer_shape: Output shape from (checked params, input shapes); raises ShapeProblem.
        count_params: Learned and kept numbers for (params, input shapes).
        count_multiply_adds: Multiply-adds of one forward pass of one picture.
        describe: The settings in words for the node's second line, e.g.
            "32 filters · 3×3 · same · relu"; empty when all are defaults.
        min_inputs, max_inputs: Number of edges into it; max None means any number.
        place: Where it runs, see Place.
        keras_arguments: Constructor arguments for `keras.layers.<title>` from params.
        keywords: More words the palette's search finds it by.
        tpu_hint: One sentence on its cost on a TPU for these (params, output), or "".
        needs_float32: Whether TensorFlow learns through it in float32 only: it then computes
            in that, whatever the recipe's precision.
        stops_learning: Whether TensorFlow has no gradient of it at all: nothing that stands
            before it can learn.
    """

    key: str
    title: str
    category: str
    summary: str
    params: tuple[Param, ...] = ()
    infer_shape: InferShape
    count_params: CountParams = lambda params, inputs: ParamCount()
    count_multiply_adds: CountMultiplyAdds = lambda params, inputs, output: 0
    describe: Callable[[Params], str] = lambda params: ""
    min_inputs: int = 1
    max_inputs: int | None = 1
    place: Place = "model"
    keras_arguments: Callable[[Params], dict[str, Any]] = _as_they_are
    keywords: tuple[str, ...] = ()
    tpu_hint: Callable[[Params, Shape], str] = lambda params, output: ""
    needs_float32: Callable[[Params], bool] = lambda params: False
    stops_learning: Callable[[Params], bool] = lambda params: False

    def defaults(self) -> dict[str, Any]:
        """The default value of each parameter."""
        return defaults(self.params)


@dataclass(frozen=True)
class ArrayPart:
    """Pictures already in memory: uint8 (n, height, width, channels); labels int64 (n,)."""

    pictures: np.ndarray[Any, np.dtype[np.uint8]]
    labels: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class FilePart:
    """Pictures still in files: paths and int64 labels of the same length."""

    paths: tuple[str, ...]
    labels: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.labels)


Part = ArrayPart | FilePart


@dataclass(frozen=True)
class LoadedData:
    """What a dataset source gives.

    Attributes:
        class_names: Name of each label 0..n-1.
        train: The training part (all pictures, where the source has no test part).
        test: The test part as published, or None: one is then split off `train`.
        bad_files: (path, reason in words) of pictures left out, already known here.
        notes: Sentences about the data worth telling (a class with few pictures, ...).
    """

    class_names: tuple[str, ...]
    train: Part
    test: Part | None = None
    bad_files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


class LoadContext(Protocol):
    """What a worker hands to a dataset's `load`."""

    @property
    def cache_folder(self) -> str:
        """Folder for downloads and unpacked arrays; kept between runs."""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Tells people what is going on; fraction 0..1 where known."""

    def check_cancelled(self) -> None:
        """Raises the caller's own cancel exception when the user has asked to stop."""

    def keras(self) -> Any:
        """The keras module (imports TensorFlow: only sources that download ask for it)."""


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """One source of pictures and labels.

    Attributes:
        key: File name, JSON value and SOURCE word, e.g. "fashion_mnist", "folder".
        title, summary: Texts for people.
        licence: License of the images; "" for the user's own.
        params: What the user chooses; the SOURCE text behind the colon is `source_param`.
        source_param: Key of the parameter that "KEY:VALUE" sets; "" when it takes none.
        shape: Picture shape when the source fixes it, else None.
        class_names: Names when the source fixes them, else empty.
        num_train, num_test: Published sizes, 0 when unknown.
        needs_download: Fetches from the internet on first use.
        program: The body of a function of a plain Keras program that returns
            (x_train, y_train), (x_test, y_test); "" where people bring the pictures.
        load: Called by a worker only.
    """

    key: str
    title: str
    summary: str
    licence: str = ""
    params: tuple[Param, ...] = ()
    source_param: str = ""
    shape: Shape | None = None
    class_names: tuple[str, ...] = ()
    num_train: int = 0
    num_test: int = 0
    needs_download: bool = False
    program: str = ""
    load: Callable[[LoadContext, Params], LoadedData]

    def name_of(self, params: Params) -> str:
        """What these params load, in short: the name of their file or folder, else the title."""
        path = params.get(self.source_param)
        return PurePath(path).name or self.title if isinstance(path, str) else self.title


@dataclass(frozen=True, kw_only=True)
class TargetLimits:
    """What training on a target must obey, so that nobody has to ask which target it is.

    Attributes:
        replicas: How many devices share each batch.
        has_bfloat16: Whether it computes bfloat16 in hardware; None to ask the processor.
        may_measure: Whether ways to run may be raced; else one is taken as it is.
        jit_step: Whether the step may be compiled by XLA at our request.
        jit_host: Whether XLA may compile what runs in the input pipeline.
        own_layers: Whether the forms of layers that are made for processors may be used.
        call_s: Aimed seconds of one call into TensorFlow.
        call_steps: Steps of every call, where several processes must agree; None to learn.
        environment: Which lock file a host of it needs.
    """

    replicas: int = 1
    has_bfloat16: bool | None = None
    may_measure: bool = True
    jit_step: bool = True
    jit_host: bool = True
    own_layers: bool = True
    call_s: float = 0.12
    call_steps: int | None = None
    environment: Literal["worker", "tpu", "gpu"] = "worker"


def _reads_nothing(text: str) -> Params:
    if text:
        raise UsageError("This target takes no value after a colon.", received=text)
    return {}


@dataclass(frozen=True, kw_only=True)
class TargetSpec:
    """One place to train on, all reached through tf.distribute.

    Attributes:
        key, title, summary: As above.
        params: What the user chooses.
        environment: Variables that must be set before TensorFlow starts.
        connect: (tf, params) -> a tf.distribute strategy.
        describe: What is there, in words, without TensorFlow ("2 cores, bfloat16 units").
        limits: What training there must obey.
        read: What stands behind "KEY:" in a TARGET text, "" for nothing -> the parameters it
            sets; raises UsageError or ParamError. See core.target_text.
        write: The inverse of `read`; "" where the key says it all.
        found: os.environ -> (parameters, why they are offered) of places that it names.
        is_remote: Trained there by a host that is reached over a line.
        probe: What is wrong with it, without TensorFlow and within seconds; None for nothing.
        is_offered: Whether menus show it without being asked.
        presets: The parameters that menus show it with; what is missing has its default.
        label: A choice of it in a few words ("8 replicas here"); "" where the title says it.
        machines: Addresses "HOST" or "HOST:PORT" of the machines that share every batch, each
            by a process of its own, the leading one first; nothing for a single process.
    """

    key: str
    title: str
    summary: str
    params: tuple[Param, ...] = ()
    environment: Callable[[Params], Mapping[str, str]] = lambda params: {}
    connect: Callable[[Any, Params], Any]
    describe: Callable[[Params], str]
    limits: Callable[[Params], TargetLimits] = lambda params: TargetLimits()
    read: Callable[[str], Params] = _reads_nothing
    write: Callable[[Params], str] = lambda params: ""
    found: Callable[[Mapping[str, str]], Sequence[tuple[Params, str]]] = lambda variables: ()
    is_remote: Callable[[Params], bool] = lambda params: False
    probe: Callable[[Params], WorkbenchError | None] = lambda params: None
    is_offered: Callable[[], bool] = lambda: True
    presets: tuple[Params, ...] = ({},)
    label: Callable[[Params], str] = lambda params: ""
    machines: Callable[[Params], Sequence[str]] = lambda params: ()

    def replicas(self, params: Params) -> int:
        """How many devices share each batch."""
        return self.limits(params).replicas


@dataclass(frozen=True, kw_only=True)
class ExportSpec:
    """One export format.

    Attributes:
        key: FORMAT on the command line: keras, weights, python.
        title, summary: Words for people.
        suffix: Ending of the file it writes, e.g. ".keras".
        write: (ExportContext-like object handed by the worker, path) -> None; see
            worker/requests/export.py for what it is handed.
        needs_weights: It is made of a run; else of a project that was never trained, see
            worker/requests/export_project.py for what `write` is handed then.
    """

    key: str
    title: str
    summary: str
    suffix: str
    write: Callable[[Any, str], None]
    needs_weights: bool = True
