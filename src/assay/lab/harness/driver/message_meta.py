"""What a request says of its client, in the revisions where every request does."""

from __future__ import annotations

from typing import Any, Final

from assay.revisions.revision import Opening, Revision

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{PREFIX}protocolVersion"
CAPABILITIES_KEY: Final = f"{PREFIX}clientCapabilities"
CLIENT_KEY: Final = f"{PREFIX}clientInfo"
SERVER_KEY: Final = f"{PREFIX}serverInfo"
SUBSCRIPTION_KEY: Final = f"{PREFIX}subscriptionId"
LOG_LEVEL_KEY: Final = f"{PREFIX}logLevel"
CLIENT: Final = {"name": "assay-lab", "version": "1"}


def declared(revision: Revision, params: Any, capabilities: dict[str, Any]) -> Any:
    """The parameters with the declaration that this revision wants; anything else than an object as it is."""
    if revision.opening is Opening.HANDSHAKE or not isinstance(params, dict):
        return params
    given = params.get("_meta")
    if given is not None and not isinstance(given, dict):
        return params
    meta = {VERSION_KEY: revision.date, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: capabilities, **(given or {})}
    return {**params, "_meta": {key: value for key, value in meta.items() if value is not None}}
