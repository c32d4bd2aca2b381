"""The applet's frame against a hostile applet: real JupyterLab, real Chromium, and a server that nothing may reach."""
