"""One class per gesture on the canvas; a gesture is one undo step, Escape cancels it."""
