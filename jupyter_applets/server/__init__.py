"""The Jupyter server extension: configuration, one authenticated base for HTTP and one for sockets, thin handlers."""
