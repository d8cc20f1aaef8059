"""The execution plan: which way wins, what it costs to find out, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.targets.this_computer import HIDE_BFLOAT16, computes_bfloat16
from workbench.worker.execution import autotune as plan_search
from workbench.worker.execution.autotune import Known, keep_known, plan_key, read_known, search
from workbench.worker.execution.compiled import BenchmarkAhead, plan_words
from workbench.worker.step.trainable import (
    PLAIN,
    Timing,
    Variant,
    best_variant,
    gain_of,
    possible_variants,
)

pytestmark = pytest.mark.worker

BF16, BF16_XLA, F32_XLA = (
    Variant("bfloat16"),
    Variant("bfloat16", xla=True),
    Variant("float32", xla=True),
)


def test_ways_follow_processor_pins_and_replicas():
    auto = TrainingRecipe()
    assert possible_variants(auto, has_bfloat16=True) == (BF16, PLAIN, BF16_XLA)
    assert possible_variants(auto, has_bfloat16=False) == (PLAIN, F32_XLA)
    assert possible_variants(auto, has_bfloat16=True, may_compile=False) == (BF16, PLAIN)
    pinned = TrainingRecipe(precision="float32", xla="off")
    assert possible_variants(pinned, has_bfloat16=True) == (PLAIN,)
    assert possible_variants(TrainingRecipe(xla="on"), has_bfloat16=True)[0] == BF16_XLA
    wanted = TrainingRecipe(precision="bfloat16", xla="off")
    assert possible_variants(wanted, has_bfloat16=False) == (BF16,)


def test_compiling_must_pay_within_the_run():
    timings = {BF16: Timing(0.10, 1.0), BF16_XLA: Timing(0.05, 11.0)}
    variants = (BF16, PLAIN, BF16_XLA)
    assert best_variant(variants, timings, steps=150) == BF16
    assert best_variant(variants, timings, steps=1_000) == BF16_XLA
    nearly = {BF16: Timing(0.100, 0.0), PLAIN: Timing(0.099, 0.0)}
    assert best_variant(variants, nearly, steps=1_000) == BF16


def test_a_gain_is_against_plain_float32_or_none():
    timings = {BF16: Timing(0.1, 1.0), PLAIN: Timing(0.27, 1.0)}
    assert gain_of(BF16, timings) == pytest.approx(2.7)
    assert gain_of(PLAIN, timings) is None
    assert gain_of(BF16, {BF16: Timing(0.1, 1.0)}) is None


class Computer:
    """Ways of known speed, and a clock that only they move."""

    def __init__(self, **step_s):
        self.now = 0.0
        self.step_s = {
            Variant(*key.split("_")[:1], xla="xla" in key): s for key, s in step_s.items()
        }
        self.started = []
        self.turns = []
        self.num_disturbed = 0

    def clock(self):
        return self.now

    def start(self, variant):
        self.started.append(variant)
        self.now += self.start_s(variant)
        computer = self

        class Contender:
            start_s = computer.start_s(variant)

            def step_s(self):
                computer.turns.append(variant)
                is_disturbed = len(computer.turns) <= computer.num_disturbed
                seconds = computer.step_s[variant] * (3 if is_disturbed else 1)
                computer.now += seconds
                return seconds

        return Contender()

    def start_s(self, variant):
        return 5.0 if variant.xla else 1.0

    def search(self, variants, steps):
        return search(
            variants, self.start, steps=steps, on_progress=lambda *_: None, clock=self.clock
        )


def test_a_short_run_is_hardly_measured():
    computer = Computer(bfloat16=0.1, float32=0.3)
    result = computer.search((BF16, PLAIN), steps=300)
    assert computer.started == [BF16]
    assert result.skipped == {PLAIN: pytest.approx(0.02 * 300 * 0.1 - 0.2)}


@pytest.mark.parametrize("steps", [3_000, 10_000, 1_000_000])
def test_measuring_keeps_within_its_budget(steps):
    computer = Computer(bfloat16=0.05, float32=0.2, bfloat16_xla=0.04)
    result = computer.search((BF16, PLAIN, BF16_XLA), steps=steps)
    allowed = min(plan_search.LONGEST_S, plan_search.LARGEST_SHARE * steps * 0.05)
    assert result.spent_s <= allowed
    assert {*result.timings, *result.skipped} == {BF16, PLAIN, BF16_XLA}


def test_a_loser_gets_one_look_and_a_rival_several():
    computer = Computer(bfloat16=0.1, float32=0.5, bfloat16_xla=0.09)
    result = computer.search((BF16, PLAIN, BF16_XLA), steps=1_000_000)
    assert computer.turns.count(PLAIN) == 1
    assert computer.turns.count(BF16_XLA) > 1
    assert best_variant((BF16, PLAIN, BF16_XLA), result.timings, steps=1_000_000) == BF16_XLA


def test_where_the_first_loses_before_and_after_another_the_race_is_decided():
    computer = Computer(bfloat16=0.2, float32=0.1)
    result = computer.search((BF16, PLAIN), steps=1_000_000)
    assert computer.turns == [BF16, BF16, PLAIN, BF16]
    assert best_variant((BF16, PLAIN), result.timings, steps=1_000_000) == PLAIN


def test_what_disturbs_the_first_before_another_is_there_decides_nothing():
    computer = Computer(bfloat16=0.1, float32=0.11)
    computer.num_disturbed = 2
    result = computer.search((BF16, PLAIN), steps=1_000_000)
    assert computer.turns == [BF16, BF16, PLAIN, BF16, PLAIN, BF16, PLAIN]
    assert best_variant((BF16, PLAIN), result.timings, steps=1_000_000) == BF16


def test_measurements_are_kept_and_damage_is_no_fault(tmp_path):
    known = Known({BF16: Timing(0.1, 1.0), PLAIN: Timing(0.27, 1.5)}, {BF16_XLA: 0.6})
    keep_known("key", known, tmp_path)
    assert read_known("key", tmp_path) == known
    for damage in (b"", b"[{}]", b"\xff\xfe", b"[" * 100_000):
        (tmp_path / "key.json").write_bytes(damage)
        assert read_known("key", tmp_path) == Known()
    keep_known("key", known, tmp_path / "key.json")  # a file where a folder should be


def test_a_way_that_was_too_long_to_measure_is_measured_for_a_longer_run():
    variants, computer = (
        (BF16, PLAIN, BF16_XLA),
        Computer(bfloat16=0.1, float32=0.3, bfloat16_xla=0.05),
    )
    known = Known().with_search(computer.search(variants, steps=2_000))
    assert known.timings.keys() == {BF16, PLAIN}
    assert 0 < known.skipped[BF16_XLA] < 4.0
    # 2 % of so many steps of 0.1 s, of which 0.2 s are for the first: too little for 5 s of
    # compiling and two steps of 0.3 s, then enough.
    assert known.to_measure(variants, 2_850) == ()
    assert known.to_measure(variants, 2_950) == (BF16_XLA,)

    busy = Computer(bfloat16=0.2, bfloat16_xla=0.1)  # everything is half as fast today
    racing = (BF16, *known.to_measure(variants, 100_000))
    known = known.with_search(busy.search(racing, steps=100_000))
    assert busy.started == [BF16, BF16_XLA]
    assert {variant: timing.step_s for variant, timing in known.timings.items()} == pytest.approx(
        {BF16: 0.2, PLAIN: 0.6, BF16_XLA: 0.1}
    )
    assert known.skipped == {}
    assert known.to_measure(variants, 10**9) == ()


def test_a_way_that_is_expected_in_time_is_tried_again_with_clearly_more_of_it():
    known = Known({BF16: Timing(0.1, 0.1), PLAIN: Timing(0.3, 1.0)}, {BF16_XLA: 3.0})
    variants = (BF16, PLAIN, BF16_XLA)
    assert known.to_measure(variants, round(1.4 * 3.0 / 0.002)) == ()
    assert known.to_measure(variants, round(1.6 * 3.0 / 0.002)) == (BF16_XLA,)


def test_last_time_s_answer_spares_a_race_of_one():
    computer = Computer(bfloat16=0.1, float32=0.3)
    known = Known().with_search(computer.search((BF16, PLAIN), steps=300))
    assert computer.started == [BF16]
    assert known.to_measure((BF16, PLAIN), 300) == ()
    assert known.to_measure((BF16, PLAIN), 10_000) == (PLAIN,)


def test_a_way_that_was_never_tried_is_measured():
    known = Known({BF16: Timing(0.1, 1.0), PLAIN: Timing(0.3, 1.0)})  # with XLA pinned to off
    assert known.to_measure((BF16, PLAIN), 10_000) == ()
    assert known.to_measure((BF16, PLAIN, BF16_XLA), 10_000) == (BF16_XLA,)
    assert known.to_measure((PLAIN, F32_XLA), 10_000) == (F32_XLA,)
    assert Known().to_measure((BF16, PLAIN), 10_000) == (PLAIN,)
    assert Known().to_measure((BF16,), 10_000) == ()


def test_the_key_distinguishes_what_changes_a_step(monkeypatch):
    project = Project(recipe=TrainingRecipe())
    key = plan_key(project, 64)
    assert key == plan_key(Project(recipe=TrainingRecipe(epochs=99, seed=1)), 64)
    assert key != plan_key(project, 128)
    assert key != plan_key(Project(recipe=TrainingRecipe(optimizer="sgd")), 64)
    if computes_bfloat16():
        monkeypatch.setenv(HIDE_BFLOAT16, "1")
        assert not computes_bfloat16()
        assert key != plan_key(project, 64)


def test_words_say_what_was_chosen_and_what_it_gained(monkeypatch):
    timings = {BF16: Timing(0.1, 1.0), PLAIN: Timing(0.27, 1.0)}
    auto = TrainingRecipe()
    words = plan_words(BF16, timings, auto, source="measured", spent_s=3.14)
    assert words.startswith("bfloat16 (native on this CPU), 2.7× faster than float32 ")
    assert words.endswith("(benchmarked in 3.1 s)")
    assert "not benchmarked" in plan_words(BF16, {}, auto, source="known")
    pinned = TrainingRecipe(precision="float32", threads=1)
    said = plan_words(PLAIN, {}, pinned, source="known")
    assert said == "float32 (pinned), 1 thread (pinned)"
    monkeypatch.setenv(HIDE_BFLOAT16, "1")
    assert "no native bfloat16" in plan_words(PLAIN, {}, auto, source="known")


MIDDLE = (
    ("rescaling", {}),
    ("conv2d", {"filters": 4, "kernel_size": (3, 3)}),
    ("batch_normalization", {}),
    ("dropout", {"rate": 0.3}),
)


TWO_WAYS = {"xla": "off"} if computes_bfloat16() else {}
"""Recipe with two ways to compute on this processor; compiling is slow on a busy machine."""


def never(*words):
    pytest.fail(f"benchmarked: {words}")


@pytest.fixture
def compiled_on(monkeypatch, tmp_path, small_project):
    """Compiles a tiny network with dropout and normalization, and trains a few steps."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))

    from tests.worker.conftest import stripes
    from workbench.pictures.prepare import PreparedData, PreparedPart
    from workbench.worker.execution.compiled import compile_training, connect, sizes_of

    data = PreparedData(("a", "b", "c"), PreparedPart(*stripes(200, 1)), None, None)

    def make(**arguments):
        recipe = arguments.pop("recipe", {})
        project = small_project(*MIDDLE, **recipe)
        return compile_training(
            project,
            data,
            target=connect(project),
            sizes=sizes_of(project, 200),
            **{"check": lambda: None, **arguments},
        )

    return make


def train(compiled, steps=6):
    results = compiled.loop.train(compiled.iterator, steps, rates=[0.01] * steps)
    state = {name: np.array(value.numpy()) for name, value in compiled.state_variables().items()}
    return results, state


def test_a_measured_run_is_the_unmeasured_one_to_the_bit(compiled_on, monkeypatch, tmp_path):

    monkeypatch.setattr("workbench.worker.execution.compiled._WORTH_S", 0.0)
    monkeypatch.setattr(plan_search, "LARGEST_SHARE", 1e9)
    monkeypatch.setattr(plan_search, "LONGEST_S", 1e9)
    reported = []
    measured = compiled_on(
        recipe=TWO_WAYS, measure=True, on_progress=lambda *words: reported.append(words)
    )
    assert all(phase == "measuring" for phase, _, _ in reported)
    # A resumed run's pictures lie where today's memory lets them.
    before = msgspec.structs.replace(measured.plan, pipeline="streamed")
    again = compiled_on(recipe=TWO_WAYS, plan=before)
    assert again.plan == measured.plan
    (first, first_state), (second, second_state) = train(measured), train(again)
    assert first.losses.tolist() == second.losses.tolist()
    assert first_state.keys() == second_state.keys()
    for name, value in first_state.items():
        assert value.tobytes() == second_state[name].tobytes(), name
    files = list((tmp_path / "cache" / "plans").glob("*.json"))
    assert len(reported) == len(json.loads(files[0].read_text())["measured"]) == 2
    assert "benchmarked earlier" in compiled_on(recipe=TWO_WAYS).plan.words


@pytest.fixture
def ahead(monkeypatch):
    """What a run finds in a trainer that was kept ready, in place of that of this process."""
    from workbench.worker.execution import compiled

    ahead = BenchmarkAhead()
    monkeypatch.setattr("workbench.worker.execution.compiled._WORTH_S", 0.0)
    monkeypatch.setattr(compiled, "benchmark_ahead", ahead)
    monkeypatch.setattr(compiled, "benchmark_ahead", ahead)
    yield ahead
    ahead.end()


def is_there(pid):
    return Path(f"/proc/{pid}").exists()


class Benchmark:
    """A benchmark made ahead, which keeps what it knows once a run has waited, and never ends.

    Its process has no open file of this one, so they use a folder.
    """

    def __init__(self, folder, keep=lambda: None):
        self._pid, self._waited, self._keep = folder / "pid", folder / "waited", keep

    def __call__(self):
        self._pid.write_text(f"{os.getpid()}\n")
        while not self._waited.exists():
            time.sleep(0.01)
        self._keep()
        while True:
            signal.pause()

    def wait(self):
        """What a run calls that waits."""
        self._waited.touch()

    def pid(self):
        """Of its process, once that has begun."""
        deadline = time.monotonic() + 60
        while not (self._pid.exists() and self._pid.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return int(self._pid.read_text())


def test_a_run_waits_for_the_benchmark_of_its_network_made_ahead(
    compiled_on, ahead, small_project, tmp_path
):
    key = plan_key(small_project(*MIDDLE, **TWO_WAYS), 50)
    recipe = TrainingRecipe().with_values(**TWO_WAYS)
    first, second = possible_variants(recipe, has_bfloat16=computes_bfloat16())
    known = Known({first: Timing(0.5, 0.0), second: Timing(0.1, 0.0)})
    benchmark = Benchmark(tmp_path, lambda: keep_known(key, known))
    ahead.begin(key, benchmark)
    pid = benchmark.pid()
    compiled = compiled_on(
        recipe=TWO_WAYS, measure=True, on_progress=never, check=benchmark.wait
    ).plan
    assert (compiled.precision, compiled.xla) == (second.precision, second.xla)
    assert "benchmarked earlier" in compiled.words
    assert not is_there(pid)


def test_a_resumed_run_ends_a_benchmark_made_ahead(compiled_on, ahead, tmp_path):
    before = compiled_on().plan
    benchmark = Benchmark(tmp_path)
    ahead.begin("its own", benchmark)
    pid = benchmark.pid()
    compiled_on(plan=before)
    assert not is_there(pid)


def test_state_variables_are_all_that_training_changes(compiled_on):
    compiled = compiled_on()
    model, optimizer = compiled.built.model, compiled.optimizer
    assert len(compiled.state_variables()) == len(model.variables) + len(optimizer.variables)
    state = compiled.read_state()
    _, after = train(compiled)
    changed = [name for name in state if state[name].tobytes() != after[name].tobytes()]
    assert len(changed) > len(model.trainable_variables)
    compiled.restore_state(state)
    for name, value in compiled.read_state().items():
        assert value.tobytes() == state[name].tobytes()


def test_xla_and_waiting_are_arguments_of_the_loop(compiled_on):
    compiled = compiled_on(recipe={"xla": "on"})
    assert compiled.plan.xla
    assert "xla" in compiled.plan.pinned
    results, _ = train(compiled)
    assert np.isfinite(results.losses).all()
    assert 0.0 <= results.input_s <= results.seconds
