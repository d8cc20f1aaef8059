"""The rules of the code that no linter has: `python -m tests.house` prints its figures."""
