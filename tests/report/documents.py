"""Reports of written runs, and HTML read back as a browser would."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from tests.written_runs import WrittenRun
from workbench.core.projects.project import new_project_id
from workbench.report.facts import Example, Scored, read_facts, with_scores
from workbench.report.page import page
from workbench.report.write import compose
from workbench.templates import find_template

HOSTILE = "<script>alert('x')</script>"
RIGHT_TO_LEFT = "\u202eקטגוריה\u2066"
LONG = "a very long name " * 100


class Page(HTMLParser):
    """Elements as (name, attributes), texts, and which elements were never closed."""

    VOID = frozenset({"meta", "img", "br", "path", "image"})

    def __init__(self, data: bytes):
        super().__init__()
        self.elements, self.texts, self.open, self.broken = [], [], [], []
        self.feed(data.decode())
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]

    @property
    def text(self):
        return "\n".join(self.texts)


def written_run(names=("cat", "dog"), *, title="Pets", epochs=3, template="lenet5", finish=True):
    project = find_template(template).project
    project = replace(project, id=new_project_id(), title=title)
    run = WrittenRun(title, epochs=epochs, project=project)
    run.begin(class_names=names).train(epochs)
    return run.finish() if finish else run


def scored(names, *, images=400, seed=1, examples=4):
    """Scores as a worker finds them, with some of the images."""
    from workbench.core.evaluation.confusion import Confusion
    from workbench.inference.runner import class_scores
    from workbench.protocol.trained.evaluate import Evaluation, cells_of

    random = np.random.default_rng(seed)
    truth = random.integers(0, len(names), images)
    guess = np.where(random.random(images) < 0.7, truth, random.integers(0, len(names), images))
    confusion = Confusion.of_images(truth, guess, len(names))
    result = Evaluation(
        loss=0.7,
        accuracy=float((truth == guess).mean()),
        classes=list(names),
        per_class=class_scores(confusion, names),
        confusion=cells_of(confusion),
    )
    pixels = random.integers(0, 256, (examples, 28, 28, 1), dtype=np.uint8)
    shown = tuple(
        Example(
            pixels=pixels[place],
            file=f"/home/someone/{HOSTILE}.png",
            actual=0,
            predicted=place % 2,
            probability=0.9,
            heat=random.random((28, 28)).astype(np.float32),
        )
        for place in range(examples)
    )
    return Scored(result, shown, method="gradcam")


def document_of(run, scores=None):
    facts = read_facts(run.folder)
    return compose(facts if scores is None else with_scores(facts, scores))


def page_of(run, scores=None):
    data = page(document_of(run, scores))
    return data, Page(data)
