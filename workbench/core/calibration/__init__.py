"""How far an answer can be trusted: temperature, reliability, thresholds, distance to the training
images. Arrays and numbers alone; what a run keeps of them is in its model card.
"""
