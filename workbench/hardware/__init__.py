"""TPU generations, hosts, clusters and addresses: facts that targets and preflight share."""
