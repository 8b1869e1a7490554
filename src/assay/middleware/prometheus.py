"""Numbers for Prometheus at `/metrics`: requests by method, name and outcome; HTTP, connections, workers."""

from __future__ import annotations

import hmac
import os
from bisect import bisect_left
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import msgspec

from assay.model.error import AssayError, RpcError
from assay.protocol.http.asgi import Application, AsgiScope, JoinsHost, Receive, Transmit, path_here
from assay.protocol.http.head_policy import HeadPolicy
from assay.protocol.http.policy import HttpPolicy
from assay.protocol.middleware import Ending, Host, Middleware, Serve, ServedCall
from assay.revisions.registry import REVISIONS

from .exposition import BUCKETS, as_text, series

PATH: Final = "/metrics"
TOKEN: Final = "ASSAY_METRICS_TOKEN"
"""The environment variable with the token that readers need: a command line is visible to other users."""
OTHER: Final = "_OTHER"
"""In place of what clients can invent: unknown methods, tools and prompts."""
MOST: Final = 256
"""Combinations of method, name and outcome; further ones are counted without the name."""
NAMED: Final = frozenset({"tools/call", "prompts/get"})
PROTOCOL: Final = frozenset().union(*(revision.requests for revision in REVISIONS))


class Named(msgspec.Struct):
    """The parameters of a method that names a tool or prompt."""

    name: Any = None


_decode: Final = msgspec.json.Decoder(Named).decode
Numbers = dict[str, dict[str, float]]
Totals = Callable[[], Awaitable[dict[str, Any]]]


class Histogram:
    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.sum += seconds


class Prometheus(Middleware):
    """Add it with `Server.use`, before other middleware. With several workers the numbers are of all.

    If the environment variable `ASSAY_METRICS_TOKEN` is set, readers need it as a bearer token. Host and
    Origin are checked as for the endpoint.
    """

    def __init__(self, *, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._operations: dict[tuple[str, str, str], Histogram] = {}
        self._responses: dict[tuple[str, str], int] = {}
        self._http = Histogram()
        self._sent = 0
        self._running = 0
        self.connections: Callable[[], int] | None = None
        """Set by the HTTP server: the open connections."""
        self.totals: Totals | None = None
        """Set in a worker: asks the parent for the numbers of all."""

    def join(self, server: Host, /) -> None:
        self._host = server

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        known = self._is_known(method)

        async def measured(call: ServedCall) -> Any:
            began = self._clock()
            name = self._name_of(method, call) if method in NAMED else ""
            outcome = "ok"
            self._running += 1
            try:
                result = await serve(call)
                if getattr(result, "is_error", False):
                    outcome = "tool_error"
                return result
            except BaseException as error:
                outcome = _outcome_of(error, call)
                raise
            finally:
                self._running -= 1
                key = (method if known else OTHER, name, outcome)
                self._histogram(key).add(self._clock() - began)

        return measured

    def _is_known(self, method: str) -> bool:
        custom = self._host.custom_methods
        return method in PROTOCOL or any(
            each.name == method for revision in REVISIONS for each in custom.of(revision)
        )

    def _name_of(self, method: str, call: ServedCall) -> str:
        try:
            name = getattr(call.decoded_params, "name", None) or _decode(call.params).name
        except (msgspec.DecodeError, RecursionError):
            name = None  # the method refuses it
        group = self._host.tools if method == "tools/call" else self._host.prompts
        return name if isinstance(name, str) and group.registry.get(name) is not None else OTHER

    def _histogram(self, key: tuple[str, str, str]) -> Histogram:
        histogram = self._operations.get(key)
        if histogram is None:
            if len(self._operations) >= MOST:
                key = (key[0], "", key[2])
            histogram = self._operations.setdefault(key, Histogram())
        return histogram

    def observe(self, answered: Any) -> None:
        """Count a request that the HTTP server has answered."""
        method = answered.scope.get("method", "-")
        key = (method if method in ("GET", "POST", "DELETE", "OPTIONS") else OTHER, str(answered.status))
        self._responses[key] = self._responses.get(key, 0) + 1
        self._http.add(answered.seconds)
        self._sent += answered.sent

    def measure(self) -> Numbers:
        """The numbers of this process: `counters` only grow, `gauges` are of now."""
        counters: dict[str, float] = {}
        for (method, name, outcome), histogram in self._operations.items():
            labels = {"method": method, "name": name, "outcome": outcome}
            _add_histogram(counters, "mcp_server_operation_duration_seconds", labels, histogram)
        for (method, status), number in self._responses.items():
            counters[series("assay_http_requests_total", {"method": method, "status": status})] = number
        _add_histogram(counters, "assay_http_request_duration_seconds", {}, self._http)
        counters["assay_http_response_bytes_total"] = self._sent
        times = os.times()
        counters["process_cpu_seconds_total"] = round(times.user + times.system, 2)
        gauges: dict[str, float] = {"assay_requests_running": self._running}
        if self.connections is not None:
            gauges["assay_http_connections"] = self.connections()
        return {"counters": counters, "gauges": gauges}

    async def text(self) -> str:
        """The numbers of this process, or of all workers, in Prometheus's text format. Those of other workers
        are up to a second old."""
        numbers: dict[str, Any] = self.measure()
        if self.totals is not None:
            numbers = await self.totals()
            numbers["counters"]["assay_worker_restarts_total"] = numbers["restarts"]
            numbers["gauges"]["assay_workers"] = numbers["workers"]
        counters, gauges = numbers["counters"], numbers["gauges"]
        return as_text(counters, gauges)

    def publish(self, app: Application, /) -> Application:
        return app if app.policy.path is None else MetricsApp(app, self.text)


def _outcome_of(error: BaseException, call: ServedCall) -> str:
    ending = call.ending_of(error)
    if ending is not Ending.FAILED:
        return str(ending.value)
    return f"error {error.code}" if isinstance(error, RpcError) else "error -32603"


def _add_histogram(
    counters: dict[str, float], family: str, labels: dict[str, str], histogram: Histogram
) -> None:
    total = 0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), histogram.counts, strict=True):
        total += count
        counters[series(f"{family}_bucket", {**labels, "le": bound})] = total
    counters[series(f"{family}_sum", labels)] = histogram.sum
    counters[series(f"{family}_count", labels)] = total


class MetricsApp(JoinsHost):
    """Wraps an application and serves `/metrics` beside it."""

    def __init__(self, app: Application, text: Callable[[], Awaitable[str]]) -> None:
        self._app = app
        self._text = text
        self._token = os.environ.get(TOKEN, "").encode()
        self._head_policy = HeadPolicy(app.policy)
        open_paths = app.policy.open_paths | ({PATH} if self._token else set())
        self._policy = replace(app.policy, open_paths=open_paths)

    @property
    def policy(self) -> HttpPolicy:
        """With a token for readers, they need none of the endpoint's."""
        return self._policy

    def start(self) -> Awaitable[None]:
        return self._app.start()

    async def close(self) -> None:
        await self._app.close()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] == "http" and path_here(scope) == PATH != self.policy.path:
            return await self._serve(scope, send)
        return await self._app(scope, receive, send)

    async def _serve(self, scope: AsgiScope, send: Transmit) -> None:
        status, headers, body = await self._answer(scope)
        fields = [*headers, (b"cache-control", b"no-store"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _answer(self, scope: AsgiScope) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        headers = dict(scope["headers"])
        problem = self._head_policy.check_source(headers.get(b"host"), headers.get(b"origin"))
        if problem is not None:
            return problem.status, [], problem.body()
        if scope["method"] not in ("GET", "HEAD"):
            return 405, [(b"allow", b"GET, HEAD")], b""
        if self._token and not hmac.compare_digest(
            headers.get(b"authorization", b""), b"Bearer " + self._token
        ):
            return 401, [(b"www-authenticate", b'Bearer realm="metrics"')], b""
        try:
            text = await self._text()
        except (TimeoutError, AssayError):
            return 503, [(b"retry-after", b"5")], b"the parent of the workers does not answer\n"
        return 200, [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")], text.encode()
