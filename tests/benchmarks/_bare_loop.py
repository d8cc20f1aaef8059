"""The steps alone, nothing logged and nothing kept: `python -m tests.benchmarks._bare_loop RUN`.

Builds and plans as the trainer does, then prints the images/s of each epoch but the first.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any


class _SilentContext:
    """A LoadContext that reports nothing."""

    def __init__(self, keras: Any) -> None:
        self._keras = keras

    @property
    def cache_folder(self) -> str:
        """The cache of this benchmark's home."""
        from workbench.runs.home import cache_home

        cache_home().mkdir(parents=True, exist_ok=True)
        return str(cache_home())

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Says nothing."""

    def check_cancelled(self) -> None:
        """Does nothing: a benchmark is not canceled."""

    def keras(self) -> Any:
        """The module."""
        return self._keras


def main(path: Path) -> int:
    """Trains without events, checkpoints and window."""
    from workbench.runs.environment import project_environment
    from workbench.runs.folder import RunFolder

    project = RunFolder(path).request().to_project()
    os.environ.update(project_environment(project))

    import keras

    from workbench.core.training.learning_rates import learning_rates
    from workbench.pictures.prepare import prepare
    from workbench.worker.execution.compiled import compile_training, connect, sizes_of
    from workbench.worker.input.sources import find_source
    from workbench.worker.step.training_loop import CallLength

    spec, params = find_source(project.dataset.key, project.dataset.params)
    ctx = _SilentContext(keras)
    shape = next(n.params["shape"] for n in project.graph.nodes.values() if n.kind == "input")
    fit = str(params.get("fit", "crop"))
    loaded = spec.load(ctx, params)
    data = prepare(loaded, shape=tuple(shape), fit=fit, recipe=project.recipe, ctx=ctx)
    sizes = sizes_of(project, len(data.train))
    compiled = compile_training(
        project, data, target=connect(project), sizes=sizes, check=lambda: None
    )
    call, step = CallLength(compiled.plan.steps_per_call), 0
    for epoch in range(sizes.epochs):
        began, left = time.monotonic(), sizes.steps_per_epoch
        while left:
            steps = min(call.steps, left)
            rates = learning_rates(
                project.recipe, step, steps, sizes.total_steps, sizes.steps_per_epoch
            )
            results = compiled.loop.train(compiled.iterator, steps, rates=rates)
            if step:
                call.learn(results)
            step, left = step + steps, left - steps
        if epoch:
            images = sizes.steps_per_epoch * sizes.batch_size
            print(images / (time.monotonic() - began), flush=True)
    sys.stdout.flush()
    os._exit(0)  # taking the data pipeline down waits for its threads


if __name__ == "__main__":
    main(Path(sys.argv[1]))
