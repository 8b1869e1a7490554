"""The page about bad input is made from the table, and never edited."""

from scripts.bad_input_page import PAGE, page


def test_page_is_up_to_date() -> None:
    """Our choice; when it fails: `python -m scripts.bad_input_page`."""
    assert page() == PAGE.read_text("utf-8")
