"""An offline page: the run at a glance, with the frames behind every verdict."""

from .page import render

ESCAPES = True  # the frames are shown as they were sent
__all__ = ["ESCAPES", "render"]
