"""What a compiled step means for people: its time, its speed, and whose its large values are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from workbench.core.format import shape_text
from workbench.core.network.graph import Graph
from workbench.core.network.text import node_text
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Shape
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.compile_answers import Buffer, Compiled
from workbench.preflight.lowered import node_of
from workbench.protocol.preflight import Estimate, LargestBuffer

_TYPES = {
    "bf16": "bfloat16",
    "f32": "float32",
    "f16": "float16",
    "s32": "int32",
    "u32": "uint32",
    "s8": "int8",
    "u8": "uint8",
    "pred": "booleans",
}


def estimate_of(compiled: Compiled, chip: ChipChoice, per_core: int) -> Estimate:
    """How long a step takes by the compiler's cycles, and at least what computing and memory
    take at their peak.
    """
    generation = chip.generation
    computing = compiled.flops / generation.peak_flops
    moving = compiled.bytes_moved / generation.bandwidth
    seconds = max(computing, moving, compiled.cycles / generation.clock_hz, 1e-9)
    return Estimate(
        step_ms=round(1e3 * seconds, 3),
        images_per_second=round(per_core * chip.cores / seconds, 1),
        bound="compute" if computing > moving else "memory",
    )


def largest_buffers(
    buffers: Sequence[Buffer],
    graph: Graph,
    layers: Registry[LayerSpec],
    shapes: Mapping[str, Shape],
) -> list[LargestBuffer]:
    """The compiler's largest buffers in words, with the layers they come from.

    Args:
        buffers: As the compiler lists them.
        graph: The network.
        layers: The layer types.
        shapes: Output shape by node id.
    """
    found: Counter[tuple[str, int, str | None]] = Counter()
    for buffer in buffers:
        node = _node_of(buffer, graph, shapes)
        value = f"{shape_text(buffer.shape)} in {_TYPES.get(buffer.dtype, buffer.dtype)}"
        words = value if buffer.dtype else buffer.words
        if node is not None:
            words += f" at {node_text(graph.nodes[node], layers)}"
        if "gradient_tape" in buffer.operation:
            words += " (gradient)"
        found[words, buffer.bytes, node] += 1
    return [
        LargestBuffer(bytes=size, words=words if n == 1 else f"{n} x {words}", node=node)
        for (words, size, node), n in found.items()
    ]


def _node_of(buffer: Buffer, graph: Graph, shapes: Mapping[str, Shape]) -> str | None:
    """The node whose mark is in the operation; where the compiler names no operation, the
    first that gives such a shape.
    """
    if buffer.operation:
        return node_of(buffer.operation, graph) or None
    alike = (key for key in graph.order if shapes.get(key) == buffer.shape[1:])
    return next(alike, None) if len(buffer.shape) > 1 else None
