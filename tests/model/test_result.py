"""Results and messages are validated."""

import pytest

from assay import Message, Text


def test_message_is_by_the_user_or_the_assistant() -> None:
    """No revision has a system role: `Role` in the schema is `user` or `assistant`."""
    with pytest.raises(ValueError, match="'system'"):
        Message("system", Text("x"))  # type: ignore[arg-type]
