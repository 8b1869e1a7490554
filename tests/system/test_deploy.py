"""The recipes of `examples/deploy`, as far as a machine without Docker and Kubernetes can try them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml

from assay import Client, Progress, Retry
from assay.revisions.registry import HANDSHAKE
from tests.meta.tree import ROOT

DEPLOY = ROOT / "examples" / "deploy"
SERVE = ("assay", "serve", str(DEPLOY / "server.py"), "--transport", "http")
HIDDEN = ("/health", "/ready", "/metrics", "/")
PATIENCE = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def installed(program: str, package: str) -> str:
    """A program of Debian, installed if that is possible."""
    found = shutil.which(program)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False, capture_output=True)
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
        subprocess.run(words, check=False, capture_output=True)
        found = shutil.which(program)
    assert found is not None, f"sudo apt-get install {package}"
    return found


@contextmanager
def served(*words: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`assay serve` of the recipes' server; yields the URL of its endpoint, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", *SERVE, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield process.stdout.readline().split()[-1], process
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


@contextmanager
def nginx(directory: Path, upstream: int) -> Iterator[int]:
    """nginx with the recipe; only ports and places of files differ."""
    program = installed("nginx", "nginx-light")
    port = free_port()
    recipe = (DEPLOY / "nginx.conf").read_text()
    recipe = (
        recipe.replace("127.0.0.1:3000", f"127.0.0.1:{upstream}")
        .replace("listen 80", f"listen {port}")
        .replace("mcp.example.com", "localhost")
    )
    shutil.copy(DEPLOY / "proxy_mcp.conf", directory)
    main = directory / "nginx.conf"
    places = "".join(
        f"{kind}_temp_path {directory}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main.write_text(
        f"pid {directory}/pid; error_log {directory}/error.log; daemon off; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {places}\n{recipe}\n}}\n"
    )
    words = [program, "-p", str(directory), "-c", str(main)]
    subprocess.run([*words, "-t"], check=True, capture_output=True)
    process = subprocess.Popen(words)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.mark.timeout(120)
def test_nginx_in_front_of_two_workers_needs_no_stickiness(tmp_path: Path) -> None:
    words = ("--port", "0", "--workers", "2", "--trusted-proxy", "127.0.0.1")
    with served(*words) as (upstream, process), nginx(tmp_path, urlsplit(upstream).port or 0) as port:
        asyncio.run(talk_through_nginx(f"http://localhost:{port}/mcp", process))


async def talk_through_nginx(url: str, process: subprocess.Popen[str]) -> None:
    """In the midst of each session all workers are replaced."""
    async with asyncio.timeout(60):
        for revision in (HANDSHAKE[-1].date, None):
            async with Client(url, revision=revision, retry=Retry(opening=PATIENCE)) as client:
                before = (await client.call("worker")).text
                progress: list[Progress] = []
                result = await client.call_tool("steps", {"number": 3}, progress=progress.append)
                assert result.text == "done"
                assert [each.progress for each in progress] == [1, 2, 3]
                if revision is not None:
                    assert (await client.call_as(int, "count")) == 1
                process.send_signal(signal.SIGHUP)
                while (await client.call("worker")).text == before:
                    pass
                if revision is not None:
                    assert (await client.call_as(int, "count")) == 2
        statuses = {path: httpx2.get(url.replace("/mcp", path)).status_code for path in HIDDEN}
        assert statuses == dict.fromkeys(HIDDEN, 404)


def test_units_of_systemd_are_valid() -> None:
    program = installed("systemd-analyze", "systemd")
    units = [str(DEPLOY / name) for name in ("assay.service", "assay.socket")]
    result = subprocess.run([program, "verify", *units], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_socket_of_systemd_is_shared_by_the_workers() -> None:
    program = installed("systemd-socket-activate", "systemd")
    port = free_port()
    words = [program, "-l", f"127.0.0.1:{port}", sys.executable, "-m", *SERVE, "--workers", "2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The first connection starts the service.
        asyncio.run(call_once(f"http://127.0.0.1:{port}/mcp"))
    finally:
        process.terminate()
        process.wait(PATIENCE)


async def call_once(url: str) -> None:
    async with asyncio.timeout(PATIENCE), Client(url, retry=Retry(opening=PATIENCE)) as client:
        assert (await client.call("worker")).text.isdecimal()


@pytest.mark.timeout(240)
def test_caddyfile_is_valid() -> None:
    words = [installed("caddy", "caddy"), "validate", "--adapter", "caddyfile", "--config"]
    result = subprocess.run([*words, str(DEPLOY / "Caddyfile")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def container() -> dict[str, Any]:
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    by_kind = {document["kind"]: document for document in documents}
    assert by_kind["Service"]["spec"]["sessionAffinity"] == "None"
    first: dict[str, Any] = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    return first


def test_command_of_the_image_with_the_arguments_of_kubernetes_serves_its_probes() -> None:
    recipe = (DEPLOY / "Dockerfile").read_text()
    entry = json.loads(recipe.split("ENTRYPOINT ")[1])
    assert entry[:3] == ["assay", "serve", "server.py"]
    pod = container()
    words = [*entry[3:], *pod["args"]]
    with served(*words[2:], "--port", "0", ASSAY_STORE="memory:", SEALING_KEY="k" * 32) as (url, _):
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = pod[probe]["httpGet"]["path"]
            # A probe names the pod by its address.
            answer = httpx2.get(url.replace("/mcp", path), headers={"Host": "10.244.1.7:3000"})
            assert answer.status_code == 200
        assert httpx2.post(url, headers={"Host": "10.244.1.7:3000"}).status_code == 421
