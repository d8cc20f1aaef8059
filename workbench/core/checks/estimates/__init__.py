"""What a run will take: time and memory, from the network's costs and measured runs."""
