"""The routes, a few lines each; `ROUTES` is all of them, below `{base_url}applets/`."""

from .applets import AppletHandler, AppletsHandler
from .files import FileHandler, ListHandler
from .health import HealthHandler
from .kernels import KernelSocket
from .pages import PageSocket
from .sessions import HistoryHandler, MessageHandler, MessagesHandler, OutputHandler, SessionsHandler
from .state import StateHandler
from .static import StaticHandler
from .streams import StreamHandler

ROUTES = [
    (r"ws/applet", PageSocket),
    (r"ws/kernel", KernelSocket),
    (r"api/health", HealthHandler),
    (r"api/applet/file", FileHandler),
    (r"api/applet/list", ListHandler),
    (r"api/applet/state", StateHandler),
    (r"api/sessions", SessionsHandler),
    (r"api/sessions/(.+)/messages", MessagesHandler),
    (r"api/sessions/(.+)/outputs/([^/]+)", OutputHandler),
    (r"api/message", MessageHandler),
    (r"api/stream/([^/]+)", StreamHandler),
    (r"api/history", HistoryHandler),
    (r"api/applets", AppletsHandler),
    (r"api/applets/([^/]+)", AppletHandler),
    (r"static/(agent\.js|chat\.js|desk\.js|lexer\.js)", StaticHandler),
]

__all__ = ["ROUTES"]
