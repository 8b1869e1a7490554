"""The table of public servers: package, environment and command of each."""

import json
import os
import shutil
import socket
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PINS = HERE / "servers"
ENVIRONMENTS = Path(".venv-public")
"""Relative to the project, where servers are started, so that no command contains a path of this machine."""


class PublicServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    package: str
    built_with: str
    command: list[str]
    url: str = ""
    """Where it listens; empty for a stdio server."""
    environment: dict[str, str] = {}
    effects: bool = False
    pins: str = ""
    """Another server of the table with the same package."""
    name: str = ""

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"

    @property
    def files(self) -> Path:
        return PINS / (self.pins or self.name)

    @property
    def home(self) -> Path:
        return ENVIRONMENTS / (self.pins or self.name)

    def version(self) -> str:
        """The pinned version."""
        pins = self.files / "requirements.txt"
        if pins.is_file():
            return dict(line.split("==") for line in pins.read_text("utf-8").splitlines())[self.package]
        manifest = json.loads((self.files / "package.json").read_text("utf-8"))
        return str(manifest["dependencies"][self.package])

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


def free_port() -> int:
    """A port that is free now: these servers cannot choose one themselves."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def public_servers(path: Path = HERE / "servers.toml") -> dict[str, PublicServer]:
    table = tomllib.loads(path.read_text("utf-8"))
    return {name: msgspec.convert({**row, "name": name}, PublicServer) for name, row in table.items()}
