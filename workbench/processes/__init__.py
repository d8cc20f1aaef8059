"""Processes of this computer: children with a deadline, a fork, and memory. Qt-free."""
