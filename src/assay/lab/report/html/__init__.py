"""An offline page: the run at a glance, with the frames behind every verdict."""

from .page import render

__all__ = ["render"]
