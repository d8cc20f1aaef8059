"""How a program for a notebook service comes to its pictures."""

from __future__ import annotations

import textwrap
from typing import Any

from workbench.programs.code import literal

DOWNLOADED_WORDS = """## The images

Keras downloads them, raw: values from 0 to 255, and the number of each one's class."""

FILES_WORDS = """## The images

**The line DATA says where they are.** It may name

- a folder that holds one folder of pictures for each class, or the folders `train` and `test`
  of such folders;
- a `.zip` file of such a folder;
- an `.npz` file with `x_train` and `y_train`, and `x_test` and `y_test` where there is a test
  part;
- a `.csv` table with the columns path and label.

**Colab**: drop the file on the panel *Files* at the left; its name is then enough.
**Kaggle**: *Add Input*, then `/kaggle/input/` and the name that it shows."""

_DOWNLOADED = '''def load_data():
    """Pictures and labels to train on, and to test on."""
{body}


(x_train, y_train), (x_test, y_test) = load_data()
x_train, x_test = x_train.reshape(-1, *INPUT_SHAPE), x_test.reshape(-1, *INPUT_SHAPE)
y_train, y_test = (np.asarray(y, np.int64).ravel() for y in (y_train, y_test))
print(f"{{len(x_train):,}} training images, {{len(x_test):,}} test images")
'''

_FIT = {
    "crop": """    scale = min(picture.width / width, picture.height / height)
    left, top = (picture.width - scale * width) / 2, (picture.height - scale * height) / 2
    box = (left, top, picture.width - left, picture.height - top)
    picture = picture.resize((width, height), bilinear, box=box, reducing_gap=3.0)
""",
    "pad": """    scale = min(width / picture.width, height / picture.height)
    inner = max(1, round(scale * picture.width)), max(1, round(scale * picture.height))
    small = picture.resize(inner, bilinear, reducing_gap=3.0)
    picture = Image.new(small.mode, (width, height))
    picture.paste(small, ((width - inner[0]) // 2, (height - inner[1]) // 2))
""",
    "stretch": """    picture = picture.resize((width, height), bilinear, reducing_gap=3.0)
""",
}
"""How a picture is brought to (width, height), as `pictures.fit` does it."""

_PIL = "from PIL import Image, ImageOps\n"

_FITTED = '''

def fitted(picture):
    """A picture in the size and the colours that the network takes, uint8."""
    height, width, channels = INPUT_SHAPE
    picture = ImageOps.exif_transpose(picture).convert("L" if channels == 1 else "RGB")
    bilinear = Image.Resampling.BILINEAR
{fit}    return np.asarray(picture, np.uint8).reshape(INPUT_SHAPE)


def fitted_array(x):
    """An array of pictures as the network takes them: values from 0 to 255, its own size."""
    if np.issubdtype(x.dtype, np.floating):
        x = np.rint(x * (255 if x.max() <= 1 else 1))
    x = x.astype(np.uint8)
    if x.ndim == 3:
        x = x[..., None]
    if x.shape[1:] == INPUT_SHAPE:
        return x
    pictures = [Image.fromarray(one[..., 0] if one.shape[-1] == 1 else one) for one in x]
    return np.stack([fitted(picture) for picture in pictures])
'''

_FITTED_DOWNLOAD = """
(x_train, y_train), (x_test, y_test) = load_data()
x_train, x_test = fitted_array(x_train), fitted_array(x_test)
y_train, y_test = (np.asarray(y, np.int64).ravel() for y in (y_train, y_test))
print(f"{len(x_train):,} training images, {len(x_test):,} test images")
"""

_FILES = '''

ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


def natural(path):
    """Sorts "picture 2" before "picture 10", as people do."""
    parts = re.findall("[0-9]+|[^0-9]+", path.name.casefold())
    key = [(0, int(part), part) if part[0] in "0123456789" else (1, 0, part) for part in parts]
    return key, path.name


def entries(folder):
    """What a folder holds, sorted, without hidden files."""
    found = [path for path in folder.iterdir() if not path.name.startswith((".", "__MACOSX"))]
    return sorted(found, key=natural)


def folders(folder):
    return [path for path in entries(folder) if path.is_dir()]


def pictures_in(folder):
    """The picture files of a folder; those of the folders inside come after."""
    found = [path for path in entries(folder) if path.suffix.lower() in ENDINGS]
    for inner in folders(folder):
        found += pictures_in(inner)
    return found


def read_files(paths, names):
    """Pictures and class numbers of files; what cannot be read is told and left out."""
    x, y = [], []
    for path, name in zip(paths, names):
        try:
            with Image.open(path) as picture:
                x.append(fitted(picture))
        except OSError as error:
            print(f"left out: {path} ({error})")
            continue
        y.append(CLASS_NAMES.index(name))
    if not x:
        raise SystemExit(f"{DATA!r} holds no pictures of {', '.join(CLASS_NAMES)}.")
    return np.stack(x), np.array(y, np.int64)


def read_classes(folder):
    """The pictures of a folder that holds one folder for each class."""
    if not CLASS_NAMES:
        CLASS_NAMES.extend(path.name for path in folders(folder))
    names = [path.name for path in folders(folder) if path.name in CLASS_NAMES]
    paths = {name: pictures_in(folder / name) for name in names}
    labels = [name for name in names for _ in paths[name]]
    return read_files([path for name in names for path in paths[name]], labels)


def read_folder(folder):
    """The training part, and the test part where there is one."""
    inside = {path.name.casefold(): path for path in folders(folder)}
    if len(inside) == 1 and not folders(next(iter(inside.values()))):
        raise SystemExit(f"{folder} holds a single class.")
    train = inside.get("train", inside.get("training"))
    tests = ("test", "testing", "val", "valid", "validation")
    test = next((inside[name] for name in tests if name in inside), None)
    if train is None or not folders(train) or (test is None and len(inside) > 1):
        return read_classes(folder), (None, None)
    return read_classes(train), read_classes(test) if test else (None, None)


def read_table(path):
    """The pictures of a table with the columns path and label."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 2]
    if not (path.parent / rows[0][0]).is_file():
        rows = rows[1:]  # the headings
    if not CLASS_NAMES:
        CLASS_NAMES.extend(sorted({row[1] for row in rows}))
    paths = [path.parent / row[0] for row in rows]
    return read_files(paths, [row[1] for row in rows]), (None, None)


def read_arrays(path):
    """The pictures and labels of an npz file."""
    with np.load(path) as file:
        names = ("x_train", "y_train") if "x_train" in file else ("x", "y")
        x, y = (file[name] for name in names)
        has_test = "x_test" in file and "y_test" in file
        test = (file["x_test"], file["y_test"]) if has_test else (x[:0], y[:0])
    labels = np.concatenate([y, test[1]])
    labels = labels.argmax(1) if labels.ndim == 2 and labels.shape[1] > 1 else labels.ravel()
    values, numbers = np.unique(labels, return_inverse=True)
    if values.dtype.kind in "iuf" and values[0] >= 0 and values[-1] < len(CLASS_NAMES):
        numbers = labels  # numbers of classes already
    if not CLASS_NAMES:
        CLASS_NAMES.extend(str(value) for value in values)
    numbers = numbers.astype(np.int64)
    train = fitted_array(x), numbers[: len(x)]
    return train, (fitted_array(test[0]), numbers[len(x) :]) if has_test else (None, None)


def load_data():
    """Pictures and labels to train on, and to test on where DATA has such a part."""
    path = pathlib.Path(DATA)
    if path.suffix == ".zip":
        shutil.unpack_archive(path, "pictures")
        path = pathlib.Path("pictures")
    while path.is_dir() and len(folders(path)) == 1 and folders(folders(path)[0]):
        path = folders(path)[0]
    if path.is_dir():
        return read_folder(path)
    readers = {".npz": read_arrays, ".csv": read_table}
    if not path.is_file() or path.suffix not in readers:
        raise SystemExit(f"The line DATA names {DATA!r}: no folder, .zip, .npz or .csv file.")
    return readers[path.suffix](path)


(x_train, y_train), (x_test, y_test) = load_data()
print(f"{len(x_train):,} images of {len(CLASS_NAMES)} classes")
'''


_LOAD = '''

def load_data():
    """Pictures and labels to train on, and to test on."""
'''


def data_text(context: Any) -> str:
    """The cell that sets x_train, y_train, x_test and y_test; the last two may be None.

    Args:
        context: ProgramContext-like: `load_program`, `is_fixed_shape`, `data_path`, `fit`.
    """
    fit = _FIT.get(context.fit, _FIT["crop"])
    if context.load_program and context.is_fixed_shape:
        return _DOWNLOADED.format(body=textwrap.indent(context.load_program.rstrip(), "    "))
    # Not by format: the text holds braces of its own.
    fitted = _FITTED.replace("{fit}", fit)
    if context.load_program:
        body = textwrap.indent(context.load_program.rstrip(), "    ")
        return f"{_PIL}{fitted}{_LOAD}{body}\n\n{_FITTED_DOWNLOAD}"
    line = f"DATA = {literal(context.data_path)}  # <- where your pictures are\n"
    return f"import csv\nimport re\nimport shutil\n\n{_PIL}\n{line}{fitted}{_FILES}"


def data_words(context: Any) -> str:
    """What people must do for the pictures, in the introduction."""
    if context.load_program:
        return "The program downloads the images."
    return "Upload your images there and set **DATA**."
