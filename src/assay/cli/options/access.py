"""Headers, tokens and certificates for a protected server."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.lab.options import Access


def add_headers(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--header", action="append", default=[], metavar="'N: V'", help="send with every request; repeatable"
    )


def add_access(group: argparse._ArgumentGroup, *names: str) -> None:
    """`names` are further names of `--bearer`."""
    add = group.add_argument
    add(
        *names,
        "--bearer",
        dest="bearer",
        metavar="TOKEN",
        help="send as `Authorization: Bearer`; never stored",
    )
    add("--bearer-other", metavar="TOKEN", help="token of a second user, to test isolation")
    add("--bearer-weak", metavar="TOKEN", help="valid token with too few scopes")
    add("--bearer-expired", metavar="TOKEN", help="expired token of the same issuer")
    add("--bearer-foreign", metavar="TOKEN", help="token of the same issuer for another server")
    add("--authority", metavar="URL", help="get all these tokens from this issuer instead")
    add("--audience", metavar="URL", help="request tokens for this resource; default: the server's URL")
    scope = "scope to request; repeatable; default: those in the server's metadata"
    add("--token-scope", action="append", default=[], metavar="S", help=scope)
    client = "registered client, its secret in ASSAY_CLIENT_SECRET; default: register one"
    add("--client-id", metavar="ID", help=client)
    add("--ca", type=Path, metavar="FILE", help="authorities that signed the server's certificate (PEM)")
    add("--client-cert", type=Path, metavar="FILE", help="certificate of the client, for mutual TLS (PEM)")
    add("--client-key", type=Path, metavar="FILE", help="its private key, unless it is in the same file")


def access_from(options: argparse.Namespace) -> Access:
    from assay.lab.access import parse_headers
    from assay.lab.options import SECRET, Access

    names = (*(f"bearer_{kind}" for kind in ("other", "weak", "expired", "foreign")), "bearer")
    plain = (*names, "authority", "audience", "client_id", "ca", "client_cert", "client_key")
    return Access(
        headers=parse_headers(options.header),
        token_scope=tuple(options.token_scope),
        client_secret=os.environ.get(SECRET),
        **{name: getattr(options, name) for name in plain},
    )
