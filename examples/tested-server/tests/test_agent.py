"""What a program asked of the server."""

import pytest

from assay import Client
from assay.testing import Answers, Recorder
from tested_server import borrow_all


@pytest.mark.parametrize("assay_client_options", [{"revision": "2025-06-18"}, {"revision": "2026-07-28"}])
async def test_every_book_is_borrowed_once(
    assay_client: Client, assay_recorder: Recorder, assay_answers: Answers
) -> None:
    assay_answers.elicit({"name": "Ada"}, repeat=True)
    assert await borrow_all(assay_client, "emm") == 1
    assay_recorder.assert_called_once("find", text="emm")
    assay_recorder.assert_called_once("lend", title="Emma")
    assay_recorder.assert_not_called("overdue")
    assay_recorder.assert_asked("elicitation", "Who borrows Emma?")
    await assay_recorder.until(lambda recorder: recorder.logs)
    assay_recorder.assert_logged("Ada has Emma", level="info")
