"""How to train: the recipe, learning-rate schedules, rules of progress."""
