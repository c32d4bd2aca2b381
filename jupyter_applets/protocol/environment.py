"""The environment variables by which a server tells its kernels how to reach the host."""

URL = "JUPYTER_APPLETS_URL"
SECRET = "JUPYTER_APPLETS_TOKEN"  # noqa: S105 (the name of the variable)
CERTIFICATE = "JUPYTER_APPLETS_CERTIFICATE"
ROOT = "JUPYTER_APPLETS_ROOT"
