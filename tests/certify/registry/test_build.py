"""Registry entries from observations: the pure parts, and a live server that accepts batches."""

from typing import Any

from assay.certify.registry.build import (
    ObservedServer,
    PublishedDocuments,
    PublisherClaims,
    build_entry,
    manifests,
    observe,
    transport_differences,
    unversioned,
)
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import profile_block
from assay.lab.harness.subject.subject import served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS

CLAIMS = PublisherClaims("com.example/x", "0.1.0", "Some server")
OLD, NEW = REVISIONS[0], REVISIONS[-1]


def observed(transport: Transport = Transport.STDIO, **facts: Any) -> ObservedServer:
    return ObservedServer(transport, {OLD: Facts(OLD.date), NEW: Facts(NEW.date, **facts)})


def block(
    *every: ObservedServer,
    claims: PublisherClaims = CLAIMS,
    published: PublishedDocuments | None = None,
    token: str | None = None,
) -> Any:
    return profile_block(build_entry(claims, every, published or PublishedDocuments(), token))


def test_lists_are_those_of_the_newest_revision() -> None:
    profile = block(observed(tools=[{"name": "echo"}]))
    assert (profile["capabilities"]["tools"]["n"], profile["protocolVersions"]) == (1, [OLD.date, NEW.date])


def test_differences_between_transports_are_reported() -> None:
    stdio, http = observed(tools=[{"name": "a"}]), observed(Transport.HTTP, tools=[{"name": "b"}])
    assert [issue.path for issue in transport_differences([stdio, http])] == ["tools"]
    assert transport_differences([stdio, observed(Transport.HTTP, tools=[{"name": "a"}])]) == []


def test_a_token_counts_only_if_the_server_requires_one() -> None:
    assert block(observed(Transport.HTTP, protected=True), token="opaque")["auth"]["modes"] == ["bearer"]
    assert "auth" not in block(observed(Transport.HTTP), token="opaque")


def test_scopes_are_collected_from_all_sources() -> None:
    published = PublishedDocuments(
        {"tools": [{"name": "a", "scopes": ["write"]}, {"name": "b"}]}, [], ["read"]
    )
    claims = PublisherClaims("com.example/x", "0.1.0", "Some server", scopes=["extra"])
    assert block(observed(), claims=claims, published=published)["auth"]["scopes"] == [
        "extra",
        "read",
        "write",
    ]


def test_remotes_and_packages_come_from_the_publisher() -> None:
    claims = PublisherClaims(
        "com.example/x", "0.1.0", "Some server", remotes=["https://example.com/mcp"], title="X"
    )
    entry = build_entry(claims, [observed()], PublishedDocuments(), None)
    assert entry["remotes"] == [{"type": "streamable-http", "url": "https://example.com/mcp"}]
    assert (entry["title"], "packages" in entry) == ("X", False)


def test_missing_manifests_are_generated_from_the_lists() -> None:
    entries = manifests(
        observed(tools=[{"name": "a"}], prompts=[{"name": "p"}]),
        PublishedDocuments({"tools": [{"name": "x"}]}),
    )
    assert [entries[kind] for kind in ("tools", "resources", "prompts")] == [
        [{"name": "x"}],
        [],
        [{"name": "p"}],
    ]


async def test_batch_support_is_observed() -> None:
    subject = served("reference", Transport.HTTP)
    await subject.start()
    try:
        server = await observe(subject, Conditions())
    finally:
        await subject.stop()
    assert (server.batch, server.streams, [*server.known]) == (True, True, [*REVISIONS])


def test_a_prompt_without_a_version_is_reported_by_name() -> None:
    good = {"name": "good", "_meta": {"dev.assay/version": {"semver": "1.0.0", "digest": "sha256:00"}}}
    issues = unversioned([observed(prompts=[{"name": "bad"}, good])])
    assert [issue.path for issue in issues] == ["prompts.bad"]
