"""What counts as right and wrong is what the rows say."""

from __future__ import annotations

from msgspec.structs import replace

from workbench.inference.many import AgreementCounter
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified


def test_each_image_counts_once_as_its_row_says():
    counter = AgreementCounter(["cat", "dog"])
    cat = Classified(file="a.png", label="cat", truth="Cat")
    answers = [cat, cat, replace(cat, truth="dog"), replace(cat, truth="horse")]
    answers += [replace(cat, truth=""), replace(cat, unknown="unlike the training images")]
    answers += [replace(cat, truth="dog", unknown="unlike the training images")]
    answers += [replace(cat, error=ErrorParts(what="It is empty."))]
    for answer in answers:
        counter.add(answer)
    found = counter.result()
    assert (found.num_right, found.num_wrong, found.num_unknown) == (2, 1, 2)
    assert (found.num_foreign, found.num_unlabeled) == (1, 1)
    assert found.accuracy == 2 / 3
