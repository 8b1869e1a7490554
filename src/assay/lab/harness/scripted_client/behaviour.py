"""The behaviour of the scripted client. The defaults conform; a saboteur changes one field."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ClientBehaviour(Struct, frozen=True):
    # -- opening and closing -----------------------------------------------------------------------------
    probes: bool = True
    """Sends `server/discover` first, in revisions without a handshake."""
    falls_back: bool = True
    """Tries a handshake with a server that does not support the probe."""
    accepts_any_version: bool = False
    """Continues with a protocol version that it does not know."""
    sends_initialized: bool = True
    """Sends `notifications/initialized`."""
    declares: dict[str, Any] | None = None
    """The capabilities to declare instead of those that it supports."""
    patience: float = 10.0
    """Seconds to wait for each answer."""
    restarts: bool = True
    """Restarts a server process that exited unexpectedly, where the revision asks for that."""
    terminates_server: bool = True
    """Terminates a server process that keeps running after its input was closed."""

    # -- HTTP --------------------------------------------------------------------------------------------
    sends_session: bool = True
    """Sends the session id in each request."""
    renews_session: bool = True
    """Starts a new session when the server no longer knows the current one."""
    ends_session: bool = True
    """Sends DELETE for the session at the end."""
    sends_version: bool = True
    """Sends the protocol version in a header."""
    mirrors: bool = True
    """Mirrors the method, the name and the marked arguments in headers."""
    drops_badly_marked: bool = True
    """Leaves out tools with an invalid `x-mcp-header`."""
    refreshes_headers: bool = True
    """Lists the tools again after a header mismatch, and retries the call once."""
    follows_redirects: bool = False
    """Follows redirects of the endpoint."""

    # -- event streams -----------------------------------------------------------------------------------
    opens_stream: bool = True
    """Opens a GET stream after the handshake."""
    resumes: bool = True
    """Reconnects to a stream that broke."""
    names_last_event: bool = True
    """Sends `Last-Event-ID` when it reconnects."""
    honours_retry: bool = True
    """Waits for the `retry` interval before it reconnects."""
    reissues: bool = True
    """Sends a request again, with a new id, when its stream broke and cannot be resumed."""

    # -- messages ----------------------------------------------------------------------------------------
    asks_for_progress: bool = True
    """Sends a progress token with each tool call."""
    reports_progress: bool = True
    """Sends progress for a request of the server that has a progress token."""
    traces: bool = True
    """Sends `traceparent` in revisions where requests carry their own metadata."""
    cancels: bool = True
    """Sends a cancellation when it stops waiting."""
    knows_result_types: bool = True
    """Rejects an unknown `resultType`."""
    validates_output: bool = True
    """Validates structured results against the tool's output schema."""
    ignores_unknown_subscriptions: bool = True
    """Ignores notifications of subscriptions that it did not open."""

    # -- lists and caches --------------------------------------------------------------------------------
    follows_pages: bool = True
    """Reads every page of a list."""
    most_pages: int = 100
    """The maximum number of pages to read of a list."""
    forgets_cursors: bool = True
    """Reads a list from the start after a new session began."""
    caches: bool = True
    """Caches results for as long as the server allows."""
    honours_changes: bool = True
    """Drops cached results when a notification announces a change."""

    # -- questions ---------------------------------------------------------------------------------------
    validates_answers: bool = True
    """Validates the content of a form before it accepts."""
    uses_defaults: bool = True
    """Prefills a form with its defaults."""
    echoes_state: bool = True
    """Returns `requestState` unchanged."""
    checks_declared: bool = True
    """Rejects requests that need a capability which it did not declare."""
    previews_addresses: bool = False
    """Fetches the URL of a URL elicitation before the user consents."""
    opens_declined: bool = False
    """Fetches that URL at the end, although the user declined."""

    # -- skills ------------------------------------------------------------------------------------------
    verifies_digest: bool = True
    """Compares the digest of each file of a skill with the listed one."""
    verifies_size: bool = True
    """Compares the size of each file of a skill with the listed one."""
    verifies_frontmatter: bool = True
    """Compares the frontmatter of a skill with the listed one."""
    prefetches_skills: bool = False
    """Reads every listed skill without a step that asks for it."""

    # -- authorization -----------------------------------------------------------------------------------
    honours_challenge: bool = True
    """Uses the resource metadata URL of the challenge."""
    asks_root_first: bool = False
    """Tries the resource metadata URL at the root before all others."""
    reads_resource_metadata: bool = True
    """Fetches resource metadata; if False, assumes an authorization server at the endpoint's origin."""
    checks_resource: bool = True
    """Requires `resource` in the metadata to match the endpoint."""
    case_sensitive_host: bool = False
    """Compares host names case-sensitively."""
    reads_server_metadata: bool = True
    """Fetches authorization server metadata; if False, assumes the default endpoints."""
    knows_openid: bool = True
    """Tries the OpenID Connect discovery URLs too."""
    openid_first: bool = False
    """Tries them before the OAuth ones."""
    drops_issuer_path: bool = False
    """Ignores the path of an issuer when it looks for metadata."""
    compares_issuer: bool = True
    """Requires `issuer` in the metadata to be the issuer it was fetched for."""
    checks_addresses: bool = True
    """Opens only https URLs, or http on this machine."""
    opens_as_http: bool = False
    """Opens a URL of any scheme as http."""
    needs_pkce: bool = True
    """Continues only if the server declares PKCE with S256."""
    uses_context_id: bool = True
    """Uses the client id of its context."""
    uses_document: bool = True
    """Uses its client id metadata document where the server supports that."""
    checks_documents: bool = True
    """Checks that the server supports client id metadata documents."""
    registers: bool = True
    """Registers if it has no client id; if False, invents one."""
    honours_refusal: bool = True
    """Stops when its registration was refused."""
    separates_issuers: bool = True
    """Keeps separate credentials for each issuer."""
    honours_scope: bool = True
    """Requests the scope of the challenge."""
    trusts_supported: bool = False
    """Drops scopes of the challenge that `scopes_supported` does not list."""
    keeps_scopes: bool = True
    """Requests the earlier scopes again with new ones."""
    steps_up: bool = True
    """Requests more scopes after an `insufficient_scope` error."""
    tracks_scopes: bool = True
    """Stops when it already requested every scope that the server requires."""
    most_authorizations: int = 3
    """The number of authorization attempts before it stops."""
    checks_state: bool = True
    """Requires its own `state` in the authorization response."""
    needs_iss: bool = True
    """Requires `iss` in the authorization response where the server declares it."""
    compares_iss: bool = True
    """Requires `iss` to be the issuer of the authorization server."""
    normalizes_iss: bool = False
    """Ignores a trailing slash when it compares `iss`."""
