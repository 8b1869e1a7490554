"""The consent page. A decision counts only in the browser that was shown the page."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from .error import DisplayedError
from .http import NOT_STORED, Response
from .record import AuthorizationRequest, Client, Ticket, digest, matches_digest, new_secret
from .settings import LOOPBACK

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Request

COOKIE: Final = "assay_authority"
BROWSER: Final = re.compile(r"[A-Za-z0-9_-]{43}")
NOTICE: Final = "This is a development authorization server. Do not use it with real accounts or real data."
STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#1c1c1c}"
    "h1{font-size:1.4rem}.notice{background:#fff3c4;border:1px solid #b8860b;padding:.5rem .8rem}"
    "dt{font-weight:600}dd{margin:0 0 .6rem;overflow-wrap:anywhere}fieldset{margin:1rem 0}"
    "label{display:block}button{font:inherit;padding:.5rem 1.2rem;margin-right:.6rem}"
)
STYLE_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body><p class="notice">{notice}</p><h1>{title}</h1>{content}</body></html>
"""


def page(title: str, content: str, *, status: int = 200, forms: str = "'none'") -> Response:
    text = PAGE.format(title=escape(title), style=STYLE, notice=NOTICE, content=content)
    policy = (
        f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; form-action {forms}; "
        "frame-ancestors 'none'; base-uri 'none'"
    )
    headers = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        # `no-referrer` would make browsers send `Origin: null` with the form, and `redeem` needs the origin.
        ("referrer-policy", "same-origin"),
        *NOT_STORED,
    )
    return Response(status=status, headers=headers, body=text.encode())


def error_page(error: DisplayedError) -> Response:
    content = f"<p>{escape(error.description)}</p><p>Error: <code>{escape(error.error)}</code></p>"
    return page("This request cannot be processed", content, status=400)


def ask(
    authority: Authority, request: Request, client: Client, authorization: AuthorizationRequest
) -> Response:
    """Show the page, and bind it to this browser."""
    browser = browser_of(request) or new_secret()
    ticket = new_secret()
    expires = authority.now() + authority.settings.lifetimes.ticket
    pending = Ticket(authorization=authorization, browser=digest(browser))
    authority.tickets.put(digest(ticket), pending, expires)
    content = _form(authority, client, authorization, ticket)
    forms = f"'self' {_form_target(authorization.redirect)}"
    consent = page(f"Allow {client.name or client.id}?", content, forms=forms)
    secure = "; Secure" if authority.issuer.startswith("https:") else ""
    value = f"{COOKIE}={browser}; Path={authority.settings.path or '/'}; HttpOnly; SameSite=Lax{secure}"
    cookie = ("set-cookie", value)
    return Response(status=consent.status, headers=(*consent.headers, cookie), body=consent.body)


def browser_of(request: Request) -> str | None:
    """The secret that this browser received with the page."""
    for header in request.every("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == COOKIE and BROWSER.fullmatch(value):
                return value
    return None


def _form_target(redirect: str) -> str:
    """A source for `form-action`: browsers also apply it to the redirect that follows the submission."""
    parts = urlsplit(redirect)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _form(authority: Authority, client: Client, authorization: AuthorizationRequest, ticket: str) -> str:
    rows = {
        "Application": client.name or "(no name)",
        "Client id": client.id,
        "You will be sent to": urlsplit(authorization.redirect).netloc or authorization.redirect,
        "May access": ", ".join(authorization.resources) or authority.settings.audience or authority.issuer,
    }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())
    return (
        f"<dl>{listed}</dl>{_warning(authorization)}"
        f'<form method="post" action="{escape(authority.settings.url("/consent"))}">'
        f'<input type="hidden" name="ticket" value="{escape(ticket)}">'
        f"{_choices('As', 'radio', 'user', authority.settings.users, checked=1)}"
        f"{_choices('Scopes', 'checkbox', 'scope', authorization.scopes, checked=len(authorization.scopes))}"
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="deny">Deny</button></form>'
    )


def _warning(authorization: AuthorizationRequest) -> str:
    if urlsplit(authorization.redirect).hostname not in LOOPBACK:
        return ""
    return "<p>The answer goes to a program on this machine. Any other program here could pose as it.</p>"


def _choices(legend: str, kind: str, name: str, values: tuple[str, ...], *, checked: int) -> str:
    inputs = "".join(
        f'<label><input type="{kind}" name="{name}" value="{escape(value)}"'
        f"{' checked' if number < checked else ''}> {escape(value)}</label>"
        for number, value in enumerate(values)
    )
    return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>" if values else ""


def _is_own_host(authority: Authority, host: str) -> bool:
    """Against DNS rebinding: under another name, an attacker's page would share our origin."""
    try:
        return urlsplit(f"//{host}").hostname in (*LOOPBACK, urlsplit(authority.issuer).hostname)
    except ValueError:
        return False


def redeem(authority: Authority, request: Request, ticket: str) -> AuthorizationRequest:
    """The request that the page showed; a ticket works once.

    Raises:
        DisplayedError: The form was sent from another site or browser, too late, or twice.
    """
    origin, host = request.header("origin"), request.header("host")
    elsewhere = origin is not None and origin.partition("://")[2] != host
    if elsewhere or not _is_own_host(authority, host or ""):
        raise DisplayedError("access_denied", "the form was sent from another site")
    pending, browser = authority.tickets.get(digest(ticket)), browser_of(request)
    if pending is None or browser is None or not matches_digest(browser, pending.browser):
        raise DisplayedError(
            "access_denied", "this page has expired or was shown in another browser: start again"
        )
    authority.tickets.drop(digest(ticket))
    return pending.authorization
