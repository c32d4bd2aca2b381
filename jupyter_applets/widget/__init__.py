"""The widgets: anywidget classes whose views run in the page, over the kernel's end of the link."""
