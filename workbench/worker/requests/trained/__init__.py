"""Requests that find something out about a trained model: evaluate, calibrate, explain, measure
its robustness.
"""
