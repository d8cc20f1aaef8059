"""Each rule finds a planted breach, and nothing in what is allowed."""

from __future__ import annotations

import pytest

from tests.house import (
    contracts,
    errors,
    foreign,
    fragments,
    imports,
    outputs,
    sentences,
    sizes,
    words,
)
from tests.house.sources import Module, modules, read_modules


def module(name: str, text: str, *, is_package: bool = False) -> Module:
    path = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
    return Module(name, path, text)


@pytest.mark.parametrize(
    "text",
    [
        '"""What the user is told."""',
        "say('The colour cannot be read.')",
        "say(f'{number} pictures/s')",
        "say(f'{part} % of them')",
        "x = 1  # the courier waits",
    ],
)
def test_a_word_that_the_style_replaces_is_found(text):
    assert words.replaced_words([module("workbench.a", text)])[0].startswith("workbench/a.py:1: ")


@pytest.mark.parametrize(
    "text",
    [
        "licence = file.tell()",
        "print_json({'licence': text})",
        '"""The field `licence` of a file."""',
        "say(f'{part}% of them')",
        "words = '%d %s' % (1, 2)",
    ],
)
def test_stored_names_and_code_are_not_read_as_words(text):
    assert words.replaced_words([module("workbench.a", text)]) == []


def test_help_and_readme_follow_the_style():
    assert words.replaced_in_documents() == []


def test_a_word_in_a_help_page_is_found(tmp_path):
    (tmp_path / "README.md").write_text("The images, anew.\n")
    assert words.replaced_in_documents(tmp_path) == ["README.md: 'anew' (again)"]


@pytest.mark.parametrize(
    "text",
    [
        '"""Of a run: its folder."""',
        'def f():\n    """Of many classes the order takes a second."""',
        'def f():\n    """\n    Of many classes the order takes a second.\n    """',
        'MOST = 3\n"""Of a file, in bytes."""',
        'class A:\n    """A.\n\n    Attributes:\n        part, index: Of the image.\n    """',
        'def f(*rest):\n    """F.\n\n    Args:\n        *rest: Of all runs.\n    """',
        'class A:\n    """A.\n\n    Signals:\n        said(str, int): Of a run.\n    """',
    ],
)
def test_a_fragment_that_begins_with_of_is_found(text):
    (breach,) = fragments.of_fragments([module("workbench.a", text)])
    line = next(n for n, line in enumerate(text.split("\n"), start=1) if "Of " in line)
    assert breach.startswith(f"workbench/a.py:{line}: ")


@pytest.mark.parametrize(
    "text",
    [
        '"""Size of a file.\n\nOf several the largest counts.\n"""',
        'def f():\n    """Offset of a view."""',
        'say("Of the images, 3 are small.")',
        'class A:\n    """Such as this: Of Mice and Men."""',
        'class A:\n    """A.\n\n    Attributes:\n        part: Part.\n            Of all.\n    """',
    ],
)
def test_sentences_and_messages_are_no_fragments(text):
    assert fragments.of_fragments([module("workbench.a", text)]) == []


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    work()\nexcept Exception:\n    pass",
        "try:\n    work()\nexcept:\n    found = None",
        "try:\n    work()\nexcept (ValueError, BaseException):\n    print('failed')",
        "with suppress(Exception):\n    work()",
        "with contextlib.suppress(OSError, Exception):\n    work()",
    ],
)
def test_a_swallowed_error_is_found(body):
    assert errors.swallowed([module("workbench.a", body)])[0] == "workbench/a.py: the module"


def test_the_function_that_returns_none_for_any_error_is_found():
    text = "def read():\n    try:\n        work()\n    except Exception:\n        return None\n"
    assert "workbench/a.py: read" in errors.swallowed([module("workbench.a", text)])


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    work()\nexcept Exception as error:\n    failed(error)",
        "try:\n    work()\nexcept BaseException:\n    undo()\n    raise",
        "try:\n    work()\nexcept Exception:\n    log.exception('failed')",
        "try:\n    work()\nexcept OSError:\n    pass",
        "with suppress(OSError):\n    work()",
    ],
)
def test_an_error_that_is_looked_at_or_named_is_not(body):
    found = errors.swallowed([module("workbench.a", body)])
    assert not [line for line in found if line.startswith("workbench/a.py")]


@pytest.mark.parametrize(
    "call",
    [
        "path.read_text()",
        "path.read_text(encoding='utf-8')",
        "(folder / NAME).read_bytes()",
        "open(path)",
        "open(path, 'rb')",
        "path.open('rb')",
        "path.open(encoding='utf-8', newline='')",
        "os.open(path, os.O_RDONLY | os.O_CLOEXEC)",
        "np.load(path, allow_pickle=False)",
        "np.memmap(path, '<u4', 'r')",
        "zipfile.ZipFile(path)",
        "tarfile.open(path, 'r:*')",
    ],
)
def test_another_way_to_read_a_file_is_found(call):
    found = foreign.other_ways([module("workbench.a", f"def f(path):\n    return {call}\n")])
    assert [line.partition(": line")[0] for line in found] == ["workbench/a.py: f"]


@pytest.mark.parametrize(
    "call",
    [
        "open_foreign(path)",
        "path.open('wb')",
        "dialog.open()",
        "archive.open(member)",
        "clipboard.read_text(text)",
        "resource_path(name).read_text(encoding='utf-8')",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED)",
        "np.load(io.BytesIO(data))",
    ],
)
def test_the_one_way_and_writing_are_not(call):
    assert foreign.other_ways([module("workbench.a", f"x = {call}")]) == []


def test_each_exception_for_reading_is_needed():
    assert foreign.unused(modules()) == []


@pytest.mark.parametrize("text", ["csv.writer(out).writerow(cells)", "csv.DictWriter(out, names)"])
def test_a_second_writer_of_tables_is_found(text):
    assert outputs.table_writers([module("workbench.a", text)])
    assert outputs.table_writers([module("workbench.a", "csv.reader(lines)")]) == []
    assert outputs.table_writers([module(outputs.TABLES, text)]) == []


@pytest.mark.parametrize(
    "text", ["print(name)", "sys.stdout.write(name)", "Console().print(name)", "sys.stderr.buffer"]
)
def test_a_command_that_prints_on_its_own_is_found(text):
    assert outputs.terminal_writers([module("workbench.cli.a", text)])
    assert outputs.terminal_writers([module("workbench.cli.a", "print_text(name)")]) == []
    assert outputs.terminal_writers([module("workbench.worker.a", text)]) == []


def decisions_in(body: str, name: str = "workbench.gui.a") -> list[str]:
    """What the rule finds in a method of a panel, without the exceptions that it misses here."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    fields = (
        "        self.name, self.title = QLineEdit(), QLabel()\n        self.field = QLineEdit()\n"
    )
    text = f"class A:\n    def __init__(self):\n{fields}    def f(self, words: str):\n{lines}"
    return [
        line
        for line in sentences.decisions([module(name, text)])
        if not line.startswith("not so: ")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "if self.value.text() != NOTHING:\n    show()",
        "is_fitted = part and self.temperature.value.text() != '–'",
        "return False if self._empty.text() else 150",
        "while not self.title.toPlainText():\n    wait()",
        "kept = [row for row in rows if row.toolTip()]",
    ],
)
def test_a_decision_by_what_a_widget_shows_is_found(body):
    assert [line.partition(": line")[0] for line in decisions_in(body)] == ["gui/a.py: f"]
    assert decisions_in(body, "workbench.core.a") == []  # `text()` of anything


@pytest.mark.parametrize(
    "body",
    [
        "if words.startswith(('Epoch ', 'Queued')):\n    wait()",
        "return next(part for part in PARTS if f'({part.name})' in words)",
        "is_over = state_words(run) == 'Completed'",
        "shown = headline(run)\nif shown == ENDED:\n    close()",
        "try:\n    work()\nexcept OSError as error:\n    return 'label' in str(error)",
        "return re.search(r'[0-9]+', error.received)",
        "return self.outcome.reason in ('stopped', 'paused')",
    ],
)
def test_a_decision_by_the_wording_of_a_sentence_is_found(body):
    for name in ("workbench.gui.a", "workbench.core.a"):
        assert len(decisions_in(body, name)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "if self.field.text().strip():\n    find()",
        "if self.label.text() != words:\n    self.label.setText(words)",
        "if words == self.label.text():\n    return\nself.label.setText(words)",
        "self.label.setVisible(run.is_over)",
        "if words:\n    say(words)",
        "is_new = words != self._words",
        "return self.text(place) < other.text(place)",
        "return line.text()",
        "if run.kind == 'stopped' and title.startswith('a'):\n    show()",
    ],
)
def test_input_values_and_sparing_a_repaint_are_no_such_decisions(body):
    assert decisions_in(body) == []


def test_circles_are_found_also_where_only_types_are_imported():
    found = imports.circles(
        [
            module("workbench", "", is_package=True),
            module("workbench.a", "from workbench.b import thing"),
            module("workbench.b", "from workbench import c"),
            module("workbench.c", "if TYPE_CHECKING:\n    from workbench.a import Kind"),
            module("workbench.d", "import workbench.a"),
        ]
    )
    assert found == ["workbench.a <-> workbench.b <-> workbench.c"]


def test_private_modules_and_names_stay_in_their_package():
    inner = "from workbench.a._tools import saw\nfrom workbench.a.b import _plane"
    outer = "from workbench.a import _tools\nfrom workbench.a.b import _plane, nail, __version__"
    found = imports.private_imports(
        [
            module("workbench.a", "", is_package=True),
            module("workbench.a.c", inner),
            module("workbench.a.deep.e", inner),
            module("workbench.d", outer),
        ]
    )
    assert found == [
        "workbench/d.py:1: workbench.a._tools",
        "workbench/d.py:2: workbench.a.b._plane",
    ]


def test_blank_lines_do_not_count():
    assert sizes.long_files([module("workbench.a", "x = 1\n\n" * 500)]) == []
    assert sizes.long_files([module("workbench.a", "x = 1\n" * 501)]) == [
        "workbench/a.py: 501 lines"
    ]


def test_a_small_module_that_one_other_imports_is_found():
    small, user = module("workbench.a.small", "X = 1\n"), "from workbench.a.small import X\n"
    users = [module(f"workbench.a.user{number}", user) for number in range(2)]
    assert sizes.crumbs([small, users[0]]) == ["workbench/a/small.py: 1 lines"]
    assert sizes.crumbs([small, *users]) == []
    assert sizes.crumbs([module(small.name, "X = 1\n" * 40), users[0]]) == []
    assert sizes.crumbs([module(small.name, "SPEC = X = 1\n"), users[0]]) == []


def test_imports_are_counted_by_lines():
    text = "from a import (\n    b,\n    c,\n)\nimport d\n\nx = 1\ny = 2\nz = 3\n"
    assert sizes.share_of_imports([module("workbench.a", text)]) == 5 / 8


def test_a_long_function_is_found():
    text = "class A:\n    def f(self):\n" + "        x = 1\n" * 40
    assert sizes.long_functions([module("workbench.a", text)]) == ["workbench/a.py: f"]
    assert sizes.long_functions([module("workbench.a", text[:-14])]) == []


def test_folders_of_plug_ins_may_be_large():
    many = range(21)
    plain = [module(f"workbench.a.m{number}", "") for number in many]
    layers = [module(f"workbench.b.m{number}", "SPEC = 1") for number in many]
    commands = [module(f"workbench.c.m{number}", 'NAME = ""\nHELP: str = ""') for number in many]
    assert sizes.large_folders([*plain, *layers, *commands]) == ["workbench.a: 21 modules"]


def test_contracts_name_each_package(tmp_path):
    for name in ("core/training", "core/storage", "gui", "worker"):
        folder = tmp_path / "workbench" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    for name in ("__init__", "app", "__main__", "core/__init__", "core/format"):
        (tmp_path / "workbench" / f"{name}.py").touch()
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        """
[[tool.importlinter.contracts]]
name = "Floors"
type = "layers"
layers = ["workbench.app", "workbench.gui | workbench.cellar"]

[[tool.importlinter.contracts]]
name = "Rooms of core"
type = "layers"
layers = ["workbench.core.training"]

[[tool.importlinter.contracts]]
name = "Qt only in the window"
type = "forbidden"
source_modules = ["workbench.core"]
"""
    )
    assert contracts.gaps(read_modules(tmp_path), pyproject) == [
        "Floors: without workbench.core",
        "Floors: without workbench.worker",
        "Floors: workbench.cellar is not there",
        "Rooms of core: without workbench.core.storage",
        "Qt only in the window: without workbench.worker",
    ]
