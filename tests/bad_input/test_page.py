"""The page about bad input is generated from the table."""

from scripts.bad_input_page import PAGE, page


def test_page_is_up_to_date() -> None:
    """To update it, run `python -m scripts.bad_input_page`."""
    assert page() == PAGE.read_text("utf-8")
