"""`workbench preflight`: the JSON that programs rely on, exit codes; real lowering."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from workbench.cli import main
from workbench.core.checks.fixes import insert_before
from workbench.core.network.graph import Node
from workbench.core.projects.project_file import project_text
from workbench.protocol.messages import Cancel, Failed
from workbench.protocol.preflight import Preflight, PreflightStage
from workbench.protocol.service_call import ServiceCall
from workbench.templates import find_template

FIELDS = {
    "ok", "tpu", "level", "verdict", "per_core_batch", "global_batch", "problems", "memory",
    "estimate",
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "lenet.workbench"
    assert main(["new", "lenet5", str(path)]) == 0
    return path


def report_of(capsys):
    (line,) = capsys.readouterr().out.splitlines()
    return json.loads(line)


def changed(project, **recipe):
    plain = json.loads(project.read_text())
    plain["recipe"].update(recipe)
    project.write_text(json.dumps(plain))
    return project


def test_rules_alone_give_all_fields_with_null_for_what_did_not_run(project, capsys):
    capsys.readouterr()
    words = ["preflight", str(project), "--tpu", "v5e-8", "--batch", "1024", "--level", "rules"]
    assert main([*words, "--json"]) == 0
    report = report_of(capsys)
    assert set(report) >= FIELDS
    assert (report["ok"], report["tpu"], report["level"]) == (True, "v5e-8", "rules")
    assert (report["per_core_batch"], report["global_batch"]) == (128, 1024)
    assert (report["memory"], report["estimate"]) == (None, None)
    assert "hecked by rules only" in report["verdict"]


def test_problems_have_the_fields_of_check_and_set_the_exit_code(project, capsys):
    capsys.readouterr()
    words = ["preflight", str(project), "--tpu", "v5e-8", "--batch", "4", "--level", "rules"]
    assert main([*words, "--json"]) == 1
    report = report_of(capsys)
    assert report["ok"] is False
    problem = report["problems"][0]
    assert set(problem) >= {"node", "severity", "message", "fixes"}
    assert set(problem["fixes"][0]) >= {"key", "title"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--tpu", "v9"], 2),
        (["--tpu", "v5e-3"], 2),
        ([], 2),
        (["--tpu", "v5e", "--batch", "0"], 2),
        (["--tpu", "v5e", "--level", "hope"], 2),
        (["--tpu", "tpu7x", "--level", "rules"], 1),
    ],
)
def test_wrong_words_and_refusals_have_their_exit_codes(project, capsys, words, code):
    assert main(["preflight", str(project), *words, "--json"]) == code


def test_people_get_the_verdict_on_stdout_and_remarks_on_stderr(project, capsys):
    capsys.readouterr()
    changed(project, precision="float32")
    words = ["preflight", str(project), "--tpu", "v3-8", "--batch", "1000", "--level", "rules"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "v3-8 (4 chips, 8 cores)" in captured.out
    assert "bfloat16" in captured.err
    assert "fix: Set the batch to" in captured.err


@pytest.mark.worker
def test_lowering_runs_where_the_compiler_is_missing(project, capsys):
    capsys.readouterr()
    assert main(["preflight", str(project), "--tpu", "v2-8", "--json"]) == 0
    report = report_of(capsys)
    assert (report["ok"], report["level"], report["memory"]) == (True, "lowering", None)
    assert "owered by XLA on this computer" in report["verdict"]


@pytest.mark.worker
def test_a_layer_that_no_tpu_can_compile_is_named_with_a_fix(tmp_path, capsys):
    project = find_template("lenet5").project
    conv = next(node.id for node in project.graph.nodes.values() if node.kind == "conv2d")
    values = {"height": 28, "width": 28, "interpolation": "lanczos3"}
    # Behind the first convolution: in the model, not in the input pipeline.
    after = project.graph.targets(conv)[0]
    graph = insert_before(project.graph, after, Node("big", "resizing", "bigger", values))
    path = tmp_path / "resized.workbench"
    path.write_text(project_text(replace(project, graph=graph)))
    assert main(["preflight", str(path), "--tpu", "v5e-8", "--level", "lowering", "--json"]) == 1
    report = report_of(capsys)
    assert (report["ok"], report["level"]) == (False, "lowering")
    assert report["problems"][0]["node"] == "big"
    assert report["problems"][0]["fixes"]


@pytest.mark.parametrize(
    "wrong", [{"tpu": "v9; touch x"}, {"batch": -3}, {"project": "{"}, {"project": "[]"}]
)
def test_wrong_requests_are_refused_by_the_worker_too(wrong):
    text = project_text(find_template("lenet5").project)
    values = {"id": 1, "project": text, "tpu": "v5e-8", "level": "rules", **wrong}
    with ServiceCall() as service:
        answers = list(service.answers(Preflight(**values)))
    assert [type(answer) for answer in answers if answer.id == 1] == [Failed]


@pytest.mark.worker
def test_a_cancel_is_obeyed_while_a_step_is_lowered():
    text = project_text(find_template("small_resnet").project)
    request = Preflight(id=1, project=text, tpu="v5e-8", level="lowering")
    with ServiceCall() as service:
        answers = []
        for answer in service.answers(request):
            answers.append(answer)
            if isinstance(answer, PreflightStage) and answer.level == "lowering":
                service.send(Cancel(id=2, target=1))
    assert isinstance(answers[-1], Failed)
    assert "Canceled" in answers[-1].error.what
