"""The numbers at `/metrics`: what they count, what clients cannot add to them, and who may read them."""

import asyncio
import re
from typing import Any

import httpx2
import pytest

from assay import Context, Server, ToolError
from assay.middleware import Prometheus
from assay.middleware.prometheus import MOST, TOKEN
from assay.transport.http1.observer import Answered


def make_server(prometheus: Prometheus) -> Server:
    server = Server("measured")
    server.use(prometheus)

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def fail() -> None:
        raise ToolError("on purpose")

    @server.tool
    async def crash() -> None:
        raise RuntimeError("on purpose")

    @server.tool
    async def wait(ctx: Context) -> None:
        await asyncio.Event().wait()

    return server


async def handle(server: Server, method: str, **params: Any) -> None:
    await server.handle({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def value(text: str, series: str) -> float:
    match = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    return 0.0 if match is None else float(match[1])


def count(text: str, method: str, outcome: str, name: str = "") -> float:
    labels = [f'method="{method}"', *([f'name="{name}"'] if name else []), f'outcome="{outcome}"']
    return value(text, f"mcp_server_operation_duration_seconds_count{{{','.join(labels)}}}")


async def test_requests_are_counted_by_method_name_and_outcome() -> None:
    prometheus = Prometheus()
    server = make_server(prometheus)
    for _ in range(3):
        await handle(server, "tools/call", name="add", arguments={"a": 1, "b": 2})
    await handle(server, "tools/call", name="fail", arguments={})
    await handle(server, "tools/call", name="crash", arguments={})
    await handle(server, "tools/list")
    text = await prometheus.text()
    assert count(text, "tools/call", "ok", "add") == 3
    assert count(text, "tools/call", "tool_error", "fail") == 1
    assert (
        count(text, "tools/call", "tool_error", "crash") + count(text, "tools/call", "error -32603", "crash")
        == 1
    )
    assert count(text, "tools/list", "ok") == 1


async def test_names_that_clients_invent_are_counted_together() -> None:
    prometheus = Prometheus()
    server = make_server(prometheus)
    for number in range(20):
        await handle(server, "tools/call", name=f"invented-{number}", arguments={})
        await handle(server, f"invented/{number}")
    text = await prometheus.text()
    assert "invented" not in text
    assert sum(line.count("_count{") for line in text.splitlines()) <= 3


async def test_number_of_series_is_bounded() -> None:
    prometheus = Prometheus()
    server = Server("many")
    server.use(prometheus)
    for number in range(MOST + 50):
        server.tool(make_tool(), name=f"tool-{number}")
    for number in range(MOST + 50):
        await handle(server, "tools/call", name=f"tool-{number}", arguments={})
    text = await prometheus.text()
    counts = re.findall(r"^mcp_server_operation_duration_seconds_count\S* (\d+)$", text, re.MULTILINE)
    assert len(counts) <= MOST + 1
    assert sum(map(int, counts)) == MOST + 50


def make_tool() -> Any:
    async def tool() -> int:
        return 1

    return tool


async def test_histogram_is_cumulative_and_in_the_text_format() -> None:
    times = iter([0.0, 0.03, 1.0, 1.2])
    prometheus = Prometheus(clock=lambda: next(times))
    server = make_server(prometheus)
    for _ in range(2):
        await handle(server, "tools/list")
    lines = (await prometheus.text()).splitlines()
    family = "mcp_server_operation_duration_seconds"
    assert f"# TYPE {family} histogram" in lines
    buckets = {
        match[1]: int(match[2])
        for line in lines
        if (
            match := re.match(
                rf'{family}_bucket{{method="tools/list",outcome="ok",le="([^"]+)"}} (\d+)', line
            )
        )
    }
    assert (buckets["0.02"], buckets["0.05"], buckets["0.2"], buckets["+Inf"]) == (0, 1, 2, 2)
    pattern = r'(# (HELP|TYPE) .+|[a-z_]+({([a-z_]+="[^"]*",?)+})? [0-9.e+-]+)'
    assert all(re.fullmatch(pattern, line) for line in lines)


async def test_http_requests_are_counted_and_connections_are_shown() -> None:
    prometheus = Prometheus()
    prometheus.connections = lambda: 7
    for method, status in (("POST", 200), ("POST", 200), ("INVENTED", 405)):
        prometheus.observe(Answered({"method": method}, status, 10, 0.004))
    text = await prometheus.text()
    assert value(text, 'assay_http_requests_total{method="POST",status="200"}') == 2
    assert value(text, 'assay_http_requests_total{method="_OTHER",status="405"}') == 1
    assert value(text, "assay_http_response_bytes_total") == 30
    assert value(text, "assay_http_connections") == 7


async def test_with_workers_the_numbers_are_those_of_the_parent() -> None:
    prometheus = Prometheus()
    totals = {"counters": {"assay_http_response_bytes_total": 5.0}, "gauges": {}, "restarts": 3, "workers": 2}

    async def ask() -> dict[str, Any]:
        return totals

    prometheus.totals = ask
    text = await prometheus.text()
    assert value(text, "assay_http_response_bytes_total") == 5
    assert value(text, "assay_worker_restarts_total") == 3
    assert value(text, "assay_workers") == 2


def client(server: Server, host: str = "localhost", **options: Any) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=server.asgi(**options))
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{host}")


async def test_metrics_obey_host_and_origin_and_can_only_be_read() -> None:
    server = make_server(Prometheus())
    async with client(server) as http:
        answer = await http.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert (await http.post("/metrics")).status_code == 405
        assert (await http.get("/metrics", headers={"Origin": "http://evil.example"})).status_code == 403
    async with client(server, "evil.example") as http:
        assert (await http.get("/metrics")).status_code == 421


async def test_token_of_the_environment_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    async with client(make_server(Prometheus())) as http:
        for header in ("", "Bearer wrong", "secret", "bearer secret"):
            answer = await http.get("/metrics", headers={"Authorization": header})
            assert answer.status_code == 401
        assert (await http.get("/metrics", headers={"Authorization": "Bearer secret"})).status_code == 200


async def test_path_of_the_endpoint_is_never_taken() -> None:
    async with client(make_server(Prometheus()), path="/metrics") as http:
        assert (await http.get("/metrics")).status_code == 405


async def test_parent_that_does_not_answer_is_reported_as_unavailable() -> None:
    prometheus = Prometheus()

    async def ask() -> dict[str, Any]:
        raise TimeoutError

    prometheus.totals = ask
    async with client(make_server(prometheus)) as http:
        assert (await http.get("/metrics")).status_code == 503
