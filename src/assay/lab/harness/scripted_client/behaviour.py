"""Habits of the guest. All are good as they stand; a saboteur changes one of them.

One line each, by what they are about. Those about authorization have a section of their own.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ClientBehaviour(Struct, frozen=True):
    # -- opening and closing -----------------------------------------------------------------------------
    probes: bool = True
    """Asks `server/discover` before all else, where there is no handshake."""
    falls_back: bool = True
    """Shakes hands with a server that does not know the probe."""
    accepts_any_version: bool = False
    """Goes on with a version that it does not know."""
    announces: bool = True
    """Sends `notifications/initialized`."""
    declares: dict[str, Any] | None = None
    """The capabilities that it declares, in place of those that it has."""
    patience: float = 10.0
    """Seconds that it waits for any answer."""
    restarts: bool = True
    """Starts a server again that ended without being asked, where the revision wants that."""
    insists: bool = True
    """Ends a server process that goes on after its input has ended."""

    # -- HTTP --------------------------------------------------------------------------------------------
    sends_session: bool = True
    """Names the session that it was given."""
    renews_session: bool = True
    """Begins again where its session is not known any more."""
    ends_session: bool = True
    """DELETEs the session at the end."""
    sends_version: bool = True
    """Names the version in a header."""
    mirrors: bool = True
    """Repeats method, name and marked arguments in headers."""
    drops_badly_marked: bool = True
    """Leaves out tools whose `x-mcp-header` breaks the rules."""
    refreshes_headers: bool = True
    """Lists the tools again where the server complains about headers, and calls once more."""
    follows_redirects: bool = False
    """Goes wherever the endpoint sends it."""

    # -- event streams -----------------------------------------------------------------------------------
    opens_stream: bool = True
    """Opens a GET stream after the handshake."""
    resumes: bool = True
    """Comes again for the rest of a stream that broke."""
    names_last_event: bool = True
    """Says with which event the stream broke."""
    honours_retry: bool = True
    """Waits as long as it was told before it comes again."""
    reissues: bool = True
    """Asks again, under a new id, where a broken stream cannot be resumed."""

    # -- messages ----------------------------------------------------------------------------------------
    asks_for_progress: bool = True
    """Gives a token for progress with each call of a tool."""
    reports_progress: bool = True
    """Tells how far an answer is, where the server gave a token for it."""
    traces: bool = True
    """Says to which trace a request belongs, where requests describe themselves."""
    cancels: bool = True
    """Says so when it gives up waiting."""
    knows_result_types: bool = True
    """Refuses a result of a kind that it does not know."""
    validates_output: bool = True
    """Holds structured results against the schema of the tool."""
    minds_subscriptions: bool = True
    """Leaves notifications alone that belong to no subscription of its own."""

    # -- lists and caches --------------------------------------------------------------------------------
    follows_pages: bool = True
    """Reads a list to its end."""
    most_pages: int = 100
    """Pages of one list that it reads."""
    forgets_cursors: bool = True
    """Reads a list from its beginning where a new session had to be begun."""
    caches: bool = True
    """Keeps an answer for as long as the server says."""
    honours_changes: bool = True
    """Forgets what it kept when it is told of a change."""

    # -- questions ---------------------------------------------------------------------------------------
    validates_answers: bool = True
    """Fills in a form so that it fits its schema."""
    uses_defaults: bool = True
    """Begins with what a form suggests."""
    echoes_state: bool = True
    """Gives `requestState` back as it was."""
    checks_declared: bool = True
    """Refuses questions of a kind that it did not declare."""
    previews_addresses: bool = False
    """Visits an address that it is asked to open before it asks anybody."""
    opens_declined: bool = False
    """Visits it in the end, although nobody agreed."""

    # -- skills ------------------------------------------------------------------------------------------
    verifies_digest: bool = True
    """Holds the digest of a skill's files against the list before it goes on."""
    verifies_size: bool = True
    """The same with their size."""
    verifies_frontmatter: bool = True
    """The same with what a skill says of itself."""
    prefetches_skills: bool = False
    """Reads skills before anybody asks for them."""

    # -- authorization -----------------------------------------------------------------------------------
    honours_challenge: bool = True
    """Looks for the metadata of the resource where the challenge says."""
    asks_root_first: bool = False
    """Looks for it at the root of the server before all else."""
    reads_resource_metadata: bool = True
    """Looks for it at all; otherwise the authorization server is taken to be where the endpoint is."""
    checks_resource: bool = True
    """Wants that metadata to be about the endpoint."""
    minds_capitals: bool = False
    """Takes a host in capitals for another one."""
    reads_server_metadata: bool = True
    """Asks for the metadata of an authorization server; otherwise its endpoints are where all once were."""
    knows_openid: bool = True
    """Looks at the addresses of OpenID Connect as well."""
    openid_first: bool = False
    """Looks there before it looks at OAuth's."""
    drops_issuer_path: bool = False
    """Looks for the metadata of an issuer with a path as if it had none."""
    compares_issuer: bool = True
    """Wants the metadata to name the issuer that it was asked for."""
    checks_addresses: bool = True
    """Opens no address but https, or http on this machine."""
    opens_as_http: bool = False
    """Opens an address of whatever scheme as if it were http."""
    needs_pkce: bool = True
    """Goes on only where PKCE with S256 is said to be supported."""
    uses_given_id: bool = True
    """Is who it was told to be."""
    uses_document: bool = True
    """Is its metadata document, where such are taken."""
    checks_documents: bool = True
    """Looks whether such are taken."""
    registers: bool = True
    """Registers where it has no id; otherwise it makes one up."""
    honours_refusal: bool = True
    """Does not go on as if it were registered where it was refused that."""
    keys_by_issuer: bool = True
    """Is somebody else at each authorization server."""
    honours_scope: bool = True
    """Asks for the scope that a challenge names."""
    trusts_supported: bool = False
    """Asks only for scopes that the metadata names, whatever a challenge names."""
    keeps_scopes: bool = True
    """Asks for earlier scopes as well when it asks again."""
    steps_up: bool = True
    """Asks for more when what it has is not enough."""
    tracks_scopes: bool = True
    """Gives up where all that is wanted was asked for already."""
    most_authorizations: int = 3
    """How often it asks for authorization before it gives up."""
    checks_state: bool = True
    """Wants its `state` back."""
    needs_iss: bool = True
    """Wants `iss` in an answer where it was promised."""
    compares_iss: bool = True
    """Wants it to name the server that it asked."""
    normalizes_iss: bool = False
    """Minds no slash at its end."""
