"""The answers of a minimal server."""

from typing import Any

import pytest

from assay.lab.harness.sabotage.script import minimal_answer
from assay.lab.harness.trace.shape import result_problem
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision
from tests.lab.traces import request


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_results_match_their_schemas(revision: Revision) -> None:
    for method in {"ping", "initialize", "server/discover"} & revision.requests:
        answer = minimal_answer(request(1, method), revision)
        assert answer is not None
        assert result_problem(method, answer["result"], revision) is None


@pytest.mark.parametrize("message", [None, [], {"jsonrpc": "2.0", "method": "notifications/x"}, {"id": 1}])
def test_only_requests_are_answered(message: Any) -> None:
    assert minimal_answer(message, REVISIONS[-1]) is None
