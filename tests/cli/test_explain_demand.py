"""`assay explain` knows every demand of every profile."""

from assay.certify.profile_list import known_digests, shipped
from assay.cli.explain import explain_demand


def test_every_demand_is_explained() -> None:
    for edition in known_digests():
        for demand in shipped(edition).demands:
            lines = [*explain_demand(demand.id.lower())]
            assert f"demand {demand.id} of {edition}: {demand.title}" in lines


def test_limits_are_named() -> None:
    assert "  p95_ms: at most 20" in [*explain_demand("BENCH-STDIO-02")]
    assert [*explain_demand("BENCH-STDIO")] == []
