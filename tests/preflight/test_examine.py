"""The whole preflight with answers that lowering and the compiler gave before: what is asked
next, the progress, and the report.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from workbench.datasets import facts_of
from workbench.errors import DeadlineError, TpuError
from workbench.hardware.tpu_chips import chip_choice
from workbench.layers import all_layers
from workbench.preflight.compile_answers import Compiled, Rejected, TooLarge, read_answer
from workbench.preflight.examine import SWEEP, Examination, Question, best_of
from workbench.preflight.lowered import Lowered, Refused, Unchecked
from workbench.protocol.preflight import HONESTY, Estimate, PreflightReport, SweepPoint
from workbench.templates import find_template

DATA = Path(__file__).resolve().parents[1] / "data" / "compiler"
FITS = read_answer((DATA / "fits.json").read_bytes())
TOO_LARGE = read_answer((DATA / "too_large.json").read_bytes())
LENET = find_template("lenet5").project


class Listener:
    def __init__(self):
        self.stages = []
        self.points = []

    def stage(self, level, state, words, found):
        self.stages.append((level, state))
        assert words
        assert found.reported() is not None

    def point(self, point):
        self.points.append(point)


class World:
    """Answers by batch; remembers what was asked."""

    def __init__(self, largest=1 << 20, *, lowering=None, answer=None, slow=()):
        self.largest = largest
        self.lowering, self.answer, self.slow = lowering, answer, slow
        self.lowered, self.compiled = [], []

    def lower(self, batches):
        for batch in batches:
            self.lowered.append(batch)
            yield batch, self.lowering or Lowered(text=str(batch), seconds=0.5)

    @contextlib.contextmanager
    def compilers(self):
        yield self

    def compile(self, text, chip, *, deadline_s):
        assert deadline_s > 0
        assert chip.cores > 1
        self.compiled.append(int(text))
        if isinstance(self.answer, Exception) or int(text) in self.slow:
            raise self.answer or DeadlineError("It did not answer within 240 s.")
        if self.answer is not None:
            return self.answer
        fits = msgspec.structs.replace(FITS, needs_bytes=FITS.needs_bytes * int(text))
        return fits if int(text) <= self.largest else TOO_LARGE


def examined(world, *, tpu="v3-8", batch=1024, project=LENET, **more):
    recipe = project.recipe.with_values(batch_size=batch)
    project = replace(project, recipe=recipe)
    listener = Listener()
    question = Question(
        project=project,
        layers=all_layers(),
        chip=chip_choice(tpu),
        facts=facts_of(project),
        **more,
    )
    report = Examination(question, listener, lower=world.lower, compilers=world.compilers).report()
    # What a window or a program reads is what was meant.
    assert msgspec.json.decode(msgspec.json.encode(report), type=PreflightReport) == report
    return report, listener


def test_all_levels_pass():
    world = World()
    report, listener = examined(world)
    assert (report.ok, report.level, report.tpu) == (True, "compiler", "v3-8")
    assert (report.per_core_batch, report.global_batch) == (128, 1024)
    assert world.compiled == [128]
    assert report.memory.needs_bytes == FITS.needs_bytes * 128
    assert report.memory.has_bytes == chip_choice("v3-8").generation.hbm_bytes
    assert report.estimate.images_per_second == pytest.approx(
        1024 / (FITS.cycles / 0.94e9), rel=1e-3
    )
    assert report.estimate.bound == "memory"
    assert HONESTY["compiler"].lower() in report.verdict.lower()
    assert "v3-8 (4 chips, 8 cores)" in report.verdict
    assert report.suggested_batch == 0
    assert [state for _, state in listener.stages] == ["running", "passed"] * 3


@pytest.mark.parametrize("level", ["rules", "lowering"])
def test_no_deeper_than_asked(level):
    world = World()
    report, _ = examined(world, level=level)
    assert report.level == level
    assert report.memory is None
    assert report.estimate is None
    assert world.compiled == []
    assert HONESTY[level] in report.verdict.lower().replace("xla", "XLA")


def test_without_the_compiler_it_says_so_and_keeps_the_level():
    report, listener = examined(World(), no_compiler="It is not here.")
    assert (report.ok, report.level) == (True, "lowering")
    assert listener.stages[-1] == ("compiler", "skipped")


def test_too_large_is_halved_until_it_fits():
    world = World(largest=40)
    report, listener = examined(world)
    assert world.compiled == [128, 64, 32]
    assert not report.ok
    assert report.suggested_batch == 32 * 8
    assert report.memory.needs_bytes == 38_026_742_784
    assert report.estimate is None
    assert "needs 38.0 GB per core" in report.verdict
    assert "A batch of 256 (32 per core on 8 cores) fits." in report.verdict
    error = report.problems[0]
    assert error.severity == "error"
    assert error.fixes[0].recipe == {"batch_size": 256}
    assert report.largest
    assert listener.stages[-1] == ("compiler", "refused")


def test_nothing_fits():
    world = World(largest=0)
    report, _ = examined(world, batch=8)
    assert (world.compiled, report.ok, report.suggested_batch) == ([1], False, 0)
    assert "No smaller batch fits." in report.verdict


def test_the_compilers_answer_takes_the_place_of_our_guess():
    guess = "May not fit into TPU memory"
    asked = {"project": find_template("flowers_convnet").project, "batch": 65536}
    without, _ = examined(World(), **asked, level="rules")
    assert guess in [problem.title for problem in without.problems]
    report, _ = examined(World(), **asked)
    assert guess not in [problem.title for problem in report.problems]
    assert report.is_tight  # the recorded program's bytes times 8,192 are more than a core has


def test_a_batch_that_takes_too_long_leaves_a_gap_in_a_sweep():
    report, _ = examined(World(slow={16, 256, 512}), is_sweep=True)
    gaps = [point.per_core_batch for point in report.sweep if point.problem]
    assert gaps == [16, 256, 512]  # two in a row end it
    assert report.sweep[-1].per_core_batch == 512
    assert (report.ok, report.suggested_batch) == (True, 128 * 8)


def test_a_sweep_stays_within_what_a_recipe_can_hold():
    report, _ = examined(World(), tpu="v5e-256", batch=65536, is_sweep=True)
    assert [point.global_batch for point in report.sweep][-1] == 65536


def test_a_sweep_compiles_each_batch_once_and_proposes_the_fastest():
    world = World()
    report, listener = examined(world, is_sweep=True)
    sizes = [point.per_core_batch for point in report.sweep]
    assert sizes == list(SWEEP)
    assert sorted(world.compiled) == list(SWEEP)
    assert listener.points == report.sweep
    # The recorded program takes the same time whatever the batch: the largest is the fastest.
    assert report.suggested_batch == 1024 * 8
    assert report.ok


def test_a_sweep_holds_the_asked_batch_and_ends_where_memory_does():
    world = World(largest=64)
    report, _ = examined(world, batch=800, is_sweep=True)
    assert [(p.per_core_batch, p.problem) for p in report.sweep] == [
        (8, ""), (16, ""), (32, ""), (64, ""), (100, "does not fit"),
    ]  # fmt: skip
    assert not report.ok
    assert report.suggested_batch == 64 * 8
    assert world.compiled.count(100) == 1


def test_a_batch_that_was_found_to_fit_stays_where_none_of_a_sweep_does():
    report, _ = examined(World(largest=4), batch=512, is_sweep=True)
    assert report.suggested_batch == 4 * 8
    assert "(4 per core on 8 cores) fits" in report.verdict
    (problem,) = [p for p in report.problems if p.severity == "error"]
    assert [fix.recipe for fix in problem.fixes] == [{"batch_size": 32}]


def test_the_smallest_of_equally_fast_batches_is_best():
    def point(size, speed):
        estimate = Estimate(step_ms=1.0, images_per_second=speed, bound="memory")
        return SweepPoint(per_core_batch=size, global_batch=size, estimate=estimate)

    assert best_of([point(8, 100.0), point(16, 199.0), point(32, 200.0)]) == 16
    assert best_of([SweepPoint(per_core_batch=8, global_batch=8, problem="no")]) == 0


def test_a_refused_step_names_the_layer_and_is_not_compiled():
    node = next(n.id for n in LENET.graph.nodes.values() if n.kind == "conv2d")
    refused = Refused(op="Foo", node=node, words="It cannot.", fix="Take another.")
    world = World(lowering=refused)
    report, listener = examined(world)
    assert (report.ok, report.level) == (False, "lowering")
    assert (report.problems[0].node, report.problems[0].severity) == (node, "error")
    assert world.compiled == []
    assert ("lowering", "refused") in listener.stages


def test_a_step_that_cannot_be_judged_here_is_no_refusal():
    world = World(lowering=Unchecked(words="It took too long."))
    report, listener = examined(world)
    assert (report.ok, report.level) == (True, "rules")
    assert "It took too long." in [problem.message for problem in report.problems]
    assert ("lowering", "unfinished") in listener.stages


def test_the_compilers_own_refusal_is_an_error():
    world = World(answer=Rejected(words="INVALID_ARGUMENT: no"))
    report, _ = examined(world, is_sweep=True)
    assert (report.ok, report.level) == (False, "compiler")
    assert report.problems[0].message == "INVALID_ARGUMENT: no"
    assert report.sweep == []


@pytest.mark.parametrize("kind", [DeadlineError, TpuError])
def test_a_compiler_that_does_not_answer_leaves_what_was_known(kind):
    world = World(answer=kind("It did not answer within 300 s."))
    report, listener = examined(world)
    assert (report.ok, report.level) == (True, "lowering")
    assert listener.stages[-1] == ("compiler", "unfinished")
    assert any("300 s" in problem.message for problem in report.problems)


def test_tpu7x_is_not_looked_at_further():
    world = World()
    report, _ = examined(world, tpu="tpu7x")
    assert (report.ok, report.level, world.lowered) == (False, "rules", [])
    assert "needs JAX" in report.problems[0].title


def test_the_recorded_answers_are_of_their_kinds():
    assert isinstance(FITS, Compiled)
    assert isinstance(TOO_LARGE, TooLarge)
