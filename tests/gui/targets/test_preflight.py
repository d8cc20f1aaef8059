"""The page "Will it train on a TPU?", with a real service or with scripted answers."""

from __future__ import annotations

import pytest

from tests.measurer import Measurer
from workbench.gui.targets.controller import DIALOGS
from workbench.protocol.bases import ErrorParts
from workbench.protocol.messages import Failed
from workbench.protocol.preflight import (
    Estimate,
    LargestBuffer,
    Memory,
    Preflight,
    PreflightDone,
    PreflightPoint,
    PreflightReport,
    PreflightStage,
    ReportFix,
    ReportProblem,
    SweepPoint,
)

GB = 1_000_000_000
FITS = Memory(needs_bytes=2 * GB, has_bytes=16 * GB)
TOO_MUCH = Memory(needs_bytes=35 * GB, has_bytes=16 * GB)
ESTIMATE = Estimate(step_ms=3.4, images_per_second=301_000.0, bound="memory")


@pytest.fixture
def asked(context, monkeypatch):
    return Measurer(context, monkeypatch)


@pytest.fixture
def page(cifar, asked):
    cifar.places.ask("preflight")
    yield cifar.places.dialogs["preflight"]
    cifar.places.close()


def report(**changes):
    parts = {
        "ok": True, "tpu": "v5e-8", "level": "compiler", "verdict": "It fits.",
        "per_core_batch": 128, "global_batch": 1024,
    }  # fmt: skip
    return PreflightReport(**(parts | changes))


def test_opens_and_checks_the_current_project_at_once(page, asked):
    (request,) = asked.requests
    assert isinstance(request, Preflight)
    assert (request.tpu, request.sweep, request.level) == ("v5e-8", False, "compiler")
    assert "conv2d_2" in request.project
    assert page.is_looking
    assert page.close_button.text() == "Cancel"


def test_every_tpu_of_tensorflow_can_be_chosen(page):
    names = [page.generation.itemText(i) for i in range(page.generation.count())]
    assert names == ["v2", "v3", "v4", "v5e", "v5p", "v6e"]
    page.generation.setCurrentText("v3")
    assert page.size_box.findData("v3-8") >= 0
    assert "cores" in page.size_box.itemText(page.size_box.findData("v3-8"))


def test_another_tpu_takes_the_verdict_of_the_last_one_away(page, asked):
    asked.answer(PreflightDone(id=1, report=report(memory=FITS, estimate=ESTIMATE)))
    assert page.report.verdict.text() == "It fits."
    page.generation.setCurrentText("v2")
    assert page.report.verdict.text().endswith("has not been checked.")
    assert page.report.verdict.property("role") == "dim"
    assert page.report.memory_words.isHidden()
    assert page.use.isHidden()


def test_levels_fill_in_and_the_report_stays(page, asked):
    asked.answer(PreflightStage(id=1, level="rules", state="passed", words="no remarks"))
    assert page.report.levels._states["rules"].text() == "Passed"
    buffers = [LargestBuffer(bytes=GB, words="activations of conv2d_2", node="conv2d_2")]
    asked.answer(
        PreflightDone(id=1, report=report(memory=FITS, estimate=ESTIMATE, largest=buffers))
    )
    assert not page.is_looking
    assert page.report.verdict.text() == "It fits."
    assert page.report.memory_words.text() == "Needs 2.0 GB of 16.0 GB per core"
    assert "301,000 images/s" in page.report.estimate.text()
    assert "compiler estimate" in page.report.estimate.text()
    assert page.report.buffer_facts.facts() == {"activations of conv2d_2": "1.0 GB"}
    assert page.use.isHidden()


def test_a_batch_that_fits_is_proposed_and_taken(page, asked, cifar):
    document = cifar.context.document
    before = document.project.recipe.batch_size
    asked.answer(PreflightDone(id=1, report=report(ok=False, memory=TOO_MUCH, suggested_batch=512)))
    assert page.use.text() == "Use batch 64 × 8 = 512"
    page.use.click()
    assert document.project.recipe.batch_size == 512
    assert len(asked.requests) == 2  # and it is looked at again
    document.undo_stack.undo()
    assert document.project.recipe.batch_size == before


def test_what_can_be_applied_is_a_button_and_another_fix_is_shown(page, asked, cifar):
    document = cifar.context.document
    node = next(node for node in document.graph.nodes.values() if node.kind == "conv2d")
    filters = node.params["filters"]
    problem = ReportProblem(
        node=node.id, severity="warning", title="Narrow", message="It is narrow.",
        fixes=[
            ReportFix(key="bf16", title="Use bfloat16", recipe={"precision": "bfloat16"}),
            ReportFix(key="widen", title="Set filters to 77", params={"filters": 77}),
            ReportFix(key="move_away", title="Move it away"),
        ],
    )  # fmt: skip
    asked.answer(PreflightDone(id=1, report=report(problems=[problem])))
    (shown,) = page.report.problems._problems.values()
    assert [fix.title for fix in shown.fixes] == ["Use bfloat16", "Set filters to 77"]
    assert shown.message == "It is narrow. Move it away."
    for fix in shown.fixes:
        page.report.problems.fix_chosen.emit(fix)
    assert document.project.recipe.precision == "bfloat16"
    assert document.graph.nodes[node.id].params["filters"] == 77
    document.undo_stack.undo()
    assert document.graph.nodes[node.id].params["filters"] == filters


def test_a_batch_that_does_not_divide_is_not_taken_for_other_cores(page, asked):
    asked.answer(
        PreflightDone(id=1, report=report(per_core_batch=1, global_batch=15, suggested_batch=64))
    )
    assert page.use.text() == "Use batch 8 × 8 = 64"


def test_a_sweep_is_drawn_as_it_comes(page, asked):
    page.close_button.click()
    assert asked.cancelled == [1]
    page.start(sweep=True)
    points = [
        SweepPoint(per_core_batch=8, global_batch=64, memory=FITS, estimate=ESTIMATE),
        SweepPoint(per_core_batch=16, global_batch=128, problem="needs 35 GB of 16 GB"),
    ]
    for point in points:
        asked.answer(PreflightPoint(id=2, point=point))
    words = page.report.sweep.accessibleDescription()
    assert "batch 8: 301,000 images/s, 2.0 GB" in words
    assert "batch 16: needs 35 GB of 16 GB" in words
    asked.answer(PreflightDone(id=2, report=report(sweep=points, suggested_batch=64)))
    assert "batch 8: 301,000 images/s, 2.0 GB (chosen)" in page.report.sweep.accessibleDescription()


def test_a_failure_is_reported_and_late_answers_are_not(page, asked):
    asked.answer(Failed(id=1, error=ErrorParts(what="The worker has died.", fix="Try again.")))
    assert page.report.verdict.text() == "The worker has died. Try again."
    page.start()
    page.close_button.click()
    asked.answer(PreflightDone(id=2, report=report()))
    assert page.report.verdict.text() == ""


def test_the_menus_lead_to_it(cifar, asked):
    assert "preflight" in DIALOGS
    cifar.actions_by_key["preflight"].trigger()
    first = cifar.places.dialogs["preflight"]
    cifar.top.targets.asked.emit("preflight")
    assert cifar.places.dialogs["preflight"] is first
    assert len(asked.requests) == 1
    cifar.places.close()
    assert cifar.places.dialogs == {}


def test_a_real_worker_looks_at_the_network(cifar, qtbot):
    cifar.places.ask("preflight")
    page = cifar.places.dialogs["preflight"]
    qtbot.waitUntil(lambda: not page.is_looking, timeout=180_000)
    assert "v5e-8" in page.report.verdict.text()
    assert page.report.levels._states["lowering"].text() == "Passed"
    assert page.report.problems._problems
