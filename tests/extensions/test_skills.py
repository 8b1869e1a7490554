"""The skills extension as a value."""

from __future__ import annotations

import pytest

from assay.extensions.registry import EXTENSIONS
from assay.extensions.skills import EXTENSION
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_every_revision_has_skills(revision: Revision) -> None:
    assert EXTENSION in EXTENSIONS
    assert EXTENSION.is_in(revision)
