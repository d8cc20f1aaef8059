"""Our own rules for a project on a TPU: no TensorFlow, no waiting.

Arrays on a TPU lie in tiles of 8 rows by 128 columns, and its matrix units multiply blocks
of 128 x 128 (256 x 256 from v6e on); what does not fill them is computed all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.fixes import set_fix
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.matrix_unit import MatrixUse, matrix_use
from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.format import bytes_text, memory_text
from workbench.core.network.roles import node_text, nodes_text, pipeline_nodes
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.hardware.tpu_chips import ChipChoice

MEMORY_GUESS = "May not fit into TPU memory"
"""Title of our own estimate, which the compiler's answer takes the place of."""

_MOST_WASTED = 5
_WORTH_NAMING = 0.05
"""Share of the network's multiply-adds from which on a layer's waste is reported."""

_MUCH_WASTE = 0.5
_FEW_STEPS = 20
_MUCH_UPLOAD = 2_000_000_000
_HALF = 0.6  # bfloat16 halves what layers write; weights and optimizer stay as they are


def check_rules(
    project: Project,
    layers: Registry[LayerSpec],
    chip: ChipChoice,
    *,
    facts: DatasetFacts | None = None,
) -> Iterator[Problem]:
    """Findings that matter before renting that TPU.

    Args:
        project: With the global batch in its recipe.
        layers: The layer types.
        chip: The TPU.
        facts: What is known of the images.
    """
    if chip.generation.needs_jax:
        yield _needs_jax(chip)
        return
    analysis = analyse(project.graph, layers, recipe=project.recipe, dataset=facts)
    yield from analysis.errors
    yield from _check_batch(project, chip)
    yield from _check_steps(project, chip, facts)
    if analysis.is_trainable:
        yield from _check_memory(project, chip, analysis)
        yield from _check_widths(project, layers, chip, analysis)
    yield from _check_precision(project)
    yield from _check_host(project, layers, analysis, facts)


def _needs_jax(chip: ChipChoice) -> Problem:
    return recipe_problem(
        "error",
        "This TPU needs JAX",
        f"TensorFlow does not support {chip.generation.name} (Ironwood): it needs JAX, "
        "and Workbench uses TensorFlow. Use v2 to v6e.",
    )


def batch_fix(per_core: int, chip: ChipChoice) -> Fix:
    """Set the global batch by what each core gets of it."""
    return recipe_fix(f"Set the batch to {batch_words(per_core, chip)}",
                      batch_size=per_core * chip.cores)  # fmt: skip


def batch_words(per_core: int, chip: ChipChoice) -> str:
    """A batch as every core and as the recipe sees it: "1,024 (128 for each of 8 cores)"."""
    if chip.cores == 1:
        return f"{per_core:,}"
    return f"{per_core * chip.cores:,} ({per_core:,} per core on {chip.cores:,} cores)"


def per_core_batch(batch: int, chip: ChipChoice) -> int:
    """What each core gets of a global batch, at least one image."""
    return max(1, batch // chip.cores)


def _check_batch(project: Project, chip: ChipChoice) -> Iterator[Problem]:
    batch, cores = project.recipe.batch_size, chip.cores
    per_core, rest = divmod(batch, cores)
    tile = chip.generation.sublanes
    nearest = max(tile, tile * round(batch / cores / tile))
    if rest:
        yield recipe_problem(
            "error" if per_core == 0 else "warning",
            "Batch not divisible by the cores",
            f"{batch:,} does not divide by the {cores:,} cores of {chip.name}: "
            + ("there are more cores than images." if per_core == 0 else
               f"{per_core * cores:,} of each batch would be used."),
            batch_fix(nearest, chip),
        )  # fmt: skip
    if per_core % tile:
        padded = tile * -(-per_core // tile)
        yield recipe_problem(
            "warning" if per_core < tile else "hint",
            f"Batch is padded: use a multiple of {tile} per core",
            f"Each core gets {per_core:,} images, padded to {padded:,}: a TPU computes "
            f"in tiles of {tile} rows.",
            batch_fix(nearest, chip),
        )


def _check_steps(
    project: Project, chip: ChipChoice, facts: DatasetFacts | None
) -> Iterator[Problem]:
    if facts is None or not facts.num_train or project.recipe.steps_per_epoch is not None:
        return
    steps = facts.num_train // project.recipe.batch_size
    if steps >= _FEW_STEPS:
        return
    fixes = []
    per_core = 1 << max(0, int(math.log2(max(1, facts.num_train // (_FEW_STEPS * chip.cores)))))
    # A batch that leaves the tiles empty would be no help: another rule suggests a larger one.
    if chip.generation.sublanes <= per_core < project.recipe.batch_size / chip.cores:
        fixes = [batch_fix(per_core, chip)]
    count = "one step" if steps == 1 else f"{steps:,} steps"
    yield recipe_problem(
        "warning",
        "Few steps per epoch",
        f"{facts.num_train:,} images are only {count} of {project.recipe.batch_size:,}. "
        "So few updates per epoch train slowly, and the overhead of each epoch "
        "dominates on a TPU.",
        *fixes,
    )


def _check_memory(project: Project, chip: ChipChoice, analysis: Analysis) -> Iterator[Problem]:
    """Our own estimate; the compiler's replaces it where it is called."""
    costs, recipe = analysis.costs, project.recipe
    written = (costs.memory_bytes - costs.weight_bytes) / max(1, recipe.batch_size)
    if recipe.precision != "float32":
        written *= _HALF
    room = chip.generation.hbm_bytes - costs.weight_bytes
    needed = costs.weight_bytes + written * per_core_batch(recipe.batch_size, chip)
    if needed <= chip.generation.hbm_bytes:
        return
    largest = int(room / written) if room > 0 and written else 0
    fits = 1 << int(math.log2(largest)) if largest else 0
    yield recipe_problem(
        "warning",
        MEMORY_GUESS,
        f"A training step needs {memory_text(needed)} per core (estimated); a core of "
        f"{chip.generation.name} has {memory_text(chip.generation.hbm_bytes)}. The "
        "compiler may need less.",
        *([batch_fix(fits, chip)] if fits else []),
    )


@dataclass(frozen=True)
class Waste:
    """How a layer fills the matrix unit.

    Attributes:
        node: Its id.
        key: The parameter that sets its width.
        use: What it makes of the matrix unit.
        share: Fraction of the network's multiply-adds, 0..1.
    """

    node: str
    key: str
    use: MatrixUse
    share: float


def wasted(
    project: Project, layers: Registry[LayerSpec], chip: ChipChoice, analysis: Analysis
) -> list[Waste]:
    """The layers that leave much of the matrix unit unused, the costliest waste first."""
    total = max(1, analysis.costs.multiply_adds)
    found = []
    for node_id, cost in analysis.costs.nodes.items():
        share = cost.multiply_adds / total
        unit = chip.generation.matrix_width
        use = matrix_use(project.graph, layers, analysis, node_id, unit)
        if use is not None and share >= _WORTH_NAMING and use.used < 1 - _MUCH_WASTE / 2:
            key = layers[project.graph.nodes[node_id].kind].width
            found.append(Waste(node_id, key, use, share))
    return sorted(found, key=lambda waste: -waste.share * (1 - waste.use.used))


def _check_widths(
    project: Project, layers: Registry[LayerSpec], chip: ChipChoice, analysis: Analysis
) -> Iterator[Problem]:
    for waste in wasted(project, layers, chip, analysis)[:_MOST_WASTED]:
        node, better = project.graph.nodes[waste.node], waste.use.better
        param = next(p for p in layers[node.kind].params if p.key == waste.key)
        fixes = () if better == waste.use.width else (set_fix(waste.node, param, better),)
        yield Problem(
            waste.node,
            "hint",
            "Matrix unit not fully used",
            f"{node_text(node, layers)} {waste.use.words(f'of {chip.generation.name}')} and does "
            f"{waste.share:.0%} of the model's multiply-adds. The compiler may use the batch axis "
            "instead.",
            fixes,
        )


def _check_precision(project: Project) -> Iterator[Problem]:
    if project.recipe.precision == "float32":
        yield recipe_problem(
            "hint",
            "TPUs are fastest in bfloat16",
            "The precision is set to float32. bfloat16 halves the memory traffic, which "
            "limits most models on a TPU; weights and loss stay in float32.",
            recipe_fix("Set the precision to automatic", precision="auto"),
        )


def _check_host(
    project: Project,
    layers: Registry[LayerSpec],
    analysis: Analysis,
    facts: DatasetFacts | None,
) -> Iterator[Problem]:
    on_host = pipeline_nodes(project.graph, layers)
    nodes = project.graph.nodes
    random = [key for key in on_host if layers[nodes[key].kind].place == "pipeline"]
    if random:
        verb = "changes" if len(random) == 1 else "change"
        yield Problem(
            random[0],
            "hint",
            "Runs on the TPU host",
            f"{nodes_text(random, project.graph, layers)} {verb} the images on the CPU "
            "of the TPU host, which can limit the images per second.",
        )
    shape = analysis.input_shape
    if facts is None or not facts.num_train or shape is None:
        return
    size = (facts.num_train + facts.num_test) * math.prod(shape)
    if size > _MUCH_UPLOAD:
        yield recipe_problem(
            "hint",
            "Large upload",
            f"The images ({bytes_text(size)}) are uploaded to the TPU host once.",
        )
