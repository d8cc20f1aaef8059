"""The commands that need no TensorFlow, run in this process."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.small_projects import project_without_folder
from workbench.cli import _commands, _parser, _service, main
from workbench.cli import train as train_command
from workbench.core.projects.project_file import save_project
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import UsageError
from workbench.runs.home import runs_home


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "fashion.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    return path


def _json_lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_templates_lists_the_published_networks(capsys):
    assert main(["templates", "--json"]) == 0
    lines = _json_lines(capsys)
    assert {line["images"] for line in lines} == {"images included", "downloads 170 MB"}
    assert [line["key"] for line in lines if "test images" in line["differs"]] == [
        "cifar10_convnet"
    ]
    sizes = {line["key"]: line["parameters"] for line in lines}
    assert sizes["cifar10_convnet"] == 1_676_982
    assert sizes["fashion_convnet"] == 108_810
    assert sizes["flowers_gap"] == 300_033


def test_check_gives_the_fields_that_programs_rely_on(project, capsys):
    capsys.readouterr()
    assert main(["check", str(project), "--json", "--batch", "32"]) == 0
    (answer,) = _json_lines(capsys)
    assert {"ok", "parameters", "trainable_parameters", "multiply_adds", "nodes"} <= set(answer)
    assert answer["ok"] is True
    assert answer["parameters"] == 108_810
    assert answer["nodes"][0]["output_shape"] == [28, 28, 1]
    assert set(answer["nodes"][0]) == {"id", "kind", "name", "output_shape", "parameters"}


def test_check_has_one_line_for_a_group_of_layers(tmp_path, capsys):
    file = tmp_path / "transfer.workbench"
    assert main(["new", "flowers_transfer", str(file)]) == 0
    capsys.readouterr()
    assert main(["check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (group,) = [line for line in lines if "EfficientNet-Lite0" in line]
    assert group.split()[1:5] == ["142", "layers,", "142", "frozen"]
    assert len(lines) < 10
    assert main(["check", str(file), "--layers"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(lines) + 141


def test_check_names_both_layers_of_a_problem_and_fails(project, capsys):
    plain = json.loads(project.read_text())
    flatten = next(node for node in plain["graph"]["nodes"] if node["kind"] == "flatten")
    flatten["kind"] = "relu"
    project.write_text(json.dumps(plain))
    capsys.readouterr()
    assert main(["check", str(project), "--json"]) == 1
    (answer,) = _json_lines(capsys)
    errors = [problem for problem in answer["problems"] if problem["severity"] == "error"]
    assert errors
    assert all({"node", "severity", "message", "fixes"} <= set(problem) for problem in errors)


def test_check_counts_the_replicas_that_share_a_batch(project, capsys):
    plain = json.loads(project.read_text())
    plain["target"] = {"key": "virtual", "params": {"replicas": 8}}
    project.write_text(json.dumps(plain))
    capsys.readouterr()
    assert main(["check", str(project), "--json", "--batch", "1020"]) == 0  # a warning only
    (answer,) = _json_lines(capsys)
    (problem,) = [one for one in answer["problems"] if "not divisible" in one["title"]]
    titles = [fix["title"] for fix in problem["fixes"]]
    assert titles == ["Set the batch size to 1,016", "Set the batch size to 1,024"]


def test_new_keeps_what_is_there(project, capsys):
    before = project.read_bytes()
    assert main(["new", "lenet5", str(project)]) == 2
    assert project.read_bytes() == before
    assert "--force" in capsys.readouterr().err


def test_a_misspelt_template_is_reported_with_similar_names(tmp_path, capsys):
    assert main(["new", "fashion_convent", str(tmp_path / "x.workbench")]) == 2
    assert "fashion_convnet" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"format": "workbench-project"}'])
def test_a_damaged_project_is_reported_as_json_and_left_alone(tmp_path, capsys, content):
    path = tmp_path / "damaged.workbench"
    path.write_bytes(content)
    assert main(["check", str(path), "--json"]) == 3
    (answer,) = _json_lines(capsys)
    assert set(answer["error"]) == {"what", "where", "received", "expected", "fix"}
    assert str(path) in answer["error"]["where"]
    assert path.read_bytes() == content


def test_runs_says_where_runs_will_be(capsys):
    assert main(["runs"]) == 0
    assert "No runs yet" in capsys.readouterr().err


def test_targets_names_this_computer(capsys):
    assert main(["targets", "--json"]) == 0
    assert "this_computer" in [line["key"] for line in _json_lines(capsys)]


def test_train_refuses_a_wrong_number_with_its_bounds(project, capsys):
    assert main(["train", str(project), "--epochs", "0", "--json"]) == 2
    answer = _json_lines(capsys)[-1]
    assert answer["error"]["received"] == "0"


def test_train_takes_any_value_of_the_recipe(project):
    parser = argparse.ArgumentParser()
    train_command.add_arguments(parser)
    words = ["--set", "schedule=one_cycle", "--set", "clip_norm=1", "--epochs", "3"]
    recipe = train_command.project_for(parser.parse_args([str(project), *words])).recipe
    assert (recipe.schedule, recipe.clip_norm, recipe.epochs) == ("one_cycle", 1.0, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour=red", "optimizer"),
        ("schedule=sine", "cosine"),
        ("clip_norm=0", "a number above 0"),
        ("clip_norm", "KEY=VALUE"),
    ],
)
def test_train_refuses_a_wrong_value_of_the_recipe(project, capsys, text, words):
    assert main(["train", str(project), "--set", text, "--json"]) == 2
    assert words in capsys.readouterr().out


def test_train_refuses_a_network_with_problems(project, capsys):
    plain = json.loads(project.read_text())
    plain["graph"]["edges"].pop()
    project.write_text(json.dumps(plain))
    assert main(["train", str(project)]) == 3
    assert "workbench fix" in capsys.readouterr().err


def test_a_project_without_its_images_is_a_problem_and_leaves_no_run(tmp_path, capsys):
    path = tmp_path / "flowers.workbench"
    save_project(project_without_folder(), path)
    assert main(["check", str(path), "--json"]) == 1
    (answer,) = _json_lines(capsys)
    assert answer["ok"] is False
    assert answer["problems"][0]["title"] == "No data"
    assert answer["problems"][0]["severity"] == "error"
    assert answer["problems"][0]["fixes"] == [{"key": "choose_path", "title": "Choose a folder…"}]
    for command in (["train", str(path)], ["queue", "add", str(path)]):
        assert main(command) == 3
        assert "--data folder:" in capsys.readouterr().err
    assert not list(runs_home().glob("*"))


def test_stop_of_an_unknown_run_is_reported(capsys):
    assert main(["stop", "no-such-run"]) == 3
    assert "no-such-run" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["check"], ["data", "check"], ["stop", "--no-such-option"]],
)
def test_wrong_words_exit_with_two_and_are_reported_as_json_too(words, capsys):
    assert main(words) == 2
    assert "usage" not in capsys.readouterr().out
    assert main([*words, "--json"]) == 2
    assert "workbench" in _json_lines(capsys)[-1]["error"]["expected"]


def test_a_mistyped_command_is_named_whatever_follows_it(capsys):
    assert main(["chek", "c.workbench", "--batch", "3"]) == 2
    assert "workbench check" in capsys.readouterr().err


def test_every_argument_of_every_command_has_a_help_text():
    without = list(_without_help(_parser(_commands()), "workbench"))
    assert without == []


def _without_help(parser, name):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for key, command in action.choices.items():
                yield from _without_help(command, f"{name} {key}")
        elif not action.help:
            yield name, action.dest


def _leaves(parser, name=""):
    """Every command without commands of its own: its name and its parser."""
    commands = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for each in commands:
        for key, command in each.choices.items():
            yield from _leaves(command, f"{name} {key}".strip())
    if not commands or not commands[0].required:
        yield name, parser


def _word(action):
    """One that it takes."""
    if action.choices:
        return str(next(iter(action.choices)))
    return "f1" if action.option_strings == ["--threshold"] else "1"


def _words(parser, empty=None):
    """What a command needs, with a word for each argument, and perhaps an empty one."""
    for each in parser._actions:
        word = "" if each is empty else _word(each)
        if each.option_strings and (each.required or each is empty):
            yield from (each.option_strings[-1], word)
        elif not each.option_strings and each.nargs != argparse.PARSER:
            yield word


def test_no_argument_of_a_command_may_be_empty_but_where_that_means_something():
    taken = []
    for name, parser in _leaves(_parser(_commands())):
        for action in parser._actions:
            if action.nargs not in {0, argparse.PARSER}:
                with suppress(UsageError):
                    parser.parse_args(list(_words(parser, action)))
                    taken.append(f"{name} {action.dest}")
    assert taken == ["host rename name", "runs rename title", "runs note text", "runs filter"]


def test_an_empty_image_is_not_the_current_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo.jpg").write_bytes(b"kept")
    words = ["classify", "1", "", "--move-into", "moved", "--yes", "--json"]
    assert main(words) == 2
    (answer,) = _json_lines(capsys)
    assert answer["error"]["what"] == "IMAGE is empty."
    assert '"."' in answer["error"]["fix"]
    assert [each.name for each in tmp_path.iterdir()] == ["photo.jpg"]


def test_options_may_stand_between_the_other_arguments_of_every_command():
    for name, parser in _leaves(_parser(_commands())):
        words = list(_words(parser))
        for action in parser._actions:
            option = action.option_strings[-1:]
            if not option or action.required or action.dest == "help" or action.nargs == 0:
                continue
            given = [*option, _word(action)]
            first = vars(parser.parse_args([*given, *words]))
            for at in range(1, len(words) + 1):
                mixed = [*words[:at], *given, *words[at:]]
                if not words[at - 1].startswith("--"):
                    assert vars(parser.parse_args(mixed)) == first, (name, mixed)


@pytest.mark.parametrize("text", ["1e9", "nan", "abc", "", "0", "-1", "1.5"])
def test_the_bounds_of_a_setting_are_named_whatever_is_typed(project, capsys, text):
    capsys.readouterr()
    for words in (["train", str(project), "--epochs"], ["check", str(project), "--batch"]):
        assert main([*words, text, "--json"]) == 2
        (answer,) = _json_lines(capsys)
        assert "a whole number from 1 to " in answer["error"]["expected"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["classify", "1", "a.jpg", "--top", "-1"], "a whole number from 0"),
        (["evaluate", "1", "--top", "0"], "a whole number from 1"),
        (["cross-validate", "p", "--folds", "many"], "a whole number"),
        (["fix", "p", "first"], "a whole number"),
    ],
)
def test_what_is_no_number_is_refused_by_the_numbers_that_may_be(words, expected, capsys):
    assert main([*words, "--json"]) == 2
    (answer,) = _json_lines(capsys)
    assert (answer["error"]["expected"], answer["error"]["received"]) == (expected, words[-1])


def test_an_option_without_its_value_takes_no_argument_for_it(capsys):
    for words in (
        ["1", "a.jpg", "--top"],
        ["1", "--top", "--json", "a"],
        ["1", "--top", "--", "a"],
    ):
        assert main(["classify", *words]) == 2
        assert "expected one argument" in "".join(capsys.readouterr())


def test_words_behind_two_dashes_are_no_options():
    parser = dict(_leaves(_parser(_commands())))["classify"]
    found = parser.parse_args(["1", "--top", "2", "a.jpg", "--", "--json", "-b.jpg"])
    assert (found.model, found.images) == ("1", ["a.jpg", "--json", "-b.jpg"])
    assert (found.top, found.json) == (2, False)


def test_listing_commands_show_their_subcommand_as_optional(capsys):
    for command in ("runs", "queue"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "[COMMAND]" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["check"], ["data", "check"]])
def test_the_help_of_a_check_names_its_exit_codes(words, capsys):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Exit code: 0" in text
    assert ", 1 " in text


def test_the_help_of_train_lists_sources_and_settings(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert all(source in text for source in ("cifar100", "folder:PATH", "npz:PATH"))
    assert all(f"  {param.key} " in text for param in RECIPE_PARAMS)


def test_a_word_that_is_no_command_and_no_project_is_reported_with_similar_names(capsys):
    assert main(["clasify"]) == 2
    assert "workbench classify" in capsys.readouterr().err


def test_without_a_display_the_window_is_refused_in_words(project, capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([str(project)]) == 2
    assert "No display" in capsys.readouterr().err


_WINDOW = """
import sys
from workbench.cli import main
print(main(sys.argv[1:]), *(name for name in sys.modules if name.startswith("workbench.cli.")))
"""


@pytest.mark.parametrize("has_project", [True, False])
def test_the_window_does_not_wait_for_the_code_of_other_commands(project, has_project):
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    }
    words = [str(project)] if has_project else []
    command = [sys.executable, "-c", _WINDOW, *words]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    code, *modules = done.stdout.split()
    assert code == "2"  # there is no display
    own = {name for name in modules if not name.startswith("workbench.cli._")}
    assert own == {"workbench.cli.gui"}


def test_templates_name_their_data_sets_to_people(capsys):
    assert main(["templates"]) == 0
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "cifar10_conv" in each]
    assert line.split()[1:3] == ["1,676,982", "cifar10"]


def test_a_run_that_is_not_there_is_reported_before_images_are_listed(tmp_path, capsys):
    assert main(["classify", "run", str(tmp_path), "--json"]) == 3
    (line,) = _json_lines(capsys)
    assert line["error"]["where"] == str(runs_home())


def test_counts_are_printed_now_and_then_and_steps_at_once(monkeypatch):
    now = 100.0
    monkeypatch.setattr(_service.time, "monotonic", lambda: now)
    news = _service._News()
    printed = []
    for tick in range(60):
        now = 100.0 + tick / 10
        text = "Listing" if tick < 5 else f"Unpacking: {tick} of 60 MB"
        printed += [text] if news.is_worth_printing(text) else []
    assert printed == ["Listing", *(f"Unpacking: {tick} of 60 MB" for tick in (5, 25, 45))]


def test_check_predicts_the_epoch_and_names_a_batch_that_fits(project, capsys):
    assert main(["check", str(project), "--json"]) == 0
    prediction = json.loads(capsys.readouterr().out)["prediction"]
    assert prediction["fits"] is True
    assert prediction["epoch_s"] > 0
    assert prediction["num_runs"] == 0
    assert main(["check", str(project), "--json", "--batch", "65536"]) == 0
    larger = json.loads(capsys.readouterr().out)["prediction"]
    assert larger["memory_bytes"] > prediction["memory_bytes"]


@pytest.mark.parametrize(
    "words", [["a,b", "--machine", "1"], ["a,b", "--machine", "3"], ["a", "--machine", "2"]]
)
def test_join_refuses_what_is_no_other_machine(words, capsys):
    assert main(["join", *words]) == 2
    assert "machine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["report", "no-run"], "f.html"),
        (["explain", "no-run", "image.png"], "f.png"),
        (["map", "no-run"], "f.csv"),
        (["feature-maps", "no-run", "image.png"], "f.csv"),
    ],
)
def test_a_file_to_write_is_the_last_word_or_behind_o(words, name, capsys):
    for given in ([name], ["-o", name], ["--out", name]):
        assert main([*words, *given]) == 3
        assert "no-run" in capsys.readouterr().err
    assert main([*words, name, "-o", "other"]) == 2
    assert "Two files to write are given." in capsys.readouterr().err


def test_a_report_needs_a_file(capsys):
    assert main(["report", "no-run"]) == 2
    assert "The file to write is missing." in capsys.readouterr().err
