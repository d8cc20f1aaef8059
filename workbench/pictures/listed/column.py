"""One column of a table: its name, and what its cells are."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.core.format import list_text, plain_name
from workbench.core.outside_text import folded
from workbench.core.specs import Option
from workbench.errors import DatasetError
from workbench.pictures.folders import ENDINGS

# names ---------------------------------------------------------------------------------------
# The usual names of columns in tables of images, and the usual words for parts.


def squeezed(name: str) -> str:
    """A name without case, accents, spaces and marks: "Image Name", "imageName" -> "imagename"."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = (c for c in plain if c.isalnum() or c in "\u3099\u309a")
    return unicodedata.normalize("NFC", "".join(letters))


_EXPLICIT_LABELS = (
    "label", "labels", "class", "classes", "classname", "classnames", "classlabel", "classlabels",
    "labelname", "labelnames", "labeltext", "labelstr", "category", "categories", "categoryname",
    "target", "targets", "targetname", "truelabel", "trueclass", "groundtruth", "gt", "truth",
    "ytrue", "imagelabel", "imageclass", "findinglabel", "findinglabels", "actual",
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish, Turkish, Swedish
    "klasse", "klassen", "klassenname", "kategorie", "etikett", "classe", "categorie", "etiquette",
    "clase", "clases", "categoria", "etiqueta", "rotulo", "etichetta", "klas", "categorienaam",
    "klasa", "etykieta", "kategoria", "sinif", "etiket", "kategori", "klass", "etykiet",
    # Russian, Chinese, Japanese, Korean
    "класс", "метка", "категория", "类别", "类", "标签", "種類", "分类", "分類", "类别名称", "標籤",
    "ラベル", "クラス", "カテゴリ", "カテゴリー", "클래스", "라벨", "레이블", "카테고리",
)  # fmt: skip
"""Names that mean a label and nothing else, the best first."""

_LABELS = (
    "species", "speciesname", "breed", "diagnosis", "dx", "disease", "diseasename", "variety",
    "cultivar", "tag", "tags", "scientificname", "latinname", "commonname", "vernacularname",
    "celltype", "cellname", "condition", "finding", "findings", "pathology", "lesion", "tumortype",
    "plant", "plantname", "flower", "flowername", "animal", "bird", "birdname", "fruit", "food",
    "dish", "weather", "scene", "emotion", "expression", "sentiment", "digit",
    "character", "letter", "symbol", "sign", "gesture", "brand", "landmarkid", "identity",
    "individual", "individualid", "whaleid", "personid", "defect", "defecttype", "grade", "level",
    "severity", "quality", "material", "style", "artist", "genre", "articletype", "answer",
    "annotation", "output", "y", "kind", "type", "genus", "family", "art", "sorte", "espece",
    "especie",
    "soort", "gatunek", "tur", "вид", "сорт", "品种", "名称", "품종", "種",
)  # fmt: skip
"""Names that often mean the label, the best first."""

_LABEL_NUMBERS = (
    "classid", "classids", "labelid", "labelids", "categoryid", "targetid", "speciesid", "breedid",
    "classidx", "labelidx", "classindex", "labelindex", "classnumber", "labelnumber", "classno",
    "classnum", "labelnum", "labelcode", "classcode", "labelencoded", "encodedlabel",
    "targetencoded",
)  # fmt: skip
"""Names of numbers that stand for labels."""

_WEAK_LABELS = ("name", "title", "object", "group", "nom", "nombre", "nome", "naam", "имя",
"gender",
                "sex")  # fmt: skip

LABEL_RANKS = {
    squeezed(name): rank
    for rank, names in enumerate((_EXPLICIT_LABELS, _LABELS, _LABEL_NUMBERS, _WEAK_LABELS))
    for name in names
}
"""How well a name fits a label: 0 means nothing else, 3 is a last resort."""
LABEL_STEMS = ("label", "class", "categor", "klasse", "kategor", "diagnos")
"""Pieces of the names of columns that are labels, too: "label_corrected", "class2"."""
WEAK_RANK = 3
"""The last resort: other columns are as likely."""
LABEL_ORDER = {name: place for place, name in enumerate(LABEL_RANKS)}

IMAGES = frozenset(
    squeezed(name)
    for name in (
        "path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths", "fname",
        "fullpath", "relativepath", "relpath", "image", "images", "imagepath", "imagepaths",
        "imagefile",
        "imagefilename", "imagename", "imagenames", "imageid", "imageids", "imgid", "imgname",
        "img", "imgs",
        "imgpath", "imgfile", "picture", "pic", "photo", "photopath", "photoid", "picturepath",
        "idcode",
        "imageindex", "jpg", "jpgfile", "pngfile", "frame", "slide", "patch", "src", "source",
        "id", "uuid",
        "datei", "dateiname", "dateipfad", "bild", "bilddatei", "bildpfad", "pfad", "foto",
        "fichier",
        "nomfichier", "chemin", "imagen", "archivo", "ruta", "imagem", "arquivo", "caminho",
        "immagine",
        "percorso", "bestand", "afbeelding", "plik", "obraz", "dosya", "resim", "файл", "путь",
        "изображение", "имяфайла", "картинка", "文件", "文件名", "图片", "图像", "图片名", "路径",
        "檔案",
        "画像", "ファイル", "ファイル名", "パス", "이미지", "파일", "파일명", "경로",
    )
)  # fmt: skip
"""Names of columns with files."""

NOT_IMAGES = (
    "mask",
    "segm",
    "annot",
    "label",
    "xml",
    "depth",
    "thumb",
    "crop",
    "json",
    "bbox",
    "truth",
)
"""Pieces of the names of columns with other files than the images themselves."""

SPLITS = frozenset(
    squeezed(name)
    for name in (
        "split", "splits", "set", "subset", "partition", "part", "dataset", "datasplit", "usage",
        "phase", "mode", "stage", "fold", "traintest", "trainvaltest", "trainortest",
        "traintestsplit",
        "splitname", "settype", "purpose", "evaluationstatus", "teil", "menge", "conjunto",
        "ensemble",
        "aufteilung", "выборка", "数据集", "划分",
    )
)  # fmt: skip
"""Names of columns with parts."""

MEASURES = frozenset(
    {
        "width", "height", "size", "area", "weight", "age", "ageapprox", "year", "month", "day",
        "length", "depth", "price", "count", "x", "y0", "x0", "x1", "y1", "x2", "y2", "w", "h",
        "xmin",
        "ymin", "xmax", "ymax", "left", "top", "right", "bottom", "bbox", "latitude", "longitude",
        "lat", "lon", "lng", "score", "confidence", "probability", "prob", "loss", "distance",
        "angle",
        "temperature", "filesize", "bytes", "imagewidth", "imageheight", "imgwidth", "imgheight",
        "patientage", "patientid", "patient", "followup", "timestamp", "breite", "hohe", "gewicht",
        "alter",
        "largeur", "hauteur", "poids", "ancho", "alto", "peso", "edad", "row", "col", "column",
        "index",
    }
)  # fmt: skip
"""Names of columns whose numbers measure or count something and are no classes."""

FOLDS = frozenset({"fold", "stage", "part", "phase", "mode", "teil", "set"})
"""Column names with numbers that name no parts: folds of a cross-validation and the like."""

FLAGS = {
    "istrain": "train", "istraining": "train", "istrainingimage": "train", "intrain": "train",
    "istest": "test", "istesting": "test", "istestimage": "test", "intest": "test",
    "isvalid": "validation", "isval": "validation", "isvalidation": "validation",
}  # fmt: skip
"""Columns of yes and no that name a part."""

PARTS = {
    "": "train", "train": "train", "training": "train", "trn": "train", "tr": "train",
    "trainset": "train", "trainingset": "train", "traindata": "train", "trainingdata": "train",
    "valid": "validation", "validation": "validation", "val": "validation", "dev": "validation",
    "vali": "validation", "vld": "validation", "validset": "validation", "valset": "validation",
    "validationset": "validation", "validationdata": "validation", "development": "validation",
    "test": "test", "testing": "test", "tst": "test", "te": "test", "testset": "test",
    "testdata": "test", "holdout": "test", "heldout": "test",
    "privatetest": "test", "learn": "train", "learning": "train", "learnset": "train",
}  # fmt: skip
"""The parts by what a split column holds, as `squeezed` gives it."""

_EVALUATION = frozenset({"eval", "evaluation", "evalset", "publictest"})
"""Words for the test part, or for the validation part where there is another test part."""

YES = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False,
       "1.0": True, "0.0": False, "1.": True, "0.": False, "t": True, "f": False,
       "y": True, "n": False}  # fmt: skip
"""Words for yes and no."""


def is_yes(cell: str, *, other: bool = False) -> bool:
    """Whether a cell says yes; `other` for one that says neither yes nor no."""
    return YES.get(cell.lower(), other)


MISSING = frozenset({"nan", "na", "n/a", "#n/a", "<na>", "null", "?", "-", "--", "nil", "unlabeled",
                     "unlabelled", "(null)", "missing", "n.a.", "k.a.", "k. a.", "n.v.", "#na",
                     "#n/a n/a", "<null>", "nat", "-nan", "1.#qnan", "1.#ind", "-1.#ind",
                     # errors of spreadsheets, in several languages
                     "#nv", "#n/d", "#nd", "#n.d.", "#н/д", "#i/t", "#ref!", "#bezug!", "#rif!",
                     "#¡ref!", "#verw!", "#adr!", "#referens!", "#ссылка!", "#value!", "#wert!",
                     "#valeur!", "#valore!", "#¡valor!", "#valor!", "#waarde!", "#arg!",
                     "#знач!", "#name?", "#nom?", "#nome?", "#¿nombre?", "#naam?", "#nazwa?",
                     "#имя?", "#div/0!", "#¡div/0!", "#дел/0!", "#num!", "#zahl!", "#nombre!",
                     "#¡num!", "#liczba!", "#число!", "#null!", "#nul!", "#nullo!", "#¡nulo!",
                     "#spill!", "#calc!", "#getting_data"})  # fmt: skip
"""Words that mean that there is no value, in lower case. "none" is often a class (no defect)."""


def part_of_word(text: str, *, has_test: bool = False) -> str | None:
    """The part that a word names: "train", "test" or "validation"; None for another word.

    Args:
        text: The word.
        has_test: Whether another word names the test part: evaluation is validation then.
    """
    word = squeezed(text)
    if word in _EVALUATION:
        return "validation" if has_test else "test"
    return PARTS.get(word) if word or not text.strip() else None


def part_of_cell(text: str, *, has_test: bool = False) -> str | None:
    """Part that a cell of a split column names, where lists may have numbers: test1, test2."""
    plain = text.strip().rstrip("0123456789")
    found = part_of_word(text, has_test=has_test)
    if found or not plain:
        return found
    return (
        "train"
        if squeezed(plain) in {"trainval", "unassigned"}
        else part_of_word(plain, has_test=has_test)
    )


# column --------------------------------------------------------------------------------------

_INDEX_NAMES = re.compile(r"unnamed.*|index|idx|row(number|id|nr|no)?|no|nr|nummer|numero|序号|")
_WHOLE = re.compile(r"[-+]?\d+(\.0*)?")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}( \d.*)?"
    r"|\d{1,2}:\d\d(:\d\d)?"
)
_HASH = re.compile(r"[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f]{4}-.*", re.IGNORECASE)
_LIST = re.compile(r"\[.*\][\"']*|\{.*\}|\(.*,.*\)")
_MOST = 0.95  # of the cells that count as all of them: some are always odd
_FEW_ROWS = 10
"""Number of rows from which on a column with as many values is no label unless it is set."""
_FEW_RUNNING = 5
"""Number of rows from which on numbers that count them are no label unless the column is set."""


class Column:
    """A column, by some or all of its cells.

    Args:
        number: Its place, 0 is the first.
        name: Its cell in the header; "" without one.
        cells: What is in it, "" where a row has no such cell.
    """

    def __init__(self, number: int, name: str, cells: Sequence[str]) -> None:
        self.number = number
        self.name = name
        self.cells = cells
        self.key = squeezed(name)

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return plain_name(self.name) if self.name else f"column {self.number + 1}"

    @cached_property
    def values(self) -> Counter[str]:
        """How often each value occurs, without those that mean that there is none."""
        counts = Counter(self.cells)
        return Counter({v: n for v, n in counts.items() if v and v.lower() not in MISSING})

    @cached_property
    def num_filled(self) -> int:
        """Cells with a value."""
        return sum(self.values.values())

    @cached_property
    def is_whole(self) -> bool:
        """Whole numbers."""
        return self._all(_WHOLE)

    @cached_property
    def is_number(self) -> bool:
        """Numbers of any kind."""
        return self._all(_NUMBER)

    @cached_property
    def is_running(self) -> bool:
        """Whole numbers that count the rows."""
        if not self.is_whole or len(self.values) != len(self.cells) or len(self.cells) < 2:
            return False
        numbers = sorted(float(value) for value in self.values)
        return numbers[0] in {0, 1} and numbers[-1] - numbers[0] == len(numbers) - 1

    @cached_property
    def is_binary(self) -> bool:
        """Zeros and ones."""
        return bool(self.values) and self.values.keys() <= {"0", "1", "0.0", "1.0", "0.", "1."}

    @cached_property
    def is_indicator(self) -> bool:
        """Yes and no, or 1 and -1."""
        return bool(self.values) and all(v == "-1" or v.lower() in YES for v in self.values)

    @cached_property
    def is_flag(self) -> bool:
        """Yes and no."""
        return bool(self.values) and all(value.lower() in YES for value in self.values)

    @cached_property
    def share_of_paths(self) -> float:
        """The share of the cells that are named like an image."""
        return self._share(lambda value: is_image_name(value) and not is_address(value))

    @cached_property
    def is_split(self) -> bool:
        """Words for parts alone, or a column of yes and no that is named like a part."""
        if self.key in FLAGS or (self.part and self.is_flag):
            return self.is_flag
        if not self.values or None in self.parts:
            return False
        # Words with numbers alone may be anything: test1, test2.
        is_known = self.is_named_split or {"train"} < self.parts
        return is_known or all(map(part_of_word, self.values))

    @cached_property
    def parts(self) -> set[str | None]:
        """The parts that its words name, None for another word."""
        return set(map(part_of_cell, self.values))

    @property
    def part_words(self) -> str:
        """That its words are parts, and of which part each is that is not its name."""
        parts = {value: part_of_cell(value) for value in self.values}
        other = [(value, part) for value, part in parts.items() if part and folded(value) != part]
        words = [f"“{plain_name(value)}” is the {part} part" for value, part in other]
        return f"its words are parts: {list_text(words)}" if words else "its words are parts"

    @property
    def part(self) -> str:
        """The part that its name means; "" for another name, or none."""
        return FLAGS.get(self.key) or (PARTS.get(self.key, "") if self.key else "")

    @property
    def is_even(self) -> bool:
        """Whether its values are about as frequent as each other, as folds are."""
        return max(self.values.values()) <= 1.5 * min(self.values.values()) + 1

    @property
    def has_test(self) -> bool:
        """Whether one of its words is plainly the test part."""
        return any(part_of_cell(value, has_test=True) == "test" for value in self.values)

    @property
    def is_named_split(self) -> bool:
        """Whether the header names it as a part."""
        return self.key in SPLITS or self.key in FLAGS or (bool(self.part) and self.is_flag)

    @property
    def is_named_image(self) -> bool:
        """Whether the header names it as a file."""
        return self.key in IMAGES

    @property
    def is_of_other_files(self) -> bool:
        """Whether the header names it as masks and the like."""
        return any(piece in self.key for piece in NOT_IMAGES)

    @property
    def label_rank(self) -> int | None:
        """How well the header fits a label, 0 is best; None where it does not."""
        return LABEL_RANKS.get(self.key)

    def is_like_label(self, best: Column) -> bool:
        """Whether its name has the name of a label in it, beside a label column.

        Numbers beside words measure the label: its quality, how many there are.
        """
        if self.is_number and not best.is_number:
            return False
        return best.key in self.key or any(stem in self.key for stem in LABEL_STEMS)

    @cached_property
    def is_mostly_single(self) -> bool:
        """Whether most of its values occur once: hardly classes."""
        return sum(n == 1 for n in self.values.values()) * 2 > len(self.values)

    def why_no_label(self) -> str:
        """Why it cannot be the label, as a clause; "" where it can."""
        if not self.values:
            return "empty"
        if self.is_running and (
            _INDEX_NAMES.fullmatch(self.key) or len(self.cells) >= _FEW_RUNNING
        ):
            return "running numbers"
        for words, is_so in self._kinds():
            if is_so:
                return words
        if len(self.values) == 1:
            return "one value"
        if len(self.values) == self.num_filled >= _FEW_ROWS:
            return "as many values as lines"
        return ""

    def _kinds(self) -> tuple[tuple[str, bool], ...]:
        is_one_each = len(self.values) == self.num_filled
        return (
            ("addresses", self._share(is_address) > 0.5),
            ("file names", self.share_of_paths > 0.5),
            ("dates", self._all(_DATE)),
            ("numbers with fractions", self.is_number and not self.is_whole),
            ("hashes", self._all(_HASH) and not self.is_whole and self.is_mostly_single),
            ("running numbers", self.is_running and is_one_each and self.label_rank is None),
            ("lists of numbers", self._share(_is_box) > 0.5),
            ("a measurement by its name", self.is_number and self.key in MEASURES),
        )

    def is_same_as(self, other: Column) -> bool:
        """Whether each value of one goes with one value of the other: two names of the classes."""
        pairs = set(zip(self.cells, other.cells, strict=True))
        pairs = {pair for pair in pairs if pair[0] in self.values and pair[1] in other.values}
        return len(pairs) == len(self.values) == len(other.values)

    def share_in(self, names: set[str]) -> float:
        """The share of the cells that hold one of these names (folded)."""
        return self._share(lambda value: folded(value) in names)

    def _all(self, pattern: re.Pattern[str]) -> bool:
        return self._share(lambda value: pattern.fullmatch(value) is not None) >= _MOST

    def _share(self, is_so: Callable[[str], bool]) -> float:
        if not self.num_filled:
            return 0.0
        return sum(n for value, n in self.values.items() if is_so(value)) / self.num_filled


def is_image_name(text: str) -> bool:
    """Whether a cell is named like an image file."""
    return os.path.splitext(text)[1].lower() in ENDINGS  # noqa: PTH122 - text, no I/O


def is_address(text: str) -> bool:
    """Whether a cell is a web address."""
    return text[:8].lower().startswith(("http://", "https://", "gs://", "s3://", "ftp://"))


def is_in_bucket(text: str) -> bool:
    """Whether a cell is the address of a file in a store whose folders may lie here, too."""
    return text[:5].lower() in {"gs://", "s3://"}


def is_list(text: str) -> bool:
    """Whether a cell is a list in brackets."""
    return _LIST.fullmatch(text) is not None


def _is_box(text: str) -> bool:
    """Whether a cell is a list of numbers other than 0 and 1, as boxes are."""
    if not is_list(text):
        return False
    numbers = re.findall(r"[-+]?\d+\.?\d*", text)
    has_words = re.search(r"[A-Za-z'\"]", text) is not None
    return (
        len(numbers) > 1
        and not has_words
        and bool({*numbers} - {"0", "1", "0.", "1.", "0.0", "1.0"})
    )


# column names --------------------------------------------------------------------------------
# How the columns of a table are named: in messages, in options, and by a person.


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns of one table.

    Attributes:
        path: The table, for messages.
        columns: Its columns, without the header.
    """

    path: Path
    columns: Sequence[Column]

    def named(self, given: str, param: str) -> Column:
        """The column that a name or number means; raises DatasetError."""
        text = given.strip()
        for form in (str, squeezed):
            found = [each for each in self.columns if each.name and form(each.name) == form(text)]
            if found:
                return found[0]
        if text.isdecimal() and 1 <= int(text) <= len(self.columns):
            return self.columns[int(text) - 1]
        raise DatasetError(
            f"The table has no such {param} column.",
            where=str(self.path),
            received=plain_name(given),
            expected="one of " + ", ".join(self.titles())[:300] + ", or its number",
        )

    def all_named(self, given: str) -> tuple[Column, ...]:
        """One column whose name may hold commas, or several with commas between them."""
        try:
            return (self.named(given, "label"),)
        except DatasetError:
            if "," not in given:
                raise
        return tuple(self.named(each, "label") for each in given.split(","))

    def option(self, *columns: Column) -> Option:
        """The choice of a column, or of several together, by their names or numbers."""
        return Option(",".join(map(self._key, columns)), titles_of(columns))

    def _key(self, column: Column) -> str:
        """The name of a column where it is the only one of it, else its number."""
        same = [each for each in self.columns if each.key == column.key]
        is_named = bool(column.name) and len(same) == 1 and not column.name.strip().isdecimal()
        return column.name if is_named and "," not in column.name else str(column.number + 1)

    def titles(self) -> list[str]:
        """What the columns are called."""
        return [each.title for each in self.columns]


def titles_of(columns: Sequence[Column]) -> str:
    """Titles of columns for a sentence, at most six."""
    names = [each.title for each in columns]
    return ", ".join(names if len(names) <= 6 else [*names[:5], "…", names[-1]])
