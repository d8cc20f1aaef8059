"""How a program for a notebook service comes to its images."""

from __future__ import annotations

import textwrap
from typing import Any

from workbench.programs.code import literal

DOWNLOADED_WORDS = """## The images

Keras downloads them as raw values from 0 to 255, with a class number each."""

FILES_WORDS = """## The images

**Set DATA to their path.** It can be

- a folder with one folder of images per class, or the folders `train` and `test` of such
  folders;
- a `.zip` file of such a folder;
- an `.npz` file with `x_train` and `y_train`, and `x_test` and `y_test` where there is a test
  set;
- a `.csv` table with the columns path and label.

**Colab**: drop the file on the *Files* panel on the left; its name is then enough.
**Kaggle**: *Add Input*, then use `/kaggle/input/` and the name that it shows."""

_DOWNLOADED = '''def load_data():
    """Training and test images with their labels."""
{body}


(x_train, y_train), (x_test, y_test) = load_data()
x_train, x_test = x_train.reshape(-1, *INPUT_SHAPE), x_test.reshape(-1, *INPUT_SHAPE)
y_train, y_test = (np.asarray(y, np.int64).ravel() for y in (y_train, y_test))
print(f"{{len(x_train):,}} training images, {{len(x_test):,}} test images")
'''

_FIT = {
    "crop": """    scale = min(image.width / width, image.height / height)
    left, top = (image.width - scale * width) / 2, (image.height - scale * height) / 2
    box = (left, top, image.width - left, image.height - top)
    image = image.resize((width, height), bilinear, box=box, reducing_gap=3.0)
""",
    "pad": """    scale = min(width / image.width, height / image.height)
    inner = max(1, round(scale * image.width)), max(1, round(scale * image.height))
    small = image.resize(inner, bilinear, reducing_gap=3.0)
    image = Image.new(small.mode, (width, height))
    image.paste(small, ((width - inner[0]) // 2, (height - inner[1]) // 2))
""",
    "stretch": """    image = image.resize((width, height), bilinear, reducing_gap=3.0)
""",
}
"""How a picture is brought to (width, height), as `pictures.fit` does it."""

_PIL = "from PIL import Image, ImageOps\n"

_FITTED = '''

def fitted(image):
    """An image in the size and the colors of the model input, uint8."""
    height, width, channels = INPUT_SHAPE
    image = ImageOps.exif_transpose(image).convert("L" if channels == 1 else "RGB")
    bilinear = Image.Resampling.BILINEAR
{fit}    return np.asarray(image, np.uint8).reshape(INPUT_SHAPE)


def fitted_array(x):
    """An array of images as the model needs them: values from 0 to 255, in its size."""
    if np.issubdtype(x.dtype, np.floating):
        x = np.rint(x * (255 if x.max() <= 1 else 1))
    x = x.astype(np.uint8)
    if x.ndim == 3:
        x = x[..., None]
    if x.shape[1:] == INPUT_SHAPE:
        return x
    images = [Image.fromarray(one[..., 0] if one.shape[-1] == 1 else one) for one in x]
    return np.stack([fitted(image) for image in images])
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
    """Sorts "image 2" before "image 10", as people do."""
    parts = re.findall("[0-9]+|[^0-9]+", path.name.casefold())
    key = [(0, int(part), part) if part[0] in "0123456789" else (1, 0, part) for part in parts]
    return key, path.name


def entries(folder):
    """What a folder holds, sorted, without hidden files."""
    found = [path for path in folder.iterdir() if not path.name.startswith((".", "__MACOSX"))]
    return sorted(found, key=natural)


def folders(folder):
    return [path for path in entries(folder) if path.is_dir()]


def images_in(folder):
    """The image files of a folder; those of its subfolders come after."""
    found = [path for path in entries(folder) if path.suffix.lower() in ENDINGS]
    for inner in folders(folder):
        found += images_in(inner)
    return found


def read_files(paths, names):
    """Images and class numbers of files; unreadable files are printed and skipped."""
    x, y = [], []
    for path, name in zip(paths, names):
        try:
            with Image.open(path) as image:
                x.append(fitted(image))
        except OSError as error:
            print(f"skipped: {path} ({error})")
            continue
        y.append(CLASS_NAMES.index(name))
    if not x:
        raise SystemExit(f"{DATA!r} has no images of {', '.join(CLASS_NAMES)}.")
    return np.stack(x), np.array(y, np.int64)


def read_classes(folder):
    """The images of a folder with one folder per class."""
    if not CLASS_NAMES:
        CLASS_NAMES.extend(path.name for path in folders(folder))
    names = [path.name for path in folders(folder) if path.name in CLASS_NAMES]
    paths = {name: images_in(folder / name) for name in names}
    labels = [name for name in names for _ in paths[name]]
    return read_files([path for name in names for path in paths[name]], labels)


def read_folder(folder):
    """The training set, and the test set where there is one."""
    inside = {path.name.casefold(): path for path in folders(folder)}
    if len(inside) == 1 and not folders(next(iter(inside.values()))):
        raise SystemExit(f"{folder} has a single class.")
    train = inside.get("train", inside.get("training"))
    tests = ("test", "testing", "val", "valid", "validation")
    test = next((inside[name] for name in tests if name in inside), None)
    if train is None or not folders(train) or (test is None and len(inside) > 1):
        return read_classes(folder), (None, None)
    return read_classes(train), read_classes(test) if test else (None, None)


def read_table(path):
    """The images of a table with the columns path and label."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 2]
    if not (path.parent / rows[0][0]).is_file():
        rows = rows[1:]  # the headings
    if not CLASS_NAMES:
        CLASS_NAMES.extend(sorted({row[1] for row in rows}))
    paths = [path.parent / row[0] for row in rows]
    return read_files(paths, [row[1] for row in rows]), (None, None)


def read_arrays(path):
    """The images and labels of an npz file."""
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
    """Training images and labels, and test images where DATA has a test set."""
    path = pathlib.Path(DATA)
    if path.suffix == ".zip":
        shutil.unpack_archive(path, "images")
        path = pathlib.Path("images")
    while path.is_dir() and len(folders(path)) == 1 and folders(folders(path)[0]):
        path = folders(path)[0]
    if path.is_dir():
        return read_folder(path)
    readers = {".npz": read_arrays, ".csv": read_table}
    if not path.is_file() or path.suffix not in readers:
        raise SystemExit(f"DATA is {DATA!r}, which is no folder, .zip, .npz or .csv file.")
    return readers[path.suffix](path)


(x_train, y_train), (x_test, y_test) = load_data()
print(f"{len(x_train):,} images of {len(CLASS_NAMES)} classes")
'''


_LOAD = '''

def load_data():
    """Training and test images with their labels."""
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
    line = f"DATA = {literal(context.data_path)}  # <- where your images are\n"
    return f"import csv\nimport re\nimport shutil\n\n{_PIL}\n{line}{fitted}{_FILES}"


def data_words(context: Any) -> str:
    """What people must do for the images, in the introduction."""
    if context.load_program:
        return "The program downloads the images."
    return "Upload your images there and set **DATA**."
