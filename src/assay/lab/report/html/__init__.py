"""One offline page: the run at a glance, and behind every verdict the frames that prove it."""

from .page import render

__all__ = ["render"]
