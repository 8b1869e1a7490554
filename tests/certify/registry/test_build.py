"""Entries made of what was seen: pure parts, and a live server that takes batches."""

from typing import Any

from assay.certify.registry.build import (
    Claims,
    Published,
    Seen,
    differences,
    entry,
    manifests,
    meet,
    unversioned,
)
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import profile_block
from assay.lab.harness.subject.subject import served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS

CLAIMS = Claims("com.example/x", "0.1.0", "Some server")
OLD, NEW = REVISIONS[0], REVISIONS[-1]


def seen(transport: Transport = Transport.STDIO, **facts: Any) -> Seen:
    return Seen(transport, {OLD: Facts(OLD.date), NEW: Facts(NEW.date, **facts)})


def block(
    *every: Seen, claims: Claims = CLAIMS, published: Published | None = None, token: str | None = None
) -> Any:
    return profile_block(entry(claims, every, published or Published(), token))


def test_lists_are_those_of_the_newest_revision() -> None:
    found = block(seen(tools=[{"name": "echo"}]))
    assert (found["capabilities"]["tools"]["n"], found["protocolVersions"]) == (1, [OLD.date, NEW.date])


def test_transports_that_do_not_offer_the_same_are_told() -> None:
    one, other = seen(tools=[{"name": "a"}]), seen(Transport.HTTP, tools=[{"name": "b"}])
    assert [issue.path for issue in differences([one, other])] == ["tools"]
    assert differences([one, seen(Transport.HTTP, tools=[{"name": "a"}])]) == []


def test_a_token_counts_only_if_it_took_one() -> None:
    assert block(seen(Transport.HTTP, protected=True), token="opaque")["auth"]["modes"] == ["bearer"]
    assert "auth" not in block(seen(Transport.HTTP), token="opaque")


def test_scopes_come_from_wherever_they_are_told() -> None:
    told = Published({"tools": [{"name": "a", "scopes": ["write"]}, {"name": "b"}]}, [], ["read"])
    claims = Claims("com.example/x", "0.1.0", "Some server", scopes=["extra"])
    assert block(seen(), claims=claims, published=told)["auth"]["scopes"] == ["extra", "read", "write"]


def test_remotes_and_packages_are_what_the_publisher_says() -> None:
    claims = Claims("com.example/x", "0.1.0", "Some server", remotes=["https://example.com/mcp"], title="X")
    made = entry(claims, [seen()], Published(), None)
    assert made["remotes"] == [{"type": "streamable-http", "url": "https://example.com/mcp"}]
    assert (made["title"], "packages" in made) == ("X", False)


def test_manifests_are_made_of_lists_where_none_are_published() -> None:
    told = manifests(
        seen(tools=[{"name": "a"}], prompts=[{"name": "p"}]), Published({"tools": [{"name": "x"}]})
    )
    assert [told[kind] for kind in ("tools", "resources", "prompts")] == [
        [{"name": "x"}],
        [],
        [{"name": "p"}],
    ]


async def test_batches_that_a_server_takes_are_seen() -> None:
    subject = served("reference", Transport.HTTP)
    await subject.start()
    try:
        found = await meet(subject, Conditions())
    finally:
        await subject.stop()
    assert (found.batch, found.streams, [*found.known]) == (True, True, [*REVISIONS])


def test_a_prompt_without_a_version_is_told_by_name() -> None:
    good = {"name": "good", "_meta": {"dev.assay/version": {"semver": "1.0.0", "digest": "sha256:00"}}}
    found = unversioned([seen(prompts=[{"name": "bad"}, good])])
    assert [issue.path for issue in found] == ["prompts.bad"]
