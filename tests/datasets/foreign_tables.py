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
        expected="said",
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
        expected="said",
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
        "folders inside folders",
        "id,landmark_id",
        lambda i: f"{_hex(i)},{index(i) + 7}",
        lambda i: f"train/{_hex(i)[0]}/{_hex(i)[1]}/{_hex(i)[2]}/{_hex(i)}.jpg",
        truth=lambda i: str(index(i) + 7),
    ),
)
