"""Decisions that are read from text made for people: a new wording would change what is done.

Counted in conditions are:

1. What a widget of the window shows, read back. What a person types is input; and an early return
   or an `if` that only spares setting the same text again decides nothing.
2. A sentence of ours whose wording is looked at: a result of `*_words()` or `headline()`, an error's
   message, or text named `words`, `reason`, `message` or `sentence`, compared with a literal or a
   constant, or searched by `in`, `startswith` or a regular expression. Whether there is a sentence,
   and whether it is another than before, are no questions about its wording.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.house.sources import Module

_SHOWN = {"currentText", "itemText", "text", "title", "toPlainText", "toolTip", "windowTitle"}
"""Methods of Qt that return what is shown."""
_INPUTS = {"QLineEdit", "QPlainTextEdit", "QTextEdit"}

_MAKERS = ("_words", "_sentence", "headline", "sentence")
"""Ends of the names of functions that return a sentence."""
_SENTENCES = {"message", "reason", "sentence", "words"}
_OF_ERROR = {"expected", "fix", "received", "what"}
_SEARCHES = {"count", "endswith", "find", "index", "startswith"}
_PATTERNS = {"fullmatch", "match", "search"}

_OTHERS = "the message is of another program, which says it by words alone"
_TWICE = "only whether the text that is made would say the same thing twice"

ALLOWED = {
    "gui/forms/param_form.py: _reject": _TWICE,
    "remote/ssh/saved_hosts.py: choice_line": _TWICE,
    "parts.py: part_to_install": "a command, whole and as it would be run, and not the words around it",
    "pictures/portable/decoding.py: _failures": _OTHERS,
    "worker/cluster/members.py: explained": _OTHERS,
    "worker/process/failure.py: is_out_of_memory": _OTHERS,
    "worker/requests/exporting/converter.py: _place": _OTHERS,
}
"""By file below `workbench/` and function: why wording must be looked at there."""


def decisions(modules: Sequence[Module]) -> list[str]:
    """Conditions that read a sentence, and exceptions that nothing needs."""
    found = [each for module in modules for each in _found(module)]
    hits = [f"{place}: line {line}: {code}" for place, line, code in found if place not in ALLOWED]
    return hits + [f"not so: {each}" for each in sorted(ALLOWED.keys() - {at for at, *_ in found})]


def _found(module: Module) -> Iterator[tuple[str, int, str]]:
    """(file and function, line, code) of each decision."""
    path, inputs = module.path.removeprefix("workbench/"), _inputs(module.tree)
    for function in ast.walk(module.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            sentences = _sentences(function)
            for node in _own_nodes(function):
                is_read = path.startswith("gui/") and _reads_back(node, inputs)
                if is_read or _looks_at_wording(node, sentences):
                    line = getattr(node, "lineno", function.lineno)
                    yield f"{path}: {function.name}", line, ast.unparse(node)[:90]


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a function without those of functions in it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _own_nodes(node)


# what a widget shows -------------------------------------------------------------------------


def _reads_back(node: ast.AST, inputs: set[str]) -> bool:
    """Whether a condition of this node itself reads what a widget shows."""
    if isinstance(node, ast.If) and _spares_setting(node):
        return False
    conditions: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        conditions = [node.test]
    elif isinstance(node, ast.Match):
        conditions = [node.subject]
    elif isinstance(node, ast.comprehension):
        conditions = node.ifs
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Return | ast.keyword):
        conditions = [*_logic_in(node.value)]
    return any(_is_shown(each, inputs) for test in conditions for each in ast.walk(test))


def _logic_in(value: ast.expr | None) -> Iterator[ast.expr]:
    """Comparisons, negations and bool() within a value; sorting by a text decides nothing else."""
    for node in ast.walk(value) if value is not None else ():
        is_bool = isinstance(node, ast.Call) and _name(node.func) == "bool"
        is_order = isinstance(node, ast.Compare) and isinstance(node.ops[0], _ORDER)
        if is_bool or (isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) and not is_order):
            yield node


_ORDER = ast.Lt | ast.LtE | ast.Gt | ast.GtE


def _is_shown(node: ast.AST, inputs: set[str]) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    return node.func.attr in _SHOWN and _name(node.func.value) not in inputs


def _spares_setting(node: ast.If) -> bool:
    """`if label.text() != text:` before that same text is set: what is shown stays what it was."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq)):
        return False
    is_return = len(node.body) == 1 and isinstance(node.body[0], ast.Return)
    is_setting = any(
        isinstance(each, ast.Call) and _name(each.func).startswith(("set", "clear"))
        for statement in node.body
        for each in ast.walk(statement)
    )
    return is_setting or (is_return and isinstance(test.ops[0], ast.Eq))


def _inputs(tree: ast.Module) -> set[str]:
    """Names of what a person types into, in a module: made by Qt's input classes or by a function
    that returns one, annotated with one, known to be one; or `self` in a class of one.
    """
    makers = set(_INPUTS)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            makers |= {node.name} if _is_input(node.returns) else set()
    found = {"lineEdit", "clipboard", "mime", "event"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _makes(node.value, makers):
            found |= {_name(target) for target in node.targets}
        elif isinstance(node, ast.arg | ast.AnnAssign) and _is_input(node.annotation):
            found.add(node.arg if isinstance(node, ast.arg) else _name(node.target))
        elif isinstance(node, ast.Call) and _name(node.func) == "isinstance":
            found |= {_name(node.args[0])} if _is_input(node.args[1]) else set()
        elif isinstance(node, ast.ClassDef) and any(map(_is_input, node.bases)):
            found.add("self")
    return found


def _is_input(kind: ast.expr | None) -> bool:
    return kind is not None and any(_name(each) in _INPUTS for each in ast.walk(kind))


def _makes(value: ast.expr, makers: set[str]) -> bool:
    return isinstance(value, ast.Call) and _name(value.func) in makers


# the wording of a sentence -------------------------------------------------------------------


def _sentences(function: ast.AST) -> set[str]:
    """Names in a function that stand for one sentence."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node.arg in _SENTENCES and _name(node.annotation) == "str":
            found.add(node.arg)
        elif isinstance(node, ast.Assign) and _is_sentence(node.value, found):
            found |= {_name(target) for target in node.targets}
        elif isinstance(node, ast.NamedExpr) and _is_sentence(node.value, found):
            found.add(_name(node.target))
    return found - {""}


def _is_sentence(node: ast.AST, sentences: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in sentences
    if isinstance(node, ast.Attribute):
        is_message = node.attr in _OF_ERROR and _name(node.value) in {"error", "fault"}
        return is_message or node.attr in _SENTENCES
    if isinstance(node, ast.Call):
        is_error = _name(node.func) == "str" and any(_name(each) == "error" for each in node.args)
        return is_error or _name(node.func).endswith(_MAKERS)
    return False


def _looks_at_wording(node: ast.AST, sentences: set[str]) -> bool:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            is_member = _is_sentence(left, sentences) and isinstance(right, _LISTS)
            return is_member or _is_sentence(right, sentences)
        pairs = ((left, right), (right, left))
        return any(_is_sentence(one, sentences) and _is_text(other) for one, other in pairs)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if node.func.attr in _SEARCHES:
        return _is_sentence(node.func.value, sentences)
    of_pattern = node.func.attr in _PATTERNS
    return of_pattern and any(_is_sentence(each, sentences) for each in node.args)


_LISTS = ast.Tuple | ast.List | ast.Set | ast.Dict


def _is_text(node: ast.AST) -> bool:
    """A literal that is not empty, or a constant."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(node.value)
    return isinstance(node, ast.JoinedStr) or (bool(name := _name(node)) and name.isupper())


def _name(node: ast.AST | None) -> str:
    """The last name of `a.b.name`, of the call of it, or of what an annotation names."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
