"""The page on which a person says yes or no. The click counts only in the browser that was shown the page."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from .http import NOT_STORED, Response
from .record import Client, Ticket, Wish, digest, is_secret, new_secret
from .refusal import NotRedirected
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
        # Not `no-referrer`: browsers would hide the origin of the click from us, too.
        ("referrer-policy", "same-origin"),
        *NOT_STORED,
    )
    return Response(status=status, headers=headers, body=text.encode())


def refusal_page(refused: NotRedirected) -> Response:
    words = f"<p>{escape(refused.description)}</p><p>Error: <code>{escape(refused.error)}</code></p>"
    return page("This request cannot be answered", words, status=400)


def ask(authority: Authority, request: Request, client: Client, wish: Wish) -> Response:
    """Show the page, and remember in which browser."""
    browser = browser_of(request) or new_secret()
    ticket = new_secret()
    expires = authority.now() + authority.settings.lifetimes.ticket
    authority.tickets.put(digest(ticket), Ticket(wish=wish, browser=digest(browser)), expires)
    content = _form(authority, client, wish, ticket)
    shown = page(f"Allow {client.name or client.id}?", content, forms=f"'self' {_form_target(wish.redirect)}")
    secure = "; Secure" if authority.issuer.startswith("https:") else ""
    value = f"{COOKIE}={browser}; Path={authority.settings.path or '/'}; HttpOnly; SameSite=Lax{secure}"
    cookie = ("set-cookie", value)
    return Response(status=shown.status, headers=(*shown.headers, cookie), body=shown.body)


def browser_of(request: Request) -> str | None:
    """The secret that this browser got with the page."""
    for header in request.every("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == COOKIE and BROWSER.fullmatch(value):
                return value
    return None


def _form_target(redirect: str) -> str:
    """What the policy must let the form lead to: browsers apply it to the redirect after the click, too."""
    parts = urlsplit(redirect)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _form(authority: Authority, client: Client, wish: Wish, ticket: str) -> str:
    rows = {
        "Application": client.name or "(it has no name)",
        "Its id": client.id,
        "You will be sent to": urlsplit(wish.redirect).netloc or wish.redirect,
        "It may use": ", ".join(wish.resources) or authority.settings.audience or authority.issuer,
    }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())
    return (
        f"<dl>{listed}</dl>{_warning(wish)}"
        f'<form method="post" action="{escape(authority.settings.url("/consent"))}">'
        f'<input type="hidden" name="ticket" value="{escape(ticket)}">'
        f"{_choices('As', 'radio', 'user', authority.settings.users, checked=1)}"
        f"{_choices('Scopes', 'checkbox', 'scope', wish.scopes, checked=len(wish.scopes))}"
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="deny">Deny</button></form>'
    )


def _warning(wish: Wish) -> str:
    if urlsplit(wish.redirect).hostname not in LOOPBACK:
        return ""
    return "<p>The answer goes to a program on this machine: any program here could pose as this one.</p>"


def _choices(legend: str, kind: str, name: str, values: tuple[str, ...], *, checked: int) -> str:
    inputs = "".join(
        f'<label><input type="{kind}" name="{name}" value="{escape(value)}"'
        f"{' checked' if number < checked else ''}> {escape(value)}</label>"
        for number, value in enumerate(values)
    )
    return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>" if values else ""


def _is_our_name(authority: Authority, host: str) -> bool:
    """A page of another name that leads here (DNS rebinding) would be of one origin with ours."""
    try:
        return urlsplit(f"//{host}").hostname in (*LOOPBACK, urlsplit(authority.issuer).hostname)
    except ValueError:
        return False


def redeem(authority: Authority, request: Request, ticket: str) -> Wish:
    """The wish that was shown on the page, once.

    Raises:
        NotRedirected: the click comes from elsewhere, late, or twice.
    """
    origin, host = request.header("origin"), request.header("host")
    elsewhere = origin is not None and origin.partition("://")[2] != host
    if elsewhere or not _is_our_name(authority, host or ""):
        raise NotRedirected("access_denied", "this click comes from another site")
    kept, browser = authority.tickets.get(digest(ticket)), browser_of(request)
    if kept is None or browser is None or not is_secret(browser, kept.browser):
        raise NotRedirected(
            "access_denied", "this page was not shown in this browser, or not lately: start again"
        )
    authority.tickets.drop(digest(ticket))
    return kept.wish
