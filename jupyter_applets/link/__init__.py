"""A pipe from a kernel to a host: over a socket, in memory, or, for a page, over a widget's comm."""
