"""The server conforms to the specification: one test for each scenario of the lab."""

import pytest


@pytest.mark.assay_conformance("tested_server:server", revision=["2025-11-25", "2026-07-28"])
def test_conformance() -> None: ...
