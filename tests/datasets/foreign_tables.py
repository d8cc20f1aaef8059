"""Tables, arrays and records as people publish them, with what they truly mean.

Each case writes its files into a folder and knows the true label and part of each image. Its outcome
is "right", "said" (read otherwise, with a doubt that names the true reading, or a setting that is the
case's `fix`), "refused", or "wrong": read otherwise without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.contexts import PlainContext
from tests.written_records import write_records
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

CLASSES = ("daisy", "rose", "tulip")
COUNT = 24

Labels = dict[str, tuple[str, str]]
"""Label and part of each image, by what identifies it."""


@dataclass(frozen=True)
class Truth:
    """What a case's files mean.

    Attributes:
        source: Key of the data set that reads them.
        path: What it is pointed at.
        images: True label and part of each image; empty where they are no classification data.
        fix: Parameters that read it rightly, for a case that is ambiguous.
    """

    source: str
    path: Path
    images: Labels
    fix: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A foreign data set.

    Attributes:
        name: What it is.
        write: Writes it into a folder.
        expected: Its outcome: "right", "said", "refused".
    """

    name: str
    write: Callable[[Path], Truth]
    expected: str = "right"


def outcome(case: Case, folder: Path) -> tuple[str, str]:
    """What comes of a case, and words about it."""
    truth = case.write(folder)
    try:
        loaded = _load(truth, folder, {})
    except DatasetError as error:
        return "refused" + _fixed(truth, folder), f"{error.what} {error.received}"
    doubts = [each for each in loaded.inferences if each.is_doubtful]
    words = " ".join(loaded.sentences)
    if read(loaded) == truth.images:
        return "right", words
    if not doubts:
        return "wrong", f"{words} {read(loaded)}"
    if truth.fix and read(_load(truth, folder, truth.fix)) == truth.images:
        return "said", words
    for doubt in doubts:
        for option in doubt.options:
            params = {doubt.param: option.value}
            if _try(truth, folder, params) == truth.images:
                return "said", words
    return ("said" if not truth.images else "wrong"), f"{words} {read(loaded)}"


def _fixed(truth: Truth, folder: Path) -> str:
    """A refused case that can be read must be so with its fix."""
    if not truth.fix or _try(truth, folder, truth.fix) == truth.images:
        return ""
    return f", and not read with {truth.fix}: {_try(truth, folder, truth.fix)}"


def _try(truth: Truth, folder: Path, params: Mapping[str, Any]) -> Labels | str:
    try:
        return read(_load(truth, folder, params))
    except DatasetError as error:
        return str(error)


def _load(truth: Truth, folder: Path, params: Mapping[str, Any]) -> LoadedData:
    cache = folder.parent / f"{folder.name}-cache"
    cache.mkdir(exist_ok=True)
    spec = all_datasets()[truth.source]
    return spec.load(PlainContext(cache), {spec.source_param: str(truth.path), **params})


def read(loaded: LoadedData) -> Labels:
    """What was read: label and part of each image, by its first pixel."""
    parts = {"train": loaded.train, "test": loaded.test, "validation": loaded.validation}
    return {
        key: (loaded.class_names[number], part)
        for part, images in parts.items()
        if images is not None
        for key, number in zip(_keys(images), images.labels.tolist(), strict=True)
    }


def _keys(images: ArrayPart | FilePart) -> list[str]:
    if isinstance(images, ArrayPart):
        return [
            str(int(number))
            for number in np.asarray(images.pictures).reshape(len(images), -1)[:, 0]
        ]
    return [str(Path(path).read_bytes()[-4:][0]) for path in images.paths]


def image(number: int) -> bytes:
    """A small PNG image that can be recognized: its number stands behind it."""
    return png_bytes(np.full((2, 2, 3), number, np.uint8)) + bytes([number, 0, 0, 0])


def label(number: int) -> str:
    """The class of an image."""
    return CLASSES[number * 7 % 5 % 3]


def index(number: int) -> int:
    """The number of its class."""
    return CLASSES.index(label(number))


# tables ------------------------------------------------------------------------------------


def table(
    name: str,
    header: str | None,
    row: Callable[[int], str],
    file: Callable[[int], str] | str = "photos/{}.jpg",
    *,
    expected: str = "right",
    truth: Callable[[int], str] | None = label,
    part: Callable[[int], str] = lambda _: "train",
    wrap: Callable[[str], str] = lambda text: text,
    encoding: str = "utf-8",
    other_files: tuple[str, ...] = (),
    fix: Mapping[str, Any] | None = None,
    skip: Callable[[int], bool] = lambda _: False,
    ending: str = ".csv",
) -> Case:
    """A table with a line (or several) for each image; `truth` None for what is no such table."""

    def write(folder: Path) -> Truth:
        for number in range(COUNT):
            _put(folder, file.format(number) if isinstance(file, str) else file(number), number)
        for place, other in enumerate(other_files):
            _put(folder, other, 100 + place)
        lines = [*([header] if header is not None else []), *map(row, range(COUNT))]
        path = folder / f"table{ending}"
        path.write_bytes(wrap("\n".join(lines) + "\n").encode(encoding))
        used = [number for number in range(COUNT) if truth is not None and not skip(number)]
        images = {str(n): (truth(n), part(n)) for n in used} if truth else {}
        return Truth("csv", path, images, fix or {})

    return Case(name, write, expected)


def _put(folder: Path, name: str, number: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(image(number))


def _split(number: int) -> str:
    return ("train", "train", "validation", "test")[number % 4]


def _word(number: int, *words: str) -> str:
    """A word for each part."""
    return dict(zip(("train", "validation", "test"), words, strict=True))[_split(number)]


def _one_hot(number: int, one: str = "1", zero: str = "0") -> str:
    return ",".join(one if place == index(number) else zero for place in range(len(CLASSES)))


def _hex(number: int) -> str:
    return f"{number * 7919 + 12345:08x}{number * 104729 + 777:024x}"


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


_COMPOSED, _DECOMPOSED = "L\u00f6we", "Lo\u0308we"

TABLES: tuple[Case, ...] = (
    table("documented", "path,label", lambda i: f"photos/{i}.jpg,{label(i)}"),
    table("no header", None, lambda i: f"photos/{i}.jpg,{label(i)}"),
    table("no header, label first", None, lambda i: f"{label(i)},photos/{i}.jpg"),
    table(
        "split", "path,label,split", lambda i: f"photos/{i}.jpg,{label(i)},{_split(i)}", part=_split
    ),
    table("pandas index", ",filename,breed", lambda i: f"{i},photos/{i}.jpg,{label(i)}"),
    table(
        "pandas index twice",
        "Unnamed: 0.1,Unnamed: 0,file,label",
        lambda i: f"{i},{i},photos/{i}.jpg,{label(i)}",
    ),
    table("pandas index, unknown names", ",x,what", lambda i: f"{i},photos/{i}.jpg,{label(i)}"),
    table("R row names", '"file","label"', lambda i: f'"{i + 1}","photos/{i}.jpg","{label(i)}"'),
    table(
        "shuffled index",
        "Unnamed: 0,image,species",
        lambda i: f"{i * 7 % 24},photos/{i}.jpg,{label(i)}",
    ),
    table(
        "Excel sep line",
        "Nr;Datei;Art",
        lambda i: f"{i + 1};photos/{i}.jpg;{label(i)}",
        wrap=lambda text: _crlf("sep=;\n" + text),
        encoding="utf-8-sig",
    ),
    table(
        "Excel semicolons, German",
        "Datei;Klasse",
        lambda i: f"photos/{i}.jpg;{label(i)}",
        wrap=_crlf,
        encoding="utf-8-sig",
    ),
    table(
        "decimal commas",
        "Datei;Fläche;Klasse;Gewicht",
        lambda i: f"photos/{i}.jpg;{i},5;{label(i)};0,{i}",
        wrap=_crlf,
    ),
    table("UTF-16", "path\tlabel", lambda i: f"photos/{i}.jpg\t{label(i)}", encoding="utf-16"),
    table(
        "UTF-16 without mark",
        "path\tlabel",
        lambda i: f"photos/{i}.jpg\t{label(i)}",
        encoding="utf-16-le",
    ),
    table(
        "old Mac lines",
        "path,label",
        lambda i: f"photos/{i}.jpg,{label(i)}",
        wrap=lambda text: text.replace("\n", "\r"),
    ),
    table("bars", "path|label", lambda i: f"photos/{i}.jpg|{label(i)}"),
    table(
        "comments",
        "path,label",
        lambda i: f"photos/{i}.jpg,{label(i)}",
        wrap=lambda text: "# made by hand, 2024\n# see the paper\n" + text,
    ),
    table("header behind a mark", "# path,label", lambda i: f"photos/{i}.jpg,{label(i)}"),
    table("empty header cells", "photo,,label,,", lambda i: f"photos/{i}.jpg,,{label(i)},,"),
    table(
        "same header twice", "label,path,label", lambda i: f"{label(i)},photos/{i}.jpg,{index(i)}"
    ),
    table(
        "quotes and commas",
        "path,label",
        lambda i: f'"photos/{i}, a.jpg","{label(i)}, {label(i)} x"',
        "photos/{}, a.jpg",
        truth=lambda i: f"{label(i)}, {label(i)} x",
    ),
    table(
        "unquoted comma in a label",
        "path,label",
        lambda i: f"photos/{i}.jpg,{label(i)}" + (", wild" if i == 3 else ""),
        skip=lambda i: i == 3,
    ),
    table(
        "Kaggle birds",
        "class id,filepaths,labels,data set,scientific name",
        lambda i: (
            f"{index(i)},photos/{i}.jpg,{label(i).upper()},{_word(i, 'train', 'valid', 'test')},"
            f"{label(i)} vulgaris"
        ),
        truth=lambda i: label(i).upper(),
        part=_split,
    ),
    table(
        "labels before ids",
        "labels,class_id,file",
        lambda i: f"{label(i)},{index(i)},photos/{i}.jpg",
    ),
    table(
        "numbers with unnamed names",
        "file,target,sort",
        lambda i: f"photos/{i}.jpg,{index(i)},{label(i)}",
    ),
    table(
        "dog breeds",
        "id,breed",
        lambda i: f"{_hex(i)},{label(i)}",
        lambda i: f"train/{_hex(i)}.jpg",
    ),
    table(
        "whales",
        "Image,Id",
        lambda i: f"{_hex(i)}.jpg,w_{label(i)}",
        lambda i: f"train/{_hex(i)}.jpg",
        truth=lambda i: f"w_{label(i)}",
    ),
    table(
        "APTOS",
        "id_code,diagnosis",
        lambda i: f"{_hex(i)[:12]},{index(i)}",
        lambda i: f"train_images/{_hex(i)[:12]}.png",
        truth=lambda i: str(index(i)),
    ),
    table(
        "cassava",
        "image_id,label",
        lambda i: f"{i + 1000}.jpg,{index(i)}",
        lambda i: f"train_images/{i + 1000}.jpg",
        truth=lambda i: str(index(i)),
    ),
    table(
        "CIFAR-10 of Kaggle",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"train/{i + 1}.png",
    ),
    table(
        "CIFAR-10 with test images",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"train/{i + 1}.png",
        other_files=tuple(f"test/{i + 1}.png" for i in range(COUNT)),
    ),
    table(
        "two folders, same names",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"left/{i + 1}.png",
        other_files=tuple(f"a/{i + 1}.png" for i in range(COUNT)),
    ),
    table(
        "masks beside images",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"images/{i + 1}.png",
        other_files=tuple(f"masks/{i + 1}.png" for i in range(COUNT)),
    ),
    table(
        "cactus",
        "id,has_cactus",
        lambda i: f"{_hex(i)}.jpg,{int(index(i) > 0)}",
        lambda i: f"train/{_hex(i)}.jpg",
        truth=lambda i: str(int(index(i) > 0)),
    ),
    table(
        "HAM10000",
        "lesion_id,image_id,dx,dx_type,age,sex,localization",
        lambda i: (
            f"HAM_{i * 5},ISIC_{i:07},{label(i)},histo,{i * 3 % 9 * 5}.0,{('male', 'female')[i % 2]},"
            f"{('back', 'face', 'hand')[i * 5 % 3]}"
        ),
        lambda i: f"HAM10000_images_part_{1 + i // 12}/ISIC_{i:07}.jpg",
    ),
    table(
        "ISIC ground truth",
        "image,MEL,NV,BCC",
        lambda i: f"ISIC_{i:07},{_one_hot(i, '1.0', '0.0')}",
        lambda i: f"ISIC_2019_Training_Input/ISIC_{i:07}.jpg",
        truth=lambda i: ("MEL", "NV", "BCC")[index(i)],
    ),
    table(
        "ISIC 2020",
        "image_name,patient_id,sex,age_approx,anatom_site,diagnosis,benign_malignant,target",
        lambda i: (
            f"ISIC_{i:07},IP_{i % 7},male,{i % 6 * 5},torso,{('unknown', 'nevus')[i % 2]},"
            f"{('benign', 'malignant')[index(i) % 2]},{index(i) % 2}"
        ),
        lambda i: f"jpeg/train/ISIC_{i:07}.jpg",
        truth=lambda i: ("benign", "malignant")[index(i) % 2],
    ),
    table(
        "plant pathology 2020",
        "image_id,healthy,rust,scab",
        lambda i: f"Train_{i},{_one_hot(i)}",
        lambda i: f"images/Train_{i}.jpg",
        truth=lambda i: ("healthy", "rust", "scab")[index(i)],
    ),
    table(
        "plant pathology 2021",
        "image,labels",
        lambda i: f"{i}.jpg,{('scab', 'rust', 'scab rust', 'healthy')[i % 4]}",
        "train_images/{}.jpg",
        truth=None,
        expected="said",
    ),
    table(
        "planet",
        "image_name,tags",
        lambda i: (
            f"train_{i},{('clear primary', 'haze primary', 'clear water', 'haze water', 'clear')[i % 5]}"
        ),
        "train-jpg/train_{}.jpg",
        truth=None,
        expected="said",
    ),
    table(
        "chest X-rays",
        "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age",
        lambda i: (
            f"{i:08}_000.png,{('Mass', 'Edema|Mass', 'No Finding', 'Edema')[i % 4]},{i % 3},{i},{40 + i}"
        ),
        lambda i: f"images/{i:08}_000.png",
        truth=None,
        expected="refused",
    ),
    table(
        "CheXpert",
        "Path,Sex,Age,Edema,Mass,Fracture",
        lambda i: f"photos/{i}.jpg,Male,{30 + i},{i % 2},{int(i % 3 == 0)},{int(i % 4 == 0)}",
        truth=None,
        expected="refused",
    ),
    table(
        "several labels as a list",
        "image,labels",
        lambda i: f"photos/{i}.jpg,\"['{label(i)}', 'flower']\"",
        truth=None,
        expected="refused",
    ),
    table("a list of one", "image,labels", lambda i: f"photos/{i}.jpg,\"['{label(i)}']\""),
    table("a JSON list of one", "image,labels", lambda i: f'photos/{i}.jpg,"[""{label(i)}""]"'),
    table(
        "one-hot lists",
        "image,label",
        lambda i: f'photos/{i}.jpg,"[{_one_hot(i)}]"',
        truth=lambda i: str(index(i)),
    ),
    table(
        "numpy one-hot lists",
        "image,label",
        lambda i: f"photos/{i}.jpg,[{_one_hot(i, '1.', '0.').replace(',', ' ')}]",
        truth=lambda i: str(index(i)),
    ),
    table(
        "Hugging Face metadata",
        "file_name,label",
        lambda i: f"train/{i}.png,{label(i)}",
        "train/{}.png",
        ending="metadata.csv",
    ),
    table(
        "Hugging Face, extra text",
        "file_name,text,label",
        lambda i: f'{i}.png,"a photo, number {i}, of nature",{label(i)}',
        "{}.png",
    ),
    table(
        "fastai valid",
        "fname,label,is_valid",
        lambda i: f"photos/{i}.jpg,{label(i)},{i % 4 == 3}",
        part=lambda i: "validation" if i % 4 == 3 else "train",
    ),
    table("fastai name", "name,label", lambda i: f"photos/{i}.jpg,{label(i)}"),
    table(
        "CUB flag",
        "path,class_name,is_training_image",
        lambda i: f"photos/{i}.jpg,{label(i)},{int(i % 4 != 3)}",
        part=lambda i: "test" if i % 4 == 3 else "train",
    ),
    table(
        "Pascal list",
        None,
        lambda i: f"photos/{i}.jpg {index(i)}",
        truth=lambda i: str(index(i)),
        ending=".txt",
    ),
    table("Pascal list with names", None, lambda i: f"photos/{i}.jpg   {label(i)}", ending=".txt"),
    table(
        "ImageNet validation",
        "ImageId,PredictionString",
        lambda i: f"val_{i:08},n0{index(i)} {i} 10 200 300",
        lambda i: f"val/val_{i:08}.JPEG",
        truth=None,
        expected="refused",
    ),
    table("folds", "image,label,fold", lambda i: f"photos/{i}.jpg,{label(i)},{i % 5}"),
    table("kfold", "image,label,kfold", lambda i: f"photos/{i}.jpg,{label(i)},{i % 5}"),
    table("set of numbers", "set,file,label", lambda i: f"{i % 2},photos/{i}.jpg,{label(i)}"),
    table("split of numbers", "file,label,split", lambda i: f"photos/{i}.jpg,{label(i)},{i % 2}"),
    table(
        "CelebA partition",
        "image_id,partition,identity",
        lambda i: f"{i:06}.jpg,{i % 3},{index(i) + 2}",
        lambda i: f"img/{i:06}.jpg",
        truth=lambda i: str(index(i) + 2),
    ),
    table(
        "public and private",
        "image,Usage,label",
        lambda i: f"photos/{i}.jpg,{('Public', 'Private')[i % 2]},{label(i)}",
    ),
    table(
        "trn, val, tst",
        "image,label,part",
        lambda i: f"photos/{i}.jpg,{label(i)},{_word(i, 'trn', 'val', 'tst')}",
        part=_split,
    ),
    table(
        "training set",
        "image,label,subset",
        lambda i: (
            f"photos/{i}.jpg,{label(i)},{_word(i, 'Training set', 'Validation set', 'Test set')}"
        ),
        part=_split,
    ),
    table(
        "hold-out",
        "image,label,split",
        lambda i: f"photos/{i}.jpg,{label(i)},{_word(i, 'train', 'dev', 'hold-out')}",
        part=_split,
    ),
    table(
        "unknown word in a split",
        "image,label,split",
        lambda i: f"photos/{i}.jpg,{label(i)},{('train', 'extra')[i % 2]}",
        expected="refused",
        fix={"split": "none"},
    ),
    table(
        "part folders",
        "path,label",
        lambda i: f"{_split(i)}/{i}.jpg,{label(i)}",
        lambda i: f"{_split(i)}/{i}.jpg",
        part=_split,
    ),
    table(
        "folders, no label column",
        "path",
        lambda i: f"{label(i)}/{i}.jpg",
        lambda i: f"{label(i)}/{i}.jpg",
    ),
    table(
        "folders and sizes",
        "path,width,height",
        lambda i: f"{label(i)}/{i}.jpg,{i % 5 * 10},{i % 7 * 10}.5",
        lambda i: f"{label(i)}/{i}.jpg",
        fix={"label": "@folder"},
    ),
    table(
        "folders agree with a column",
        "path,color,kind of it",
        lambda i: f"{label(i)}/{i}.jpg,{('red', 'blue')[i % 2]},{label(i)}",
        lambda i: f"{label(i)}/{i}.jpg",
    ),
    table(
        "folders, parts and classes",
        "file",
        lambda i: f"{_split(i)}/{label(i)}/{i}.jpg",
        lambda i: f"{_split(i)}/{label(i)}/{i}.jpg",
        part=_split,
    ),
    table("Windows paths", "path,label", lambda i: f"photos\\{i}.jpg,{label(i)}"),
    table(
        "drive of another computer",
        "path,label",
        lambda i: f"C:\\Users\\me\\photos\\{i}.jpg,{label(i)}",
    ),
    table(
        "home of another computer",
        "path,label",
        lambda i: f"/home/me/data/photos/{i}.jpg,{label(i)}",
    ),
    table(
        "other case", "path,label", lambda i: f"Photos/IMG_{i}.JPG,{label(i)}", "photos/img_{}.jpg"
    ),
    table(
        "composed letters",
        "path,label",
        lambda i: f"photos/L\u00f6we {i}.jpg,{label(i)}",
        "photos/Lo\u0308we {}.jpg",
    ),
    table(
        "Cyrillic Excel",
        "Файл;Класс",
        lambda i: f"photos/{i}.jpg;{('Роза', 'Дуб', 'Тюльпан')[index(i)]}",
        truth=lambda i: ("Роза", "Дуб", "Тюльпан")[index(i)],
        encoding="cp1251",
    ),
    table(
        "Chinese Excel",
        "文件名,类别",
        lambda i: f"photos/{i}.jpg,{('玫瑰', '橡树', '郁金香')[index(i)]}",
        truth=lambda i: ("玫瑰", "橡树", "郁金香")[index(i)],
        encoding="gbk",
    ),
    table(
        "Japanese Excel",
        "ファイル名,クラス",
        lambda i: f"photos/{i}.jpg,{('バラ', 'さくら', 'ユリ')[index(i)]}",
        truth=lambda i: ("バラ", "さくら", "ユリ")[index(i)],
        encoding="cp932",
    ),
    table(
        "Western Excel",
        "Datei;Klasse",
        lambda i: f"photos/{i}.jpg;{('Löwe', 'Bär', 'Maus')[index(i)]}",
        truth=lambda i: ("Löwe", "Bär", "Maus")[index(i)],
        encoding="cp1252",
    ),
    table(
        "Central European Excel",
        "plik;klasa",
        lambda i: f"photos/{i}.jpg;{('róża', 'dąb', 'wiąz')[index(i)]}",
        truth=lambda i: ("róża", "dąb", "wiąz")[index(i)],
        encoding="cp1250",
    ),
    table(
        "spaces around labels",
        "path,label",
        lambda i: f"photos/{i}.jpg, {label(i)}" + " " * (i % 2),
    ),
    table(
        "labels of other case",
        "path,label",
        lambda i: f"photos/{i}.jpg,{label(i).title() if i % 4 == 0 else label(i)}",
        expected="said",
    ),
    table(
        "composed labels",
        "path,label",
        lambda i: (
            f"photos/{i}.jpg," + (_DECOMPOSED if i % 4 == 0 else _COMPOSED if i % 2 else label(i))
        ),
        truth=lambda i: _COMPOSED if i % 4 == 0 or i % 2 else label(i),
    ),
    table(
        "missing labels",
        "path,label",
        lambda i: f"photos/{i}.jpg,{'nan' if i == 5 else label(i)}",
        skip=lambda i: i == 5,
    ),
    table(
        "many missing labels",
        "path,label",
        lambda i: f"photos/{i}.jpg,{'?' if i % 4 == 0 else label(i)}",
        skip=lambda i: i % 4 == 0,
    ),
    table(
        "none is a class",
        "path,defect",
        lambda i: f"photos/{i}.jpg,{('None', 'crack', 'dent')[index(i)]}",
        truth=lambda i: ("None", "crack", "dent")[index(i)],
    ),
    table(
        "as many labels as lines",
        "path,label",
        lambda i: f"photos/{i}.jpg,{_hex(i)[:7]}",
        truth=None,
        expected="refused",
    ),
    table(
        "ids alone",
        "path,id",
        lambda i: f"photos/{i}.jpg,{i + 500}",
        truth=None,
        expected="refused",
    ),
    table(
        "a measurement",
        "path,score",
        lambda i: f"photos/{i}.jpg,{i * 0.37:.2f}",
        truth=None,
        expected="refused",
    ),
    table(
        "bounding boxes",
        "filename,width,height,class,xmin,ymin,xmax,ymax",
        lambda i: "\n".join(
            f"photos/{i}.jpg,100,80,{label(i + k)},{k},{k},{k + 9},{k + 9}" for k in (0, 1)
        ),
        truth=None,
        expected="refused",
    ),
    table(
        "boxes of one class an image",
        "filename,width,height,class,xmin,ymin,xmax,ymax",
        lambda i: "\n".join(
            f"photos/{i}.jpg,100,80,{label(i)},{k},{k},{k + 9},{k + 9}" for k in (0, 1)
        ),
    ),
    table(
        "three annotators",
        "image,annotator,label",
        lambda i: "\n".join(
            f"photos/{i}.jpg,{k},{label(i + (i == 4 and k == 2))}" for k in range(3)
        ),
    ),
    table(
        "image and mask",
        "image_path,mask_path,label",
        lambda i: f"photos/{i}.jpg,masks/{i}.jpg,{label(i)}",
        other_files=tuple(f"masks/{i}.jpg" for i in range(COUNT)),
    ),
    table(
        "mask first",
        "mask,image,label",
        lambda i: f"masks/{i}.jpg,photos/{i}.jpg,{label(i)}",
        other_files=tuple(f"masks/{i}.jpg" for i in range(COUNT)),
    ),
    table(
        "addresses",
        "url,file,label,license",
        lambda i: f"https://example.org/{i}.jpg,photos/{i}.jpg,{label(i)},CC-BY",
    ),
    table(
        "iNaturalist",
        "id,observed_on,image_url,local_path,scientific_name,common_name,latitude",
        lambda i: (
            f"{9000 + i},2020-05-{i + 1:02},https://x.org/{i}.jpg,photos/{i}.jpg,{label(i)} alba,"
            f"{label(i)},{i}.25"
        ),
        truth=lambda i: f"{label(i)} alba",
    ),
    table(
        "two kinds of labels",
        "file,class,category",
        lambda i: f"photos/{i}.jpg,{label(i)},{('wild', 'garden')[i % 2]}",
    ),
    table(
        "two kinds, the other is meant",
        "file,class,category",
        lambda i: f"photos/{i}.jpg,{('wild', 'garden')[i % 2]},{label(i)}",
        expected="said",
    ),
    table(
        "unnamed columns",
        "c1,c2,c3",
        lambda i: f"photos/{i}.jpg,{('wild', 'garden')[i % 2]},{label(i)}",
        expected="said",
    ),
    table("no header, three columns", None, lambda i: f"photos/{i}.jpg,{i * 3},{label(i)}"),
    table("no header, index first", None, lambda i: f"{i},photos/{i}.jpg,{label(i)}"),
    table(
        "no header, ids", None, lambda i: f"{_hex(i)},{label(i)}", lambda i: f"train/{_hex(i)}.jpg"
    ),
    table("hash beside", "file,md5,label", lambda i: f"photos/{i}.jpg,{_hex(i)},{label(i)}"),
    table(
        "time beside",
        "file,taken,variety",
        lambda i: f"photos/{i}.jpg,2021-03-{i % 5 + 1:02} 10:00,{label(i)}",
    ),
    table(
        "fashion",
        "id,gender,masterCategory,articleType,baseColour,season,year",
        lambda i: f"{1500 + i},Men,Apparel,{label(i)},Blue,Fall,2012",
        lambda i: f"images/{1500 + i}.jpg",
    ),
    table(
        "retinopathy",
        "image,level",
        lambda i: f"{i // 2}_{('left', 'right')[i % 2]},{index(i)}",
        lambda i: f"train/{i // 2}_{('left', 'right')[i % 2]}.jpeg",
        truth=lambda i: str(index(i)),
    ),
    table(
        "float labels of pandas",
        "file,label",
        lambda i: f"photos/{i}.jpg,{index(i)}.0",
        truth=lambda i: f"{index(i)}.0",
    ),
    table("camel case", "ImagePath,ClassName", lambda i: f"photos/{i}.jpg,{label(i)}"),
    table("French", "fichier;espèce", lambda i: f"photos/{i}.jpg;{label(i)}"),
    table("Spanish", "archivo,etiqueta", lambda i: f"photos/{i}.jpg,{label(i)}"),
    table(
        "zeros lost in a spreadsheet",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"train/{i + 1:06}.jpg",
    ),
    table(
        "zeros lost, other files there",
        "id,label",
        lambda i: f"{i + 1},{label(i)}",
        lambda i: f"train/{i + 1:06}.jpg",
        other_files=tuple(f"plots/p{i}.png" for i in range(9)),
    ),
    table("single quotes", "'path','label'", lambda i: f"'photos/{i}.jpg','{label(i)}'"),
    table(
        "a heading inside a cell",
        "path,remark,label",
        lambda i: f'photos/{i}.jpg,"{i}: seen\n# at noon",{label(i)}',
    ),
    table(
        "ages",
        "image,age",
        lambda i: f"photos/{i}.jpg,{20 + i % 4}",
        truth=None,
        expected="refused",
    ),
    table(
        "ages and sex",
        "image,age,sex",
        lambda i: f"photos/{i}.jpg,{20 + i % 4},{('m', 'f')[i % 2]}",
        truth=lambda i: ("m", "f")[i % 2],
    ),
    table(
        "family, genus, species",
        "file,family,genus,species",
        lambda i: (
            f"photos/{i}.jpg,{('A', 'B')[index(i) // 2]},{('C', 'D')[index(i) // 2]},{label(i)}"
        ),
    ),
    table(
        "leading zeros in labels",
        "file,label",
        lambda i: f"photos/{i}.jpg,{index(i):03}",
        truth=lambda i: f"{index(i):03}",
    ),
    table("addresses of files", "uri,label", lambda i: f"file:///data/photos/{i}.jpg,{label(i)}"),
    table(
        "names of people and emotions",
        "file,name,emotion",
        lambda i: f"photos/{i}.jpg,{('Ann', 'Bob', 'Eve', 'Joe')[i % 4]},{label(i)}",
    ),
    table(
        "one class in each folder, names repeat",
        "file,label",
        lambda i: f"{i // 3}.jpg,{label(i)}",
        lambda i: f"{label(i)}{i % 3}/{i // 3}.jpg",
        truth=None,
        expected="refused",
    ),
    table(
        "class folders, names repeat",
        "file,label",
        lambda i: f"{i % 12}.jpg,{label(i)}",
        lambda i: f"train/{label(i)}/{i % 12}.jpg",
    ),
    table(
        "class folders, no header, names repeat",
        None,
        lambda i: f"{label(i)},{i % 12}.jpg",
        lambda i: f"{label(i)}/{i % 12}.jpg",
    ),
    table(
        "path in two columns",
        "folder,file,label",
        lambda i: f"d{i % 2},{i // 2}.jpg,{label(i)}",
        lambda i: f"d{i % 2}/{i // 2}.jpg",
    ),
    table(
        "folders inside folders",
        "id,landmark_id",
        lambda i: f"{_hex(i)},{index(i) + 7}",
        lambda i: f"train/{_hex(i)[0]}/{_hex(i)[1]}/{_hex(i)[2]}/{_hex(i)}.jpg",
        truth=lambda i: str(index(i) + 7),
    ),
)


# arrays ------------------------------------------------------------------------------------

_X = np.random.default_rng(3).integers(0, 256, (COUNT, 6, 5, 3), np.uint8)
_X[:, 0, 0] = np.arange(COUNT)[:, None]
_X[:, 0, 1], _X[:, 0, 2] = 255, 0
_Y = np.array([index(number) for number in range(COUNT)])
_TEXT = np.array([label(number) for number in range(COUNT)])
_ONE_HOT = np.eye(3, dtype=np.float32)[_Y]
_CUTS = {"train": slice(0, 12), "validation": slice(12, 18), "test": slice(18, 24)}
_NUMBERS = tuple("012")


def arrays(
    name: str,
    make: Callable[[], Mapping[str, Any]],
    *,
    expected: str = "right",
    names: tuple[str, ...] | None = _NUMBERS,
    part: Callable[[int], str] = lambda _: "train",
    fix: Mapping[str, Any] | None = None,
    skip: Callable[[int], bool] = lambda _: False,
) -> Case:
    """A NumPy file; `names` are the true classes, None where it is no such file."""

    def write(folder: Path) -> Truth:
        path = folder / "data.npz"
        made = make()
        np.savez(path, *made.get("*", ()), **{k: v for k, v in made.items() if k != "*"})
        used = [number for number in range(COUNT) if names is not None and not skip(number)]
        images = {str(n): (names[index(n)], part(n)) for n in used} if names else {}
        return Truth("npz", path, images, fix or {})

    return Case(name, write, expected)


def _parts(form: str, x: str, y: str, *words: str) -> dict[str, Any]:
    """Three parts, or the first two of words: training, test, validation."""
    cuts = ("train", "test", "validation")
    slices = [_CUTS[part] for part in cuts]
    if len(words) == 2:
        slices = [slice(0, 18), _CUTS["test"]]
    made: dict[str, Any] = {}
    for word, cut in zip(words, slices, strict=False):
        made |= {form.format(x, word): _X[cut], form.format(y, word): _Y[cut]}
    return made


def _cut(number: int) -> str:
    return next(part for part, cut in _CUTS.items() if cut.start <= number < cut.stop)


def _two(number: int) -> str:
    return "train" if number < 18 else "test"


ARRAYS: tuple[Case, ...] = (
    arrays("Keras", lambda: _parts("{}_{}", "x", "y", "train", "test"), part=_two),
    arrays("three parts", lambda: _parts("{}_{}", "x", "y", "train", "test", "val"), part=_cut),
    arrays("scikit-learn", lambda: _parts("{}_{}", "X", "y", "train", "test"), part=_two),
    arrays(
        "capital labels", lambda: _parts("{}_{}", "X", "Y", "train", "test", "valid"), part=_cut
    ),
    arrays("part first", lambda: _parts("{1}_{0}", "x", "y", "train", "test"), part=_two),
    arrays(
        "MedMNIST",
        lambda: {
            k: v[:, None] if k.endswith("labels") else v
            for k, v in _parts("{1}_{0}", "images", "labels", "train", "test", "val").items()
        },
        part=_cut,
    ),
    arrays("camel case", lambda: _parts("{1}{0}", "X", "Y", "train", "test"), part=_two),
    arrays("no mark between", lambda: _parts("{}{}", "x", "y", "train", "test"), part=_two),
    arrays("images_train", lambda: _parts("{}_{}", "images", "labels", "train", "test"), part=_two),
    arrays(
        "data and target",
        lambda: _parts("{1}_{0}", "data", "target", "train", "test", "dev"),
        part=_cut,
    ),
    arrays(
        "training",
        lambda: _parts("{1}_{0}", "images", "labels", "training", "testing", "validation"),
        part=_cut,
    ),
    arrays("one part", lambda: {"x": _X, "y": _Y}),
    arrays("capital x", lambda: {"X": _X, "Y": _Y}),
    arrays("images and labels", lambda: {"images": _X, "labels": _Y}),
    arrays("image and label", lambda: {"image": _X, "label": _Y}),
    arrays("data and targets", lambda: {"data": _X, "targets": _Y}),
    arrays("img and cls", lambda: {"imgs": _X, "class": _Y}),
    arrays(
        "digits of scikit-learn",
        lambda: {
            "data": _X[..., 0].reshape(COUNT, -1),
            "images": _X[..., 0],
            "target": _Y,
            "target_names": np.arange(3),
            "DESCR": np.array("text"),
        },
    ),
    arrays(
        "faces of scikit-learn",
        lambda: {
            "data": _X[..., 0].reshape(COUNT, -1),
            "images": _X[..., 0],
            "target": _Y,
            "target_names": np.array(CLASSES),
        },
        names=CLASSES,
    ),
    arrays("flat alone", lambda: {"data": _X.reshape(COUNT, -1), "target": _Y}, expected="refused"),
    arrays("positions", lambda: {"*": (_X, _Y)}),
    arrays("positions, labels first", lambda: {"*": (_Y, _X)}),
    arrays("four positions", lambda: {"*": (_X[:18], _Y[:18], _X[18:], _Y[18:])}, part=_two),
    arrays(
        "four positions, images first",
        lambda: {"*": (_X[:18], _X[18:], _Y[:18], _Y[18:])},
        part=_two,
    ),
    arrays("labels (n, 1)", lambda: {"x": _X, "y": _Y[:, None]}),
    arrays("one-hot", lambda: {"x": _X, "y": _ONE_HOT}),
    arrays("one-hot bool", lambda: {"x": _X, "y": _ONE_HOT.astype(bool)}),
    arrays("float labels", lambda: {"x": _X, "y": _Y.astype(np.float32)}),
    arrays("float labels from 1", lambda: {"x": _X, "y": _Y + 1.0}, names=("1", "2", "3")),
    arrays(
        "labels from 1 with names",
        lambda: {"x": _X, "y": _Y + 1, "class_names": np.array(CLASSES)},
        names=CLASSES,
    ),
    arrays("text", lambda: {"x": _X, "y": _TEXT}, names=CLASSES),
    arrays("bytes", lambda: {"x": _X, "y": _TEXT.astype("S")}, names=CLASSES),
    arrays(
        "names of classes",
        lambda: {"x": _X, "y": _Y, "label_names": np.array(CLASSES)},
        names=CLASSES,
    ),
    arrays(
        "names as bytes",
        lambda: {"x": _X, "y": _Y, "classes": np.array(CLASSES).astype("S")},
        names=CLASSES,
    ),
    arrays(
        "labels as names", lambda: {"x": _X, "y": _Y, "labels": np.array(CLASSES)}, names=CLASSES
    ),
    arrays(
        "text and numbers",
        lambda: {"x": _X, "label": _Y, "label_names": np.array(CLASSES), "filenames": _TEXT},
        names=CLASSES,
    ),
    arrays("fine and coarse", lambda: {"x": _X, "y": _Y, "y_coarse": _Y // 2}),
    arrays(
        "two kinds of labels", lambda: {"x": _X, "label": _Y // 2, "target": _Y}, expected="said"
    ),
    arrays("channels first", lambda: {"x": np.moveaxis(_X, 3, 1), "y": _Y}),
    arrays(
        "either axis", lambda: {"x": np.moveaxis(_X[:, :, :3], 3, 1), "y": _Y}, expected="right"
    ),
    arrays("gray with an axis", lambda: {"x": _X[..., :1], "y": _Y}),
    arrays("gray", lambda: {"x": _X[..., 0], "y": _Y}),
    arrays("from 0 to 1", lambda: {"x": _X / np.float32(255), "y": _Y}),
    arrays("Fortran order", lambda: {"x": np.asfortranarray(_X), "y": _Y}),
    arrays(
        "labels that number the images",
        lambda: {"x": _X, "y": np.arange(COUNT)},
        names=None,
        expected="refused",
    ),
    arrays(
        "a measurement",
        lambda: {"x": _X, "y": np.linspace(0, 1, COUNT)},
        names=None,
        expected="refused",
    ),
    arrays(
        "several labels",
        lambda: {"x": _X, "y": np.tile([1, 1, 0], (COUNT, 1))},
        names=None,
        expected="refused",
    ),
    arrays(
        "soft labels", lambda: {"x": _X, "y": _ONE_HOT * 0.8 + 0.1}, names=None, expected="refused"
    ),
    arrays(
        "test without labels",
        lambda: {"x_train": _X[:18], "y_train": _Y[:18], "x_test": _X[18:]},
        skip=lambda i: i >= 18,
    ),
    arrays(
        "unknown names",
        lambda: {"faces_of": _X, "who": _Y},
        expected="refused",
        fix={"images": "faces_of", "labels": "who"},
    ),
    arrays(
        "unlabeled is -1",
        lambda: {"x": _X, "y": np.where(np.arange(COUNT) == 3, -1, _Y)},
        names=None,
        expected="said",
    ),
    arrays(
        "labels of other case",
        lambda: {"x": _X, "y": np.where(np.arange(COUNT) == 3, np.char.upper(_TEXT), _TEXT)},
        names=None,
        expected="said",
    ),
    arrays(
        "labels with spaces",
        lambda: {"x": _X, "y": np.where(np.arange(COUNT) == 3, np.char.add(_TEXT, " "), _TEXT)},
        names=CLASSES,
    ),
)


# records -----------------------------------------------------------------------------------

Record = Mapping[str, Any]


def records(
    name: str,
    files: Mapping[str, Callable[[int], Record]],
    *,
    expected: str = "right",
    names: tuple[str, ...] | None = CLASSES,
    part: Callable[[int], str] = lambda _: "train",
    fix: Mapping[str, Any] | None = None,
    skip: Callable[[int], bool] = lambda _: False,
) -> Case:
    """TFRecord files, each with an equal share of the images, in the order of their numbers."""

    def write(folder: Path) -> Truth:
        each = COUNT // len(files)
        for place, (file, record) in enumerate(files.items()):
            numbers = range(place * each, (place + 1) * each)
            write_records(folder / file, map(record, numbers))
        used = [number for number in range(COUNT) if names is not None and not skip(number)]
        images = {str(n): (names[index(n)], part(n)) for n in used} if names else {}
        return Truth("tfrecord", folder, images, fix or {})

    return Case(name, write, expected)


def _slim(number: int) -> Record:
    """As TF-Slim writes its data sets."""
    return {
        "image/encoded": image(number),
        "image/format": b"png",
        "image/class/label": index(number),
        "image/height": 2,
        "image/width": 2,
    }


def _imagenet(number: int) -> Record:
    text = label(number).encode()
    return {
        **_slim(number),
        "image/class/label": index(number) + 1,
        "image/class/text": text,
        "image/class/synset": b"n0" + text,
        "image/filename": f"{number}.png".encode(),
        "image/colorspace": b"RGB",
    }


def _plain(number: int, key: str = "label") -> Record:
    return {"image": image(number), key: label(number).encode(), "id": f"{number:08}".encode()}


def _unlabeled(number: int) -> Record:
    return {"image": image(number), "id": f"{number:08}".encode()}


def _half(number: int) -> str:
    return "train" if number < COUNT // 2 else "test"


RECORDS: tuple[Case, ...] = (
    records("TF-Slim", {"a.tfrecord": _slim}, names=_NUMBERS),
    records("ImageNet", {"train-00000-of-00002": _imagenet, "train-00001-of-00002": _imagenet}),
    records(
        "ImageNet with validation",
        {"train-00000-of-00001": _imagenet, "validation-00000-of-00001": _imagenet},
        part=lambda n: "train" if n < COUNT // 2 else "validation",
    ),
    records("text", {"a.tfrec": _plain}),
    *(
        records(f"text in {key}", {"a.tfrec": lambda n, key=key: _plain(n, key)})
        for key in ("class", "category", "species", "breed", "class_name", "target")
    ),
    records("numbers and text", {"a.tfrec": lambda n: {**_plain(n), "class": index(n)}}),
    records(
        "one-hot",
        {"a.tfrec": lambda n: {"image": image(n), "one_hot_class": np.eye(3)[index(n)].tolist()}},
        names=_NUMBERS,
    ),
    records(
        "petals of Kaggle",
        {
            "tfrecords/train/00-64x64-12.tfrec": _plain,
            "tfrecords/test/00-64x64-12.tfrec": _unlabeled,
        },
        skip=lambda n: n >= COUNT // 2,
    ),
    records(
        "unlabeled part sorts first",
        {"z-train.tfrec": _plain, "a-test.tfrec": _unlabeled},
        skip=lambda n: n >= COUNT // 2,
    ),
    records(
        "test labels of TensorFlow Datasets",
        {
            "d-train.tfrecord-00000-of-00001": lambda n: {"image": image(n), "label": index(n)},
            "d-test.tfrecord-00000-of-00001": lambda n: {"image": image(n), "label": -1},
        },
        names=_NUMBERS,
        skip=lambda n: n >= COUNT // 2,
    ),
    records("parts", {"f-train.tfrec": _plain, "f-test.tfrec": _plain}, part=_half),
    records("trn and holdout", {"f_trn.tfrec": _plain, "f_holdout.tfrec": _plain}, part=_half),
    records(
        "spaces and forms",
        {"a.tfrec": lambda n: {"image": image(n), "label": (label(n) + " " * (n % 2)).encode()}},
    ),
    records(
        "labels of other case",
        {
            "a.tfrec": lambda n: {
                "image": image(n),
                "label": (label(n).upper() if n % 5 == 0 else label(n)).encode(),
            }
        },
        expected="said",
        names=None,
    ),
    records(
        "two numbers",
        {"a.tfrec": lambda n: {"image": image(n), "label": n % 2, "target": index(n)}},
        names=_NUMBERS,
        expected="said",
    ),
    records("image and mask", {"a.tfrec": lambda n: {**_plain(n), "mask": image(200)}}),
    records(
        "several labels",
        {"a.tfrec": lambda n: {"image": image(n), "label": [index(n), 7]}},
        names=None,
        expected="refused",
    ),
    records(
        "running number",
        {"a.tfrec": lambda n: {"image": image(n), "label": n}},
        names=None,
        expected="refused",
    ),
    records(
        "raw pixels",
        {"a.tfrec": lambda n: {"image_raw": bytes(12), "label": index(n)}},
        names=None,
        expected="refused",
    ),
    records("no label", {"a.tfrec": _unlabeled}, names=None, expected="refused"),
    records(
        "unknown name",
        {"a.tfrec": lambda n: {"image": image(n), "what_it_is": index(n)}},
        names=_NUMBERS,
        expected="refused",
        fix={"label": "what_it_is"},
    ),
)
