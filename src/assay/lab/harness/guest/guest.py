"""The guest: a scripted client of the lab's own, which takes the steps that it is told to take."""

from __future__ import annotations


class Guest:
    """Not there yet."""
