"""The rules of the code that no linter knows: `python -m tests.house` prints its figures."""
