"""`/health` and `/ready`: what they say, to whom, and that they take no path of the endpoint."""

import asyncio
from typing import Any

import httpx2
import pytest

from assay import Server
from assay.auth import Auth
from assay.middleware import Prometheus
from assay.middleware.prometheus import TOKEN
from assay.model.error import StoreAway, StoreError
from assay.store.memory_store import MemoryStore

HEALTH, READY = "/health", "/ready"


class Store(MemoryStore):
    """In memory, and away when it is told so."""

    problem: Exception | None = None
    checks = 0

    async def check(self) -> None:
        self.checks += 1
        if self.problem is not None:
            raise self.problem


def client(app: Any, host: str = "localhost") -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{host}")


def server_app(server: Server | None = None, **options: Any) -> Any:
    return (server or Server("operated")).asgi(**{"probes": "on", **options})


@pytest.mark.parametrize("path", [HEALTH, READY, f"{READY}/"])
async def test_probes_answer_any_host_without_saying_more(path: str) -> None:
    async with client(server_app(), "10.244.1.7") as http:
        answer = await http.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert answer.json() == {"status": "ok" if path == HEALTH else "ready"}
        head = await http.head(path)
        assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "OPTIONS"])
async def test_probes_can_only_be_read(method: str) -> None:
    async with client(server_app()) as http:
        answer = await http.request(method, HEALTH)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_stopping_server_is_healthy_but_not_ready() -> None:
    app = server_app()
    async with client(app) as http:
        await app.start()
        await app.close()
        assert (await http.get(HEALTH)).status_code == 200
        answer = await http.get(READY)
        assert (answer.status_code, answer.json()) == (503, {"status": "draining"})
        await app.start()
        assert (await http.get(READY)).status_code == 200
        await app.close()


@pytest.mark.parametrize("problem", [StoreAway(), StoreError("gone", "fix"), ConnectionRefusedError()])
async def test_server_whose_store_is_away_is_healthy_but_not_ready(problem: Exception) -> None:
    store = Store()
    async with client(server_app(Server("operated", store=store))) as http:
        store.problem = problem
        answer = await http.get(READY)
        assert (answer.status_code, answer.json()) == (503, {"status": "store unreachable"})
        assert (await http.get(HEALTH)).status_code == 200


async def test_flood_of_probes_asks_the_store_once() -> None:
    store = Store()
    async with client(server_app(Server("operated", store=store))) as http:
        answers = await asyncio.gather(*(http.get(READY) for _ in range(50)))
        assert {answer.status_code for answer in answers} == {200}
        assert store.checks == 1


@pytest.mark.parametrize("path", [HEALTH, READY])
async def test_path_of_the_endpoint_is_never_taken(path: str) -> None:
    async with client(server_app(path=path)) as http:
        assert (await http.get(path)).status_code == 405  # the endpoint's answer to a GET without a session
    async with client(server_app(path=None)) as http:
        assert (await http.get(path)).status_code == 405


@pytest.mark.parametrize("path", [HEALTH, READY])
async def test_application_of_a_host_has_no_probes_unless_asked(path: str) -> None:
    async with client(Server("mounted").asgi()) as http:
        assert (await http.get(path)).status_code == 404


def test_probes_are_on_or_off() -> None:
    with pytest.raises(ValueError, match='probes must be "on" or "off"'):
        server_app(probes=True)


async def test_probes_need_no_token_and_all_else_does() -> None:
    auth = Auth(issuer="https://id.example", audience="https://api.example/mcp")
    server = Server("protected", auth=auth)
    server.use(Prometheus())
    async with client(server_app(server)) as http:
        statuses = {path: (await http.get(path)).status_code for path in (HEALTH, READY, "/mcp", "/metrics")}
        assert statuses == {HEALTH: 200, READY: 200, "/mcp": 401, "/metrics": 401}
        refused = await http.get(HEALTH, headers={"Authorization": "Bearer wrong"})
        assert refused.status_code == 200


async def test_token_for_the_numbers_replaces_that_of_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    server = Server("protected", auth=Auth(issuer="https://id.example", audience="https://api.example/mcp"))
    server.use(Prometheus())
    async with client(server_app(server)) as http:
        for token, status in (("secret", 200), ("wrong", 401)):
            answer = await http.get("/metrics", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status
        assert (await http.get("/mcp", headers={"Authorization": "Bearer secret"})).status_code == 401
