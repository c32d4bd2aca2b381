"""The routes, a few lines each; `ROUTES` is all of them, below `{base_url}applets/`."""

from .applets import AppletHandler, AppletsHandler
from .files import FileHandler, ListHandler
from .health import HealthHandler
from .kernels import KernelSocket
from .pages import PageSocket
from .state import StateHandler
from .static import StaticHandler

ROUTES = [
    (r"ws/applet", PageSocket),
    (r"ws/kernel", KernelSocket),
    (r"api/health", HealthHandler),
    (r"api/applet/file", FileHandler),
    (r"api/applet/list", ListHandler),
    (r"api/applet/state", StateHandler),
    (r"api/applets", AppletsHandler),
    (r"api/applets/([^/]+)", AppletHandler),
    (r"static/(desk\.js|lexer\.js)", StaticHandler),
]

__all__ = ["ROUTES"]
