"""The one analysis of a project: shapes, costs, problems and their fixes."""
