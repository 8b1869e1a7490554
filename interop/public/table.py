"""The tables of public servers and clients: package, environment and command of each."""

import json
import os
import shutil
import socket
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from assay.lab.harness.scripted_server.client import CommandClient
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject
from assay.lab.harness.transport import Transport

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PINS = HERE / "servers"
CLIENT_PINS = HERE / "clients"
ENVIRONMENTS = Path(".venv-public")
CLIENT_ENVIRONMENTS = Path(".venv-clients")
"""Relative to the project, where programs are started, so that no command contains a path of this machine."""


class PublicPackage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A package from a registry, with pins in a directory of `folder`."""

    package: str
    built_with: str
    command: list[str]
    pins: str = ""
    """Another entry of the table with the same package."""
    name: str = ""

    folder: ClassVar[Path]
    environments: ClassVar[Path]
    traces: ClassVar[Path]

    @property
    def transport(self) -> str:
        raise NotImplementedError

    @property
    def files(self) -> Path:
        return self.folder / (self.pins or self.name)

    @property
    def home(self) -> Path:
        return self.environments / (self.pins or self.name)

    def version(self) -> str:
        """The pinned version."""
        pins = self.files / "requirements.txt"
        if pins.is_file():
            return dict(line.split("==") for line in pins.read_text("utf-8").splitlines())[self.package]
        manifest = json.loads((self.files / "package.json").read_text("utf-8"))
        return str(manifest["dependencies"][self.package])


class PublicServer(PublicPackage, frozen=True, forbid_unknown_fields=True):
    url: str = ""
    """Where it listens; empty for a stdio server."""
    environment: dict[str, str] = {}
    effects: bool = False

    folder = PINS
    environments = ENVIRONMENTS
    traces = HERE / "traces"

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"

    def subject(self, node: str) -> Subject:
        """The server, not yet started, with an empty folder for its data."""
        places = self.places(node)
        command = [word.format_map(places) for word in self.command]
        environment = {key: value.format_map(places) for key, value in self.environment.items()}
        if not self.url:
            return CommandSubject(command, environment)
        return UrlSubject(self.url.format_map(places), command=command)

    def places(self, node: str) -> Mapping[str, str]:
        data = self.home / "data"
        shutil.rmtree(ROOT / data, ignore_errors=True)
        (ROOT / data).mkdir()
        return {
            "home": str(self.home),
            "data": str(data),
            "files": os.path.relpath(self.files, ROOT),
            "node": node,
            "port": str(free_port()),
        }


class PublicClient(PublicPackage, frozen=True, forbid_unknown_fields=True):
    folder = CLIENT_PINS
    environments = CLIENT_ENVIRONMENTS
    traces = HERE / "client_traces"

    @property
    def transport(self) -> str:
        return "stdio" if "{server}" in self.command else "http"

    def client(self, node: str) -> CommandClient:
        """The client; its program is copied to its modules, beside which Node looks for imports."""
        for program in (*self.files.glob("client.*"), *self.folder.glob("steps.*")):
            shutil.copyfile(program, ROOT / self.home / program.name)
        places = {"home": str(self.home), "node": node, "url": "{url}", "server": "{server}"}
        return CommandClient([word.format_map(places) for word in self.command], Transport(self.transport))


def free_port() -> int:
    """A port that is free now: these servers cannot choose one themselves."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def public_servers(path: Path = HERE / "servers.toml") -> dict[str, PublicServer]:
    table = tomllib.loads(path.read_text("utf-8"))
    return {name: msgspec.convert({**row, "name": name}, PublicServer) for name, row in table.items()}


def public_clients(path: Path = HERE / "clients.toml") -> dict[str, PublicClient]:
    table = tomllib.loads(path.read_text("utf-8"))
    return {name: msgspec.convert({**row, "name": name}, PublicClient) for name, row in table.items()}
