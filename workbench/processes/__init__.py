"""Processes of this computer: children with a deadline, their lines, and memory. Qt-free."""
