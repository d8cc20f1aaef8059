"""The usual names of columns in tables of images, and the usual words for parts."""

from __future__ import annotations

import unicodedata


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
