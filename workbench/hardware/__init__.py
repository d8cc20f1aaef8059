"""TPU generations, hosts, clusters and addresses: facts that targets and preflight share.

Found without importing TensorFlow: with a libtpu that does not fit, or without a chip, the import
may wait for minutes or end the process. What libtpu and TensorFlow print when a TPU fails is
explained by one table (`tpu_faults`), for a trainer's last event and for crashes.
"""
