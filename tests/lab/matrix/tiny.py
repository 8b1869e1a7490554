"""Matrices of programs that start fast."""

from __future__ import annotations

from pathlib import Path

from assay.lab.matrix.definition import ClientRow, Matrix, ServerColumn, checked

PROGRAMS = Path(__file__).parent / "programs"
PLAIN = ("{python}", "-I", "-S")


def client(manner: str = "") -> ClientRow:
    words = [*PLAIN, str(PROGRAMS / "client.py"), manner or "plain"]
    return ClientRow(stdio=[*words, "{server}"], http=[*words, "{url}"])


def server(fault: str = "") -> ServerColumn:
    words = [*PLAIN, str(PROGRAMS / "server.py"), *(["--fault", fault] if fault else [])]
    return ServerColumn(stdio=words, http=[*words, "--port", "{port}"], url="http://127.0.0.1:{port}/mcp")


def matrix(
    clients: tuple[str, ...] = ("plain",),
    servers: tuple[str, ...] = ("",),
    transports: tuple[str, ...] = ("stdio",),
    timeout: float = 20.0,
) -> Matrix:
    """Clients by their manners, servers by their faults; the one without is `sound`."""
    return checked(
        Matrix(
            clients={name: client(name) for name in clients},
            servers={name or "sound": server(name) for name in servers},
            steps={
                "tools": {"do": "list_tools"},
                "call": {"do": "call_tool", "name": "greet", "arguments": {}},
            },
            transports=transports,
            revisions=["2025-11-25"],
            timeout=timeout,
        )
    )
