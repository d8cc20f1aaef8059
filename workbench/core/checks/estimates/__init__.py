"""What a run will take: time and memory, from the network's costs and measured runs.

The only place that estimates. It learns from what earlier runs on this computer have measured
(`workbench.runs.state`): the steps, the frozen layers, and everything beside the epochs.
"""
