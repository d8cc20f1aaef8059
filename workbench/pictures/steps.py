"""Work on many images in threads, a step of images at a time, with progress."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from workbench.core.specs import LoadContext

STEP = 64
"""Images a thread takes at a time, where its results are small."""

_AHEAD = 2
"""Steps that are begun for each thread: memory does not grow with the number of images."""

T = TypeVar("T")


def in_steps(
    step: Callable[[slice], list[T]], count: int, ctx: LoadContext, words: str, *, size: int = STEP
) -> Iterator[T]:
    """What `step` gives for a few images at a time, side by side, in order; a few steps ahead at
    most.

    Args:
        step: Places of the images of a step -> a result for each of them.
        count: Number of all images.
        ctx: Progress is reported to it; its exception for canceling ends the work.
        words: What is being done.
        size: Images of a step.
    """
    workers = min(8, (os.cpu_count() or 1) + 1)
    waiting: deque[Future[list[T]]] = deque()
    steps = (slice(start, start + size) for start in range(0, count, size))
    done = 0
    pool = ThreadPoolExecutor(workers, thread_name_prefix="images")
    try:
        waiting.extend(pool.submit(step, places) for places in islice(steps, workers * _AHEAD))
        while waiting:
            ctx.check_cancelled()
            ctx.progress(f"{words}: {done:,} of {count:,}", done / count)
            results = waiting.popleft().result()
            waiting.extend(pool.submit(step, places) for places in islice(steps, 1))
            done += len(results)
            yield from results
    finally:
        pool.shutdown(cancel_futures=True)
    ctx.progress(f"{words}: {count:,} of {count:,}", 1.0)
