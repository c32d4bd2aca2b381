"""The routes, a few lines each; `ROUTES` is all of them, below `{base_url}applets/`."""

from .health import HealthHandler
from .kernels import KernelSocket
from .pages import PageSocket

ROUTES = [
    (r"ws/applet", PageSocket),
    (r"ws/kernel", KernelSocket),
    (r"api/health", HealthHandler),
]

__all__ = ["ROUTES"]
