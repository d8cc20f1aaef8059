"""The part of the scene that shows problems: the card of one, and the names that they use."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QGraphicsScene

from workbench.core.checks.problems import Problem
from workbench.core.network.layout import GAP, NODE_HEIGHT
from workbench.core.network.routing import Box
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas.card_place import Room
from workbench.gui.design.canvas.mentions import Attention, Mentions
from workbench.gui.design.canvas.node_facts import NodeFacts
from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.problem_card import ProblemCard
from workbench.gui.design.canvas.style import CanvasStyle


class ProblemScene(QGraphicsScene):
    """Nodes with the card of one problem.

    Attributes:
        nodes: The cards by node id, in the graph's order.
        card: That of the problem shown.
        find_room: What is seen of the scene; None while nothing is.
        mentions: The layers that the problems name.
        content: What everything covers, None while it is to be worked out.
    """

    def __init__(self, document: ProjectDocument, look: CanvasStyle) -> None:
        super().__init__()
        self.document = document
        self.look = look
        self.nodes: dict[str, NodeItem] = {}
        self.card: ProblemCard | None = None
        self.find_room: Callable[[], Room | None] = lambda: None
        self.mentions = Mentions()
        self.content: QRectF | None = None
        self.attention = Attention()
        self._is_card_held = False
        self._looked_at: Problem | None = None

    def facts_of(self, node_id: str) -> NodeFacts:
        """What the card of a node shows."""
        raise NotImplementedError

    def boxes(self) -> dict[str, Box]:
        """The place of every card."""
        return {key: item.box for key, item in self.nodes.items()}

    def selected_ids(self) -> list[str]:
        """Ids of the selected nodes, in the graph's order."""
        return [key for key, item in self.nodes.items() if item.isSelected()]

    def shown_problem(self) -> Problem | None:
        """The problem that has a card now; None for no problem of a node."""
        shown, selected = self.document.shown, self.selected_ids()
        return self.attention.problem_to_show(self.document.analysis, shown, self.nodes, selected)

    def open_card(self, problem: Problem) -> None:
        """Shows the card of a problem, which was asked for."""
        self.attention.open(problem)
        self.settle_card()

    def close_card(self) -> None:
        """Takes the card away, until one is asked for or another problem comes."""
        self.attention.close(self.document.analysis.problems)
        self.settle_card()

    def hold_card(self, *, is_held: bool) -> None:
        """Hides the card while something is dragged: it may lie where that is to be dropped."""
        self._is_card_held = is_held
        if self.card is not None:
            self.card.setVisible(not is_held)

    def card_of(self, problem: Problem) -> str:
        """The card that a problem is shown at: that of its layer, or of the layer's group."""
        return self.document.shown.shown_id(problem.node or "")

    def settle_card(self, *, anywhere: bool = False) -> None:
        """Puts the problem card where it is seen, or `anywhere` beside its node."""
        self.refresh_card(anywhere=anywhere)
        self.content = None

    def keep_card_seen(self) -> None:
        """Another part is seen: the card stays within it as long as its node does."""
        card = self.card
        if card is None or self.card_of(card.problem) not in self.nodes:
            return
        box = self.nodes[self.card_of(card.problem)].box
        if not card.is_well_placed(box, self.find_room()):
            self.settle_card()

    def refresh_card(self, *, anywhere: bool = False) -> None:
        """Shows the card of the problem that is to be shown now, as soon as its fixes are known:
        it must not grow under the pointer.
        """
        problem = self.shown_problem()
        has_node = problem is not None and problem.node is not None
        fixes = self.document.fixes.fixes_of(problem) if problem and has_node else None
        if self.card is not None and (self.card.problem, self.card.fixes) != (problem, fixes):
            self.remove_card()
        if self.card is None and problem is not None and fixes is not None:
            self.card = ProblemCard(problem, fixes, self.look)
            self.card.setVisible(not self._is_card_held)
            self.addItem(self.card)
        elif self.card is not None and problem is not None:
            self.card.problem, self.card.fixes = problem, fixes or ()  # they read the same
        self._show_names()
        if self.card is not None:
            boxes = self.boxes()
            room = None if anywhere else self.find_room()
            own = boxes[self.card_of(self.card.problem)]
            self.card.place(own, [*boxes.values(), *self._drop_places()], room)
            self._mark()

    def _drop_places(self) -> list[Box]:
        """Areas where the next layers go: below the open ends."""
        ends = (item.box for item in self.nodes.values() if item.facts.is_open_below)
        below = NODE_HEIGHT + 2 * GAP
        return [Box(e.left, e.bottom, e.right, e.bottom + below) for e in ends]

    def look_at(self, problem: Problem | None) -> None:
        """Marks the layers that a problem names; None: that of the selected layer."""
        if problem is not self._looked_at:
            self._looked_at = problem
            self._show_names()

    def _show_names(self) -> None:
        """Cards show their names where a problem or a button of the card names them."""
        graph, card = self.document.graph, self.card.problem if self.card else None
        is_selected = card is not None and self.selected_ids() == [self.card_of(card)]
        looked_at = self._looked_at or (card if is_selected else None)
        found = self.document.analysis.problems
        shown = map(self._text_of, (card, self._looked_at))
        self.mentions = Mentions.of(graph, found, shown, self._text_of(looked_at))
        self._mark()
        for key, item in self.nodes.items():
            is_there = key in graph.nodes  # a card; or removed, and taken away a moment later
            if is_there and item.facts.is_named != (key in self.mentions.named):
                item.facts = self.facts_of(key)

    def _mark(self) -> None:
        """Marks the layers that the problem looked at names, and that of a card whose line leads
        over another layer.
        """
        card = self.card
        meant = self.card_of(card.problem) if card is not None and card.is_line_crossing else None
        marked = self.document.shown.shown_ids(self.mentions.marked)
        for key, item in self.nodes.items():
            item.is_marked = key in marked or key == meant

    def _text_of(self, problem: Problem | None) -> str:
        """The words of a problem, with those of its buttons on the screen."""
        if problem is None:
            return ""
        is_card = self.card is not None and self.card.problem == problem
        fixes = self.card.fixes if self.card is not None and is_card else problem.known_fixes
        return problem.text_with(fixes or ())

    def card_at(self, point: QPointF) -> ProblemCard | None:
        """The problem card, if it is under a scene point."""
        card = self.card
        return card if card is not None and card.isVisible() and card.covers(point) else None

    def remove_card(self) -> None:
        """Takes the problem card away."""
        if self.card is not None:
            self.removeItem(self.card)
            self.card = None
