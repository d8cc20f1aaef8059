"""The inspector: what is selected, its settings and numbers; or the network's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QScrollArea, QWidget

from workbench.backbones import all_backbones
from workbench.core.checks.analysis import Analysis
from workbench.core.checks.matrix_unit import tpu_hint
from workbench.core.checks.problems import Problem
from workbench.core.format import count, list_text, shape_text
from workbench.core.network.folding import card_id
from workbench.core.network.graph import TRAININGS, Edge, Graph, Node, Training
from workbench.core.network.roles import Layers, has_role, is_augmentation, node_text
from workbench.core.params import Param, SizeParam
from workbench.core.specs import LayerSpec, Role, shared_params
from workbench.errors import WorkbenchError
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.design.canvas.node_facts import (
    Facts,
    group_facts_rows,
    layer_facts,
    network_facts,
    problems_of,
    selection_facts,
)
from workbench.gui.design.state import DesignState
from workbench.gui.forms.number_field import select_on_focus
from workbench.gui.forms.param_editors import MIXED, NoWheelComboBox
from workbench.gui.forms.param_form import ParamForm, share_undo_keys
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip, restyle
from workbench.gui.kit.layout import STRETCH, Gap, column, row
from workbench.gui.kit.problem_list import ProblemList
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import FactRows, TextBox

# training box --------------------------------------------------------------------------------
# Box for when the selected layers learn, and with which weights they start.

_ICON_PX = 16
_TEXTS: dict[Training, tuple[str, str, str]] = {
    "always": ("Always", "train", "Its weights are trained from the first epoch on."),
    "fine_tuning": (
        "Fine-tuning only",
        "fine_tuning",
        "Its weights are trained in the fine-tuning phase; before, they stay as they are.",
    ),
    "never": (
        "Never (frozen)",
        "frozen",
        "Its weights stay as they are: trainable=False.",
    ),
}
_TIP = (
    "When the weights are trained. Keras's word for it is trainable: a frozen layer has "
    "trainable=False."
)


class TrainingBox(QWidget):
    """A row with a choice, and what is known of the initial weights.

    Signals:
        training_chosen(str): The layers shall learn then.
        random_asked(): The layers shall start with random weights.
        restore_asked(): The layers shall start with their pretrained weights again.
    """

    training_chosen = Signal(str)
    random_asked = Signal()
    restore_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.choice = NoWheelComboBox()
        self.choice.setAccessibleName("Training")
        self.choice.setToolTip(plain_tip(_TIP))
        self.choice.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.choice.setPlaceholderText(MIXED)
        for key in TRAININGS:
            self.choice.addItem(_TEXTS[key][0], key)
        self.choice.activated.connect(self._on_activated)
        self.weights = plain_label(role="dim", wrap=True)
        self.random = button("Use random weights instead", role="link")
        self.random.clicked.connect(self.random_asked)
        self.restore = button("Restore pretrained weights", role="link")
        self.restore.clicked.connect(self.restore_asked)
        label = plain_label("Training", role="dim")
        label.setBuddy(self.choice)
        label.setToolTip(plain_tip(_TIP))
        lines = (row(label, (self.choice, 1), spacing=12), self.weights)
        links = (row(each, STRETCH) for each in (self.random, self.restore))
        column(*lines, *links, parent=self, spacing=4)
        theme.changed.connect(self._show_icons)
        self._show_icons()

    def _show_icons(self) -> None:
        colors = self._theme.colors
        tones = {"never": colors.frozen, "fine_tuning": colors.fine_tuning}
        for place, key in enumerate(TRAININGS):
            self.choice.setItemIcon(place, self._theme.icon(_TEXTS[key][1], tones.get(key)))

    def show_nodes(self, nodes: Sequence[Node], *, can_restore: bool) -> None:
        """Shows when some layers with weights learn, where their initial weights are from, and
        whether they could be pretrained ones again.
        """
        found = {node.training for node in nodes}
        self.choice.setCurrentIndex(TRAININGS.index(found.pop()) if len(found) == 1 else -1)
        weights = _origin_text([node.pretrained for node in nodes if node.pretrained])
        self.weights.setText(weights)
        self.weights.setVisible(bool(weights))
        self.random.setVisible(bool(weights))
        self.restore.setVisible(can_restore)

    def _on_activated(self, place: int) -> None:
        self.training_chosen.emit(TRAININGS[place])


def _origin_text(pretrained: Sequence[str]) -> str:
    """Whose weights layers start with, such as "Starts with the weights of ResNet50, conv1"."""
    if not pretrained:
        return ""
    keys = dict.fromkeys(each.partition("/")[0] for each in pretrained)
    names = list_text([_title(key) for key in keys])
    if len(pretrained) == 1:
        layer = pretrained[0].partition("/")[2]
        return f"Starts with the weights of {names}, {layer}, trained on ImageNet"
    return f"Start with the weights of {names}, trained on ImageNet"


def _title(key: str) -> str:
    spec = all_backbones().get(key)
    return key if spec is None else spec.title


# connection box ------------------------------------------------------------------------------
# What the inspector shows of a selected connection: both layers, and what can be done with it.


class ConnectionBox(QWidget):
    """Box with the start and the end of a connection, with buttons.

    Signals:
        insert_asked(), remove_asked(): A button was clicked.
    """

    insert_asked = Signal()
    remove_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = plain_label(wrap=True)
        self.insert = button("Insert layer…")
        self.remove = button("")
        self.insert.clicked.connect(self.insert_asked)
        self.remove.clicked.connect(self.remove_asked)
        buttons = (row(each, STRETCH) for each in (self.insert, self.remove))
        column(self.words, *buttons, parent=self, spacing=8)

    def show_edges(self, edges: tuple[Edge, ...], graph: Graph, layers: Layers) -> None:
        """Shows one connection, or what can be done with several."""
        is_one = len(edges) == 1
        self.words.setVisible(is_one)
        self.insert.setVisible(is_one)
        self.remove.setText("Remove connection" if is_one else "Remove connections")
        if is_one:
            ends = (graph.nodes[key] for key in (edges[0].source, edges[0].target))
            start, end = (node_text(node, layers) for node in ends)
            self.words.setText(f"From {start}\nto {end}")


def edges_heading(edges: tuple[Edge, ...]) -> str:
    """The inspector's heading for selected connections."""
    return "Connection" if len(edges) == 1 else f"{count(len(edges))} connections"


def edges_facts(edges: tuple[Edge, ...], graph: Graph, analysis: Analysis) -> Facts:
    """What flows through one connection, and into which of several inputs."""
    if len(edges) != 1:
        return [("Connections", count(len(edges)))]
    (edge,) = edges
    shape = analysis.shapes.get(edge.source)
    facts = [("Shape", shape_text(shape) if shape else "unknown")]
    if (inputs := len(graph.edges_into(edge.target))) > 1:
        facts.append(("Into input", f"{count(edge.port + 1)} of {count(inputs)}"))
    return facts


# inspector -----------------------------------------------------------------------------------

_GAP_PX = 6
_HOW_TO = (
    "Click a layer to edit its settings. Drag layers from the left; drop one on a connection to "
    "insert it."
)

_CONNECTIONS = (
    "Drag the end of a connection to another layer, or away from all layers to remove it. Drop a "
    "layer on it to insert that."
)
_TOGETHER = "Move, copy, duplicate or delete them together."
_GROUP = (
    "Double-click the group to open or fold it. Right-click a layer in it and choose “Fine-tune "
    "from here on” to train the last part only."
)
_FOR_ALL = "What you enter is set for all of them."

_UNKNOWN = "This version does not support this layer type. It is kept unchanged."


class InspectorPanel(QScrollArea):
    """Settings and numbers of the selected layer, totals of several; the selected connections;
    totals of the network where nothing is selected.

    Attributes:
        form: The form of the one selected layer.
    """

    def __init__(self, state: DesignState) -> None:
        super().__init__()
        self._state = state
        self._document = state.context.document
        self._layers = state.context.layers
        self._selected: tuple[str, ...] = ()
        self.form: ParamForm | None = None
        self._form_nodes: tuple[str, ...] = ()
        self._form_params: tuple[Param, ...] = ()
        self._page = ""
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(250)
        self._build()
        state.selection_changed.connect(self.show_nodes)
        state.node_activated.connect(self.edit_node)
        self._document.project_replaced.connect(self._on_project_replaced)
        state.context.estimator.changed.connect(self._refresh)
        state.context.library.runs_changed.connect(self._show_link)
        # Follows each change of the network and each replaced project, with all signals.
        self._document.analysis_changed.connect(lambda _analysis: self._refresh())
        self._refresh()

    def _build(self) -> None:
        page = QWidget()
        page.setObjectName("inspector_page")
        self.setWidget(page)
        self.heading = plain_label(role="strong", wrap=True)
        self.name = self._make_name()
        self.name_error = plain_label(role="bad", wrap=True)
        self._form_place = column()
        self.training = TrainingBox(self._state.context.theme)
        self.training.training_chosen.connect(self._on_training)
        self.training.random_asked.connect(
            lambda: self._document.use_random_weights(self._selected)
        )
        self.training.restore_asked.connect(lambda: self._document.restore_weights(self._selected))
        self._facts_heading = plain_label(role="heading")
        self.facts = FactRows()
        self.preview = button("Preview augmentation…")
        self.preview.clicked.connect(self._on_preview)
        self.tpu = TextBox("hint", "On a TPU")
        self.problems = ProblemList(self._document.fixes)
        self.problems.fix_chosen.connect(self._document.apply_fix)
        self.problems.problem_chosen.connect(self._state.problem_chosen)
        self.problems.problem_hovered.connect(self._state.problem_hovered)
        self._what_heading = plain_label("What it does", role="heading")
        self.what = plain_label(role="dim", wrap=True)
        self._make_links()
        self.connection = ConnectionBox()
        self.connection.insert_asked.connect(self._on_insert)
        self.connection.remove_asked.connect(self._on_remove)
        named = (self.heading, self.name, self.name_error, self.connection)
        about_it = (*named, self._form_place, self.preview, self.training, self.problems)
        facts = (self._facts_heading, self.facts, self.tpu)
        links = (row(self.more, STRETCH), row(self.maps, STRETCH))
        what = (self._what_heading, self.what, *links, STRETCH)
        parts = (*about_it, Gap(_GAP_PX), *facts, Gap(_GAP_PX), *what)
        column(*parts, parent=page, margins=(14, 6, 14, 14), spacing=10)

    def _make_links(self) -> None:
        self.more = button("More about this layer", role="link")
        self.more.clicked.connect(lambda: self._state.help_asked.emit(self._page))
        self.maps = button("Show feature maps", role="link")
        self.maps.setToolTip("Shows in Classify what the trained layer gives for a picture")
        self.maps.clicked.connect(self._on_maps)

    def _make_name(self) -> QLineEdit:
        name = QLineEdit()
        name.setAccessibleName("Layer name")
        name.setPlaceholderText("Name")
        name.editingFinished.connect(self._on_name_edited)
        share_undo_keys(name)
        select_on_focus(name)
        return name

    def show_nodes(self, node_ids: Sequence[str]) -> None:
        """Shows these nodes (none: the whole network)."""
        self._selected = tuple(node_ids)
        self._refresh()

    def _layers_selected(self) -> list[Node]:
        """The layers behind the selected cards."""
        shown, nodes = self._document.shown, self._document.graph.nodes
        return [nodes[key] for key in shown.layers_of(self._selected) if key in nodes]

    def edit_node(self, node_id: str) -> None:
        """Shows a node, or all that are selected with it, and selects its first setting, or
        its name.
        """
        if node_id not in self._selected:
            self.show_nodes([node_id])
        target: QWidget = self.form if self.form is not None else self.name
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _edges(self) -> tuple[Edge, ...]:
        """The selected connections that are there, as they are shown."""
        edges = self._document.shown.graph.edges
        return tuple(edge for edge in self._document.selection[1] if edge in edges)

    def _on_insert(self) -> None:
        self._state.insert_asked.emit(self._edges()[0])

    def _on_remove(self) -> None:
        self._document.remove([], self._edges())

    def _on_project_replaced(self) -> None:
        self._selected = ()

    def _show_link(self) -> None:
        """Feature maps are of one layer, of a model that was trained."""
        has_model = self._state.context.library.has_own_model
        self.maps.setVisible(has_model and len(self._layers_selected()) == 1)

    def _refresh(self) -> None:
        present = self._layers_selected()
        self._show_link()
        kinds = [self._layers.get(node.kind) for node in present]
        self.preview.setVisible(len(kinds) == 1 and is_augmentation(kinds[0]))
        edges = () if present else self._edges()
        self.connection.setVisible(bool(edges))
        self._show_training(present)
        if name := self._document.selected_group(self._selected):
            self._show_group(name, present)
            return
        if len(present) == 1:
            self._show_one(present[0])
            return
        self._show_form_of_many(present)
        if present:
            self._show_many(present)
        elif edges:
            self._show_edges(edges)
        else:
            self._show_network()

    def _show_one(self, node: Node) -> None:
        spec = self._layers.get(node.kind)
        self.heading.setText(spec.title if spec else f"Unknown layer “{node.kind}”")
        self._page = node.kind
        self._show_name(node.name, "Layer name")
        self._show_form([node], self._params_of(spec) if spec else ())
        analysis = self._document.analysis
        self._show_problems(analysis.problems_by_node.get(node.id, ()))
        self._facts_heading.setText("This layer")
        self.facts.set_facts(layer_facts(node.id, analysis, self._document.recipe.batch_size))
        hint = tpu_hint(self._document.graph, self._layers, analysis, node.id)
        self.tpu.text.setText(hint)
        self.tpu.setVisible(bool(hint))
        if spec is None:
            self._show_what("About this layer", _UNKNOWN)
        else:
            self._show_what("What it does", spec.summary, has_page=True)

    def _params_of(self, spec: LayerSpec) -> tuple[Param, ...]:
        """Its parameters; a size of images without channels gets those of the data set."""
        shape = self._document.input_shape
        if spec.role is not Role.INPUT or shape is None:
            return spec.params
        return tuple(
            replace(param, default=(*param.default[:-1], shape[-1]))
            if isinstance(param, SizeParam)
            else param
            for param in spec.params
        )

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        """Shows the problems of what is selected; that layers are missing behind it is in the
        status line, but where it may be the output itself that is to be changed.
        """
        nodes = self._document.graph.nodes
        shown = [
            each
            for each in problems
            if not each.is_next
            or (each.node and has_role(nodes[each.node], self._layers, Role.DENSE))
        ]
        self.problems.set_problems(shown)

    def _on_preview(self) -> None:
        open_augmentation(self._state.context, self, self._selected[0])

    def _on_maps(self) -> None:
        (node,) = self._layers_selected()
        self._state.maps_asked.emit(node.name)

    def _show_name(self, name: str, whose: str) -> None:
        self.name.setAccessibleName(whose)
        self.name.show()
        if not self.name.hasFocus() or not self.name.isModified():
            self.name.setText(name)
            self._show_refusal("")

    def _show_training(self, nodes: Sequence[Node]) -> None:
        """Shows when layers learn; nothing for those without weights."""
        costs = self._document.analysis.costs.nodes
        with_weights = [n for n in nodes if n.id in costs and costs[n.id].parameters.total]
        self.training.setVisible(bool(with_weights))
        can_restore = bool(self._document.lost_weights(node.id for node in with_weights))
        self.training.show_nodes(with_weights, can_restore=can_restore)

    def _show_group(self, name: str, nodes: Sequence[Node]) -> None:
        self.heading.setText("Group")
        self._show_form([], ())
        self._show_name(name, "Group name")
        self.tpu.hide()
        ids, analysis = [node.id for node in nodes], self._document.analysis
        self._show_problems(problems_of(analysis, ids))
        self._facts_heading.setText("This group")
        graph = self._document.graph
        self.facts.set_facts(group_facts_rows(ids, graph, analysis))
        self._show_what("How to", _GROUP)

    def _specs_of(self, nodes: Sequence[Node]) -> list[LayerSpec]:
        return [spec for node in nodes if (spec := self._layers.get(node.kind)) is not None]

    def _show_form_of_many(self, nodes: Sequence[Node]) -> None:
        """Shows the settings that several layers share; none without a layer."""
        specs = self._specs_of(nodes)
        self._show_form(nodes, shared_params(specs) if len(specs) == len(nodes) else ())
        self.name.hide()
        self.name_error.hide()
        self.tpu.hide()

    def _show_many(self, nodes: Sequence[Node]) -> None:
        specs = self._specs_of(nodes)
        titles = {spec.title for spec in specs} if len(specs) == len(nodes) else set()
        what = f"{titles.pop()} layers" if len(titles) == 1 else "layers selected"
        self.heading.setText(f"{count(len(nodes))} {what}")
        self._facts_heading.setText("These layers")
        self.facts.set_facts(selection_facts([node.id for node in nodes], self._document.analysis))
        self.problems.set_problems([])
        self._show_what("How to", _TOGETHER if self.form is None else f"{_FOR_ALL} {_TOGETHER}")

    def _show_edges(self, edges: tuple[Edge, ...]) -> None:
        graph = self._document.graph
        edges = tuple(map(self._document.shown.edge_of, edges))
        self.heading.setText(edges_heading(edges))
        self.connection.show_edges(edges, graph, self._layers)
        self._facts_heading.setText("This connection" if len(edges) == 1 else "These connections")
        self.facts.set_facts(edges_facts(edges, graph, self._document.analysis))
        self.problems.set_problems([])
        self._show_what("How to", _CONNECTIONS)

    def _show_network(self) -> None:
        analysis = self._document.analysis
        self.heading.setText("The network")
        self._facts_heading.setText("Totals")
        estimate = self._state.context.estimator.prediction
        graph, recipe = self._document.graph, self._document.recipe
        self.facts.set_facts(network_facts(graph, analysis, recipe, estimate))
        self.problems.set_problems(analysis.problems)
        self._show_what("How to", _HOW_TO)

    def _show_form(self, nodes: Sequence[Node], params: tuple[Param, ...]) -> None:
        """Shows the settings that nodes share; a mixed one has no value until set for all."""
        shown = tuple(node.id for node in nodes)
        is_other = shown != self._form_nodes and 1 in {len(shown), len(self._form_nodes)}
        if is_other or params != self._form_params:
            self._make_form(params)
        self._form_nodes, self._form_params = shown, params
        if self.form is None:
            return
        values = [{**self._layers[node.kind].defaults(), **node.params} for node in nodes]
        first = {param.key: values[0][param.key] for param in params}
        mixed = {key for key in first if any(each[key] != first[key] for each in values)}
        self.form.set_values(first, mixed)

    def _make_form(self, params: Sequence[Param]) -> None:
        if self.form is not None:
            self._form_place.removeWidget(self.form)
            self.form.hide()
            self.form.deleteLater()
            self.form = None
        if params:
            self.form = ParamForm(params)
            self.form.value_changed.connect(self._on_value_changed)
            self._form_place.addWidget(self.form)

    def _show_what(self, heading: str, text: str, *, has_page: bool = False) -> None:
        self._what_heading.setText(heading)
        self.what.setText(text)
        self.more.setVisible(has_page)

    def _on_value_changed(self, key: str, value: Any) -> None:
        nodes = self._document.graph.nodes
        if all(node_id in nodes for node_id in self._form_nodes):
            self._document.set_params(*self._form_nodes, **{key: value})

    def _on_training(self, training: Training) -> None:
        self._document.set_training(self._selected, training)

    def _on_name_edited(self) -> None:
        group = self._document.selected_group(self._selected)
        if not self.name.isModified() or not (group or len(self._selected) == 1):
            return
        self.name.setModified(False)
        node_id = card_id(group) if group else self._selected[0]
        wanted, refusal = self.name.text().strip(), ""
        if wanted == (group or self._document.graph.nodes[node_id].name):
            return
        try:
            self._document.rename(node_id, wanted)
        except WorkbenchError as error:
            refusal = f"{error.what} {error.fix}".strip()
        self._show_refusal(refusal)

    def _show_refusal(self, words: str) -> None:
        """Marks the name, with the reason why it is not taken; "" for none."""
        self.name_error.setText(words)
        self.name_error.setVisible(bool(words))
        restyle(self.name, bad=bool(words))
