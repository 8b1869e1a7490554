"""Where the client gets its wallet from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import ScriptedClient
    from .oauth import OAuth


def wallet_for(client: ScriptedClient) -> OAuth:
    """Loaded with the first client: who only judges servers need not have what authorization needs."""
    found: OAuth = import_module(f"{__package__}.oauth").OAuth(client)
    return found
