"""Finding a learning rate and a batch size by trying some: requests, and what was tried."""

from __future__ import annotations

from typing import Literal

from workbench.protocol.bases import Answer, FinalAnswer, Request


class LearningRateTried(Answer, frozen=True, kw_only=True, tag="learning_rate_tried"):
    """The loss of each of some further steps, and the rate that step was made with."""

    rates: list[float]
    losses: list[float | None]


class LearningRateTrial(Answer, frozen=True, kw_only=True, tag="learning_rate_trial"):
    """A short training from the project's start: means over its last quarter; None where it
    diverged.
    """

    rate: float
    steps: int
    accuracy: float | None
    loss: float | None


class LearningRateFound(FinalAnswer, frozen=True, kw_only=True, tag="learning_rate_found"):
    """Answer to FindLearningRate.

    Attributes:
        suggested: The rate to train with, the project's own where that is as good as any; None
            where the result is inconclusive; `words` has the reason.
        verdict: "keep" the project's rate, "change" it, or "unknown".
        present: The project's rate.
        good: Lowest and highest of the rates that are as good as the best; [] where unknown.
    """

    suggested: float | None
    words: str
    verdict: Literal["keep", "change", "unknown"] = "unknown"
    present: float | None = None
    good: list[float] = []


class FindLearningRate(Request, frozen=True, kw_only=True, tag="find_learning_rate"):
    """Raises the learning rate step by step until training of a project (file text) diverges,
    then trains briefly with a few rates, each from the start. Answers: some LearningRateTried,
    some LearningRateTrial, then LearningRateFound. All rates are values of the recipe's field.

    Attributes:
        steps: Steps for which the rate rises; None for as many as the batch needs.
    """

    final_answer = LearningRateFound
    partial_answers = (LearningRateTried, LearningRateTrial)

    project: str
    steps: int | None = None
    lowest: float = 1e-7
    highest: float = 10.0


class BatchSizeTried(Answer, frozen=True, kw_only=True, tag="batch_size_tried"):
    """One batch size: its speed and the memory of the whole process with it; or why not. It comes
    again for a size that was measured again; the latest counts.

    Attributes:
        images_per_second: The median of all its measurements; None where it does not fit.
        times: How often it was measured.
        spread: How far its measurements are apart, 0..1 of the highest.
    """

    size: int
    images_per_second: float | None = None
    memory_bytes: int | None = None
    problem: str = ""
    times: int = 1
    spread: float = 0.0


class BatchSizeFound(FinalAnswer, frozen=True, kw_only=True, tag="batch_size_found"):
    """Answer to FindBatchSize: the fastest size, the largest that fits into memory, and the
    smallest that is nearly as fast: larger batches make fewer steps, and learn less in an epoch.

    Attributes:
        changes: What else changes with the suggested size, in sentences: steps, images, rate.
        steps_per_epoch: With the suggested size.
        images_per_epoch: That these steps train on.
        learning_rate: Peak rate with the suggested size, by the project's LR scaling.
        is_uncertain: Speeds still contradict each other after they were measured again.
    """

    fastest: int
    largest: int
    suggested: int
    words: str
    changes: list[str] = []
    steps_per_epoch: int | None = None
    images_per_epoch: int | None = None
    learning_rate: float | None = None
    is_uncertain: bool = False


class FindBatchSize(Request, frozen=True, kw_only=True, tag="find_batch_size"):
    """Trains a project (file text) a moment at each size: BatchSizeTried, then BatchSizeFound."""

    final_answer = BatchSizeFound
    partial_answers = (BatchSizeTried,)

    project: str
    lowest: int = 8
    highest: int = 4096

    @property
    def sizes(self) -> list[int]:
        """The powers of two that are tried while they fit and there are as many images."""
        powers = (1 << exponent for exponent in range(17))
        return [size for size in powers if self.lowest <= size <= self.highest]
