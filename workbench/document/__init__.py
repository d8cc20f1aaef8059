"""The project being edited. QtCore and QtGui."""
