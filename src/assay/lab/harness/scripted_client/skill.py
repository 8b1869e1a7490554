"""Skills, as the client uses them: listed first, loaded when told to, believed only where they fit."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from .failure import Failed
from .page import list_all

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]
FENCE: Final = "---"


async def list_skills(client: ScriptedClient) -> None:
    found = await list_all(client, "skills/list", "skills")
    client.skills = {str(one.get("uri")): one for one in found if isinstance(one, dict)}
    if client.behaviour.prefetches_skills:
        for uri in client.skills:
            await _read(client, uri)


async def load_skill(client: ScriptedClient, uri: str) -> None:
    """The manifest, and then its files: each only where all before it was as listed."""
    entry = client.skills.get(uri)
    if entry is None:
        raise Failed(f"no skill {uri} was listed")
    listed = entry.get("resources")
    files = {
        one.get("uri"): one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)
    }
    text = await _read(client, uri)
    _verify(client, text, files.get(uri, {}))
    if client.behaviour.verifies_frontmatter and frontmatter(text) != entry.get("frontmatter"):
        raise Failed(f"{uri} describes itself otherwise than its entry does")
    for other in [one for one in files if one != uri]:
        _verify(client, await _read(client, str(other)), files[other])


async def _read(client: ScriptedClient, uri: str) -> str:
    result = await client.request("resources/read", {"uri": uri})
    contents = result.get("contents")
    first = contents[0] if isinstance(contents, list) and contents else None
    if not isinstance(first, dict) or not isinstance(first.get("text"), str):
        raise Failed(f"{uri} holds no text")
    text: str = first["text"]
    return text


def _verify(client: ScriptedClient, text: str, listed: Json) -> None:
    data = text.encode("utf-8", "surrogatepass")
    if client.behaviour.verifies_size and listed.get("size") != len(data):
        raise Failed(f"{listed.get('uri')} has {len(data)} bytes, not {listed.get('size')}")
    digest = f"sha256:{sha256(data).hexdigest()}"
    if client.behaviour.verifies_digest and listed.get("digest") != digest:
        raise Failed(f"{listed.get('uri')} has another digest than it was listed with")


def frontmatter(text: str) -> dict[str, str]:
    """Its plain keys: a skill with anything else is not what was listed."""
    first, *rest = text.splitlines() or [""]
    if first.strip() != FENCE or FENCE not in rest:
        return {}
    pairs = (line.partition(":") for line in rest[: rest.index(FENCE)] if line.strip())
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}
