"""What was trained on what, how good it is, and how sure that is."""

from __future__ import annotations

from workbench.backbones import all_backbones, backbone_keys
from workbench.core.evaluation.significance import wilson_interval
from workbench.core.format import count, duration, plural, share, short
from workbench.report.blocks import Block, Section, Text, plain_name, plain_text
from workbench.report.blocks import Facts as Figures
from workbench.report.facts import Facts, SectionSpec
from workbench.runs.log.texts import chosen_words, test_set_words


def section(facts: Facts) -> Section:
    """The few sentences and figures that most people read."""
    sentences = [_trained(facts), _tested(facts), _weights(facts)]
    blocks: list[Block] = [Text(" ".join(filter(None, sentences)), "lead")]
    if facts.history.verdict:
        blocks.append(Text(f"{facts.history.verdict}.", "note"))
    if facts.outcome.kind != "completed":
        blocks.append(Text(_unfinished(facts), "missing"))
    blocks += [Text(plain_text(each), "missing") for each in facts.problems]
    if rows := _figures(facts):
        blocks.append(Figures(rows, is_large=True))
    if facts.notes.text:
        blocks.append(Text(plain_text(facts.notes.text), "quote"))
    return Section("Summary", blocks)


def interval_words(facts: Facts) -> str:
    """The 95% interval of the test accuracy: "83.6% to 92.1%"; "" without a test."""
    test = facts.test
    if test is None or test.accuracy is None or not test.count:
        return ""
    low, high = wilson_interval(round(test.accuracy * test.count), test.count)
    return f"{share(low)} to {share(high)}"


def _trained(facts: Facts) -> str:
    data, project = facts.history.data, facts.project
    what = "A network"
    if facts.analysis is not None and project is not None:
        parameters = facts.analysis.costs.parameters.total
        what = f"A network of {plural(len(project.graph.nodes), 'layer')}"
        what += f" with {count(parameters)} parameters"
        if keys := backbone_keys(project.graph):
            titles = [all_backbones()[key].title for key in keys if key in all_backbones()]
            what += f", on the pretrained {' and '.join(titles)}" if titles else ""
    source = plain_name(facts.summary.dataset) if facts.summary.dataset else "unknown images"
    if data is None:
        return f"{what}, to be trained on {source}."
    images = plural(data.num_train, "image")
    classes = plural(len(data.class_names), "class", "classes")
    done = facts.summary.epochs_done
    epochs = f" for {plural(done, 'epoch')}" if done else ""
    return f"{what} was trained on {images} of {source} in {classes}{epochs}."


def _tested(facts: Facts) -> str:
    test, result = facts.test, facts.scored.result
    if test is None or test.accuracy is None:
        return ""
    images = plural(test.count, "test image") if test.count else "the test images"
    words = f"Of {images} it classifies {share(test.accuracy)} correctly"
    interval = interval_words(facts)
    words += f" (95% interval: {interval})." if interval else "."
    on_test = facts.history.is_validated_on_test
    on_test = result.is_validated_on_test if result is not None else on_test
    return " ".join(filter(None, (words, test_set_words(is_validated_on_test=on_test))))


def _weights(facts: Facts) -> str:
    words = chosen_words(facts.weights)
    return f"These are the weights of the {words}." if words else ""


def _unfinished(facts: Facts) -> str:
    has_more = facts.outcome.kind in ("running", "silent", "waiting", "away", "paused")
    later = " What comes later is not in this report." if has_more else ""
    return f"{plain_text(facts.outcome.sentence())}{later}"


def _figures(facts: Facts) -> list[tuple[str, str]]:
    rows = []
    test, best = facts.test, facts.history.best
    if test is not None and test.accuracy is not None:
        rows.append(("Test accuracy", share(test.accuracy)))
    elif best is not None and best.val_accuracy is not None:
        rows.append((f"Validation accuracy, best epoch ({best.epoch})", share(best.val_accuracy)))
    if test is not None and test.loss is not None:
        rows.append((f"Test {facts.loss_words}", f"{test.loss:.3f}"))
    if facts.analysis is not None:
        rows.append(("Parameters", short(facts.analysis.costs.parameters.total)))
    if facts.history.data is not None:
        rows.append(("Training images", count(facts.history.data.num_train)))
    if facts.history.training_s:
        rows.append(("Training time", duration(facts.history.training_s)))
    return rows


SPEC = SectionSpec(key="summary", order=10, make=section)
