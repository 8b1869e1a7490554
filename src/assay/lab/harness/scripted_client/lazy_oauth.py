"""Lazy loading of the OAuth support."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import ScriptedClient
    from .oauth import OAuth


def oauth_for(client: ScriptedClient) -> OAuth:
    """Imported with the first client, because judging servers must not need the extra that OAuth needs."""
    oauth: OAuth = import_module(f"{__package__}.oauth").OAuth(client)
    return oauth
