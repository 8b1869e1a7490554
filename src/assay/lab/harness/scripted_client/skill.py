"""Skills: the client lists them, loads the one that a step names, and verifies each file."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from .failure import StepFailed
from .page import list_all

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]
FENCE: Final = "---"


async def list_skills(client: ScriptedClient) -> None:
    skills = await list_all(client, "skills/list", "skills")
    client.skills = {str(skill.get("uri")): skill for skill in skills if isinstance(skill, dict)}
    if client.behaviour.prefetches_skills:
        for uri in client.skills:
            await _read(client, uri)


async def load_skill(client: ScriptedClient, uri: str) -> None:
    """Read the manifest, then the other files; stop at the first that differs from the list."""
    entry = client.skills.get(uri)
    if entry is None:
        raise StepFailed(f"skill {uri} is not in the list")
    listed = entry.get("resources")
    resources = listed if isinstance(listed, list) else []
    files = {file.get("uri"): file for file in resources if isinstance(file, dict)}
    text = await _read(client, uri)
    _verify(client, text, files.get(uri, {}))
    if client.behaviour.verifies_frontmatter and frontmatter(text) != entry.get("frontmatter"):
        raise StepFailed(f"the frontmatter of {uri} differs from the listed one")
    for path, file in files.items():
        if path != uri:
            _verify(client, await _read(client, str(path)), file)


async def _read(client: ScriptedClient, uri: str) -> str:
    result = await client.request("resources/read", {"uri": uri})
    contents = result.get("contents")
    first = contents[0] if isinstance(contents, list) and contents else None
    if not isinstance(first, dict) or not isinstance(first.get("text"), str):
        raise StepFailed(f"{uri} has no text content")
    text: str = first["text"]
    return text


def _verify(client: ScriptedClient, text: str, listed: Json) -> None:
    data = text.encode("utf-8", "surrogatepass")
    if client.behaviour.verifies_size and listed.get("size") != len(data):
        raise StepFailed(f"{listed.get('uri')} has {len(data)} bytes; {listed.get('size')} are listed")
    digest = f"sha256:{sha256(data).hexdigest()}"
    if client.behaviour.verifies_digest and listed.get("digest") != digest:
        raise StepFailed(f"the digest of {listed.get('uri')} differs from the listed one")


def frontmatter(text: str) -> dict[str, str]:
    """The plain `key: value` pairs. The scenarios list no skill with other YAML."""
    first, *rest = text.splitlines() or [""]
    if first.strip() != FENCE or FENCE not in rest:
        return {}
    pairs = (line.partition(":") for line in rest[: rest.index(FENCE)] if line.strip())
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}
