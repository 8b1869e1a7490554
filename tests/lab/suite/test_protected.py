"""A protected server that does all it must: nothing is found, nothing is kept of any token."""

from pathlib import Path

import pytest

from assay.lab.harness.transport import GUARDED, Transport
from assay.lab.harness.verdict import Outcome
from tests.lab.suite.protected import judge_protected
from tests.meta.tree import expect_none

pytestmark = pytest.mark.waits

KINDS = 16
"""Of tokens that the lab has for its own lock."""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("transport", sorted(GUARDED))
async def test_healthy_protected_server_has_no_finding_and_no_token_is_kept(
    transport: Transport, tmp_path: Path
) -> None:
    run, tokens = await judge_protected(transport, tmp_path)
    expect_none(
        f"{cell.scenario} at {cell.revision}: {cell.outcome}: {cell.reason}"
        for cell in run.cells
        if cell.outcome is not Outcome.PASSED
    )
    assert all(facts.protected for facts in run.subjects[0].facts)
    kept = [(path, path.read_text("utf-8")) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) > len(run.cells)
    if transport is Transport.HTTP:
        assert len(tokens) == KINDS
    secrets = {part for token in tokens for part in _secret_parts(token)}
    expect_none(f"{path.name} holds a token" for path, text in kept for one in secrets if one in text)


def _secret_parts(token: str) -> list[str]:
    """The whole, and what proves it: a token without its signature says nothing that is secret."""
    signature = token.rpartition(".")[2]
    return [token, signature] if signature else [token]
