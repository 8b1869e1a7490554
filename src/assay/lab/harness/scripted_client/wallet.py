"""Where the guest gets its wallet from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import Guest
    from .oauth import OAuth


def wallet_for(guest: Guest) -> OAuth:
    """Loaded with the first guest: who only judges servers need not have what authorization needs."""
    found: OAuth = import_module(f"{__package__}.oauth").OAuth(guest)
    return found
