"""Tests by a person's path: real JupyterLab, real Chromium. `lab` is the server, `notebook` a notebook in a page."""
