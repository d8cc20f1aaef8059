"""The network as a value: graph, differences, names, order and layout."""
