"""Processes of this computer: children with a deadline, and memory. Qt-free."""
