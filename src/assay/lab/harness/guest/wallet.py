"""Credentials of the guest: the port between its HTTP requests and what it does about authorization."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from assay.lab.harness.saboteur import Request

from .web import Response

if TYPE_CHECKING:
    from .guest import Guest


class Wallet(Protocol):
    async def authorize(self, challenge: Response) -> None:
        """The server answered 401 or 403: do what it takes, so that the same request is worth sending again.

        Raises:
            Failed: it is not.
        """

    def bear(self, request: Request) -> None:
        """Put what there is into a request to the endpoint. Its `target` is the whole URL here."""


def wallet_for(guest: Guest) -> Wallet | None:
    """From `oauth.py`: `wallet(guest)`."""
    name = f"{__package__}.oauth"
    if find_spec(name) is None:
        return None
    found: Wallet = import_module(name).wallet(guest)
    return found
