"""Assay authorizes a request by its token: the same one every time (`known`), or a `new` one each time.

The protected application does nothing, so this is the cost that protection adds to a request. Each line on
standard input requests a batch of so many requests. The answer is the median in seconds.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from assay.auth import Auth
from assay.auth.guard import Guard
from assay.auth.protected import Protected
from assay.protocol.http.policy import HttpPolicy

ISSUER, RESOURCE = "https://as.example", "https://localhost/mcp"
KEY = ec.generate_private_key(ec.SECP256R1())


class EmptyApp:
    """Counts authorized requests."""

    policy = HttpPolicy()

    def __init__(self) -> None:
        self.served = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["assay"].principal is not None
        self.served += 1

    def start(self) -> None:
        pass

    async def close(self) -> None:
        pass


def build() -> tuple[Protected, EmptyApp]:
    jwk = {**json.loads(ECAlgorithm.to_jwk(KEY.public_key())), "kid": "bench", "use": "sig"}
    auth = Auth(issuer=ISSUER, audience=RESOURCE, jwks={"keys": [jwk]}, scopes=["use"])
    inner = EmptyApp()
    return Protected(inner, Guard(auth)), inner


def request(number: int) -> dict[str, Any]:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": RESOURCE, "sub": "bench", "iat": now, "exp": now + 3600}
    claims |= {"scope": "use more", "client_id": "bench", "jti": str(number)}
    token = jwt.encode(claims, KEY, "ES256", headers={"kid": "bench", "typ": "at+jwt"})
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"100")]
    headers += [(b"accept", b"application/json, text/event-stream"), (b"user-agent", b"bench")]
    headers += [(b"authorization", b"Bearer " + token.encode()), (b"mcp-protocol-version", b"2025-11-25")]
    head = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b""}
    return {**head, "root_path": "", "scheme": "http", "http_version": "1.1", "headers": headers}


async def run_batch(kind: str, times: int) -> float:
    app, inner = build()
    requests = [request(number) for number in range(times if kind == "new" else 1)]
    unused: Callable[..., Awaitable[Any]] = asyncio.sleep
    if kind == "known":
        await app(requests[0], unused, unused)
        requests *= times
    else:
        await app(request(-1), unused, unused)  # reads the keys
    clock, durations = time.perf_counter, []
    for each in requests:
        begin = clock()
        await app(each, unused, unused)
        durations.append(clock() - begin)
    assert inner.served == times + 1
    return median(durations)


async def main(kind: str) -> None:
    await run_batch(kind, 50)
    print("ready", flush=True)
    while line := sys.stdin.readline():
        print(await run_batch(kind, int(line)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
