"""What authorization scenarios have in common: what the client is asked to do, and what is looked at."""

from __future__ import annotations

from typing import Final

from assay.lab.client.declaring import row, where
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried

from .protected import TOOL

CODE: Final = {"grant": "authorization_code"}
TWO: Final = (LIST_TOOLS, call(TOOL))
LIST_AND_CALL: Final = Brief(steps=TWO, oauth=CODE)
IN_VAIN: Final = Brief(steps=tuple(tried(one) for one in TWO), oauth=CODE, may_fail=True)
"""For scenarios in which it is right that the client gets nowhere."""
BY_CODE: Final = (
    "auth.resource-metadata",
    "auth.server-metadata",
    "auth.old-discovery",
    "auth.scopes",
    "auth.retries",
    "auth.client-ids",
    "auth.registering",
    "auth.resource-parameter",
    "auth.bearing",
    "auth.proof-key",
    "auth.state",
)
"""Our checks of a client on its way by authorization code."""
OLD: Final = where("AU-28")
"""Where the authorization server is on the endpoint's own origin."""
OF_OLD: Final = f"auth/{row('AU-28').revisions[0].date}-"
"""How the official suite calls scenarios about that."""
RESOURCES: Final = where("AU-56")
"""Where resources have metadata, and tokens are for one."""
FOUND: Final = where("AU-13")
"""Where there are rules for finding that metadata, and for scopes."""
