"""One class per gesture on the canvas; a gesture is one undo step, Escape cancels it.

A gesture shows what a drop would do before the drop, with marks that exist only while it lasts.
"""
