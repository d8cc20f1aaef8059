"""How a table is to be read, as far as a person has set it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.core.params import BoolParam, ChoiceParam, Param, Params, TextParam, read_value
from workbench.core.projects.texts import split_keys
from workbench.pictures.encodings import ENCODINGS as FOUND

NONE = "none"
"""A split of no column; no words that mean a missing label."""
FOLDERS = "@folder"
"""The label, or the part, is the name of the folder that an image is in."""
INDICATORS = "@columns"
"""The label is the name of the one column that holds a 1."""

HEADERS = ("auto", "yes", "no")
DELIMITERS = {"auto": "", "comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
ENCODINGS = {
    "auto": "",
    **FOUND,
    "koi8-u": "KOI8-U, Ukrainian",
    "iso8859-2": "ISO 8859-2, central Europe",
    "cp1257": "Windows-1257, Baltic",
    "cp1258": "Windows-1258, Vietnamese",
    "euc_jp": "EUC-JP, Japanese",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
}
"""Encodings that can be chosen, with words for people."""

_AUTO = "automatic"


@dataclass(frozen=True)
class Given:
    """What a person has set; "" and "auto" where it is inferred.

    Attributes:
        image, label, split: Names or numbers (1 is the first) of columns. A label may be FOLDERS,
            INDICATORS or several columns with commas between them; a split FOLDERS or NONE.
        root: Where the paths start, relative to the folder of the table.
        header: Whether the first line names the columns: one of HEADERS.
        delimiter: A key of DELIMITERS.
        encoding: A key of ENCODINGS.
        missing: Words that mean a missing label, with commas between them; NONE for none.
        merge_case: Whether labels that differ in case only are one class.
    """

    image: str = ""
    label: str = ""
    split: str = ""
    root: str = ""
    header: str = "auto"
    delimiter: str = "auto"
    encoding: str = "auto"
    missing: str = ""
    merge_case: bool = False

    @staticmethod
    def of(params: Params) -> Given:
        """Out of the parameters of a data set; what is not there is inferred."""
        values = {param.key: params.get(param.key, param.default) for param in TABLE_PARAMS}
        return Given(**values)


def _text(key: str, title: str, words: str) -> TextParam:
    return TextParam(key, "", words, title=title, is_advanced=True)


def _choice(key: str, title: str, words: str, titles: dict[str, str]) -> ChoiceParam:
    titles = {"auto": _AUTO, **titles}
    choices = tuple(titles)
    return ChoiceParam(
        key, "auto", words, title=title, choices=choices, titles=titles, is_advanced=True
    )


TABLE_PARAMS: tuple[Param, ...] = (
    _text(
        "image",
        "Image column",
        "The name or number of the column with the files; empty: found by its name, its contents "
        "and the files that are there.",
    ),
    _text(
        "label",
        "Label column",
        "The name or number of the column with the classes; several columns of 0 and 1 with commas "
        f"between them; {FOLDERS} for the folder that an image is in; {INDICATORS} for all columns "
        "of 0 and 1; empty: found by its name and contents.",
    ),
    _text(
        "split",
        "Split column",
        "The name or number of the column with train, valid or test; none for no such column; "
        f"{FOLDERS} for the folders; empty: found by its name and contents.",
    ),
    _text(
        "root",
        "Root of the paths",
        "Where the paths start, from the folder of the table; empty: found by the files that are "
        "there.",
    ),
    _choice(
        "header",
        "Header",
        "Whether the first line names the columns.",
        {"yes": "the first line", "no": "none"},
    ),
    _choice(
        "delimiter",
        "Delimiter",
        "What is between two cells.",
        {key: key for key in DELIMITERS if key != "auto"},
    ),
    _choice(
        "encoding",
        "Encoding",
        "How the text is encoded.",
        {key: words for key, words in ENCODINGS.items() if words},
    ),
    _text(
        "missing",
        "Missing labels",
        "Words that mean that an image has no label, with commas between them; none for no word; "
        "empty: the usual ones (nan, NA, null, ?, -).",
    ),
    BoolParam(
        "merge_case",
        False,
        "Labels that differ in case only, such as Cat and cat, are one class.",
        title="Merge labels of other case",
        is_advanced=True,
    ),
)
"""The parameters that say how a table is read, all of them inferred by default."""


def table_and_settings(text: str) -> tuple[Path, Given]:
    """The table that a text names, and how it is to be read: "list.csv?label=breed".

    Raises:
        ParamError: a value is not allowed.
    """
    known = {param.key: param for param in TABLE_PARAMS}
    path, values = split_keys(text, known)
    return Path(path), Given.of({key: read_value(known[key], each) for key, each in values.items()})
