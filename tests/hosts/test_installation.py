"""Entries in the files of every application: nothing that was there is lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from assay.hosts import jsonc
from assay.hosts.entry import Entry, Local, Remote, read_entry
from assay.hosts.error import HostFileProblem
from assay.hosts.host import HOSTS, Host
from assay.hosts.installation import MOST_BYTES, install, servers_in

LOCAL = Local(("python", "-m", "assay", "serve", "/a b/server.py"), {"KEY": "value"})
REMOTE = Remote("https://example.com/mcp", {"Authorization": "Bearer x"})
EVERY_HOST = pytest.mark.parametrize("host", HOSTS.values(), ids=list(HOSTS))


def others(host: Host) -> str:
    servers = '{\n    "other": {"command": "x"}, // theirs\n  },'
    return f'// mine\n{{\n  "theme": "dark", // dark\n  "{host.key}": {servers}\n}}\n'


@EVERY_HOST
@pytest.mark.parametrize("entry", [LOCAL, REMOTE], ids=["local", "remote"])
def test_an_entry_is_written_as_the_application_reads_it(host: Host, entry: Entry, tmp_path: Path) -> None:
    path = tmp_path / "settings" / "mcp.json"
    done = install(host, "weather", entry, path)
    settings = json.loads(path.read_text())[host.key]["weather"]
    assert (done.changed, done.backup, done.replaced) == (True, None, None)
    assert settings == host.to_settings(entry)
    if host.title != "Claude Desktop" or entry is LOCAL:  # it starts commands only
        assert read_entry(settings) == entry
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@EVERY_HOST
def test_other_servers_settings_and_comments_stay(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(others(host))
    path.chmod(0o644)
    done = install(host, "weather", LOCAL, path)
    text = path.read_text()
    assert set(servers_in(path, host.key)) == {"other", "weather"}
    assert all(line in text for line in others(host).splitlines())
    assert done.backup is not None
    assert done.backup.read_text() == others(host)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mcp.json", "mcp.json.backup-1"]


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n", "{}", '{"mcpServers": {}}'])
def test_an_empty_file_gets_its_first_server(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    install(HOSTS["cursor"], "weather", LOCAL, path)
    assert set(servers_in(path, "mcpServers")) == {"weather"}


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {',
        '{"mcpServers": 1}',
        "[]",
        '{"a": 1} x',
        "\udcff{}".encode(errors="surrogateescape"),
    ],
)
def test_a_file_that_is_not_valid_stays_as_it_is(text: str | bytes, tmp_path: Path) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    path = tmp_path / "mcp.json"
    path.write_bytes(data)
    with pytest.raises(HostFileProblem) as problem:
        install(HOSTS["cursor"], "weather", LOCAL, path)
    assert str(path) in str(problem.value)
    assert problem.value.fix
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("mcp.json", data)]


def test_a_name_that_is_taken_is_replaced_on_request_only(tmp_path: Path) -> None:
    path, host = tmp_path / "mcp.json", HOSTS["cursor"]
    install(host, "weather", LOCAL, path)
    assert install(host, "weather", LOCAL, path).changed is False
    with pytest.raises(HostFileProblem, match="already has another server named weather"):
        install(host, "weather", REMOTE, path)
    done = install(host, "weather", REMOTE, path, replace=True)
    assert done.replaced == host.to_settings(LOCAL)
    assert read_entry(servers_in(path, "mcpServers")["weather"]) == REMOTE


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "mcp.json"
    real.write_text("{}")
    link.symlink_to(real)
    install(HOSTS["cursor"], "weather", LOCAL, link)
    assert link.is_symlink()
    assert set(servers_in(real, "mcpServers")) == {"weather"}


def test_a_file_of_any_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(HostFileProblem, match="has more than"):
        install(HOSTS["cursor"], "weather", LOCAL, path)


def test_a_directory_in_its_place_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(HostFileProblem, match="cannot read"):
        install(HOSTS["cursor"], "weather", LOCAL, tmp_path)


def test_what_is_written_has_no_comments_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    install(HOSTS["vscode"], "a", LOCAL, path)
    assert json.loads(path.read_text()) == jsonc.read(path.read_text())
