"""Docstrings in three styles: summary and parameter descriptions, never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.handlers.docstring import Documentation, parse

GOOGLE = """Add two numbers.

    The sum is exact,
      as far as floats go.

    Args:
        a: The first number.
        b (int, optional): The second number,
            which may be left out.

            It is zero then.
        *rest (tuple(int)): More numbers: any count.
        undescribed:

    Returns:
        total: Their sum.

    Trailing prose.
    """

NUMPY = """Add two numbers.

    Parameters
    ----------
    a : int
        The first number.
    b, c : int, optional
        More numbers,
        together.
    **options
        Anything else.

    Returns
    -------
    total : int
        Their sum.
    """

SPHINX = """Add two numbers.

    :param a: The first number.
    :type a: int
    :param int b: The second number,
        which may be left out.
    :param list[int] *rest: More numbers.
    :keyword exact: Whether to round.
    :param: nothing named
    :returns: Their sum.
    :raises ValueError: never
    """

EXPECTED = [
    (
        GOOGLE,
        Documentation(
            "Add two numbers.\n\nThe sum is exact,\n  as far as floats go.",
            {
                "a": "The first number.",
                "b": "The second number, which may be left out. It is zero then.",
                "rest": "More numbers: any count.",
            },
        ),
    ),
    (
        NUMPY,
        Documentation(
            "Add two numbers.",
            {
                "a": "The first number.",
                "b": "More numbers, together.",
                "c": "More numbers, together.",
                "options": "Anything else.",
            },
        ),
    ),
    (
        SPHINX,
        Documentation(
            "Add two numbers.",
            {
                "a": "The first number.",
                "b": "The second number, which may be left out.",
                "rest": "More numbers.",
                "exact": "Whether to round.",
            },
        ),
    ),
]


@pytest.mark.parametrize(("docstring", "documentation"), EXPECTED, ids=["google", "numpy", "sphinx"])
def test_style_is_read(docstring: str, documentation: Documentation) -> None:
    assert parse(docstring) == documentation


@pytest.mark.parametrize("docstring", [None, "", "   \n  \n"])
def test_no_text_is_no_documentation(docstring: str | None) -> None:
    assert parse(docstring) == Documentation("", {})


@pytest.mark.parametrize(
    "section",
    [
        "Returns:\n    x: y",
        "Raises:\n    E: y",
        "Yields:\n    y",
        "Examples:\n    >>> 1",
        "Note:\n    y",
        "Returns\n-------\nx : int\n    y",
        "See Also\n========\nx",
        ":return: y",
        ":raises E: y",
    ],
)
def test_other_section_is_neither_summary_nor_parameter(section: str) -> None:
    assert parse(f"Do it.\n\n{section}\n") == Documentation("Do it.", {})


def test_parameters_after_another_section_are_read() -> None:
    documentation = parse("Do it.\n\nReturns:\n    x: no\n\nArgs:\n    y: yes\n")
    assert documentation == Documentation("Do it.", {"y": "yes"})


def test_section_without_summary_is_read() -> None:
    assert parse("Args:\n    x: yes") == Documentation("", {"x": "yes"})


@pytest.mark.parametrize(
    "prose",
    [
        "Note: this stays.",
        "Takes args: many.",
        ":class:`Thing` stays.",
        "A list\n------\nstays.",
        "  Args:\nindented titles stay",
    ],
)
def test_prose_that_looks_like_a_section_stays_in_the_summary(prose: str) -> None:
    assert parse(f"First.\n\n{prose}").summary == f"First.\n\n{prose}"


def test_google_line_that_opens_no_parameter_continues_the_one_before() -> None:
    assert parse("Args:\n    x: see\n    https://example.com/a").parameters == {
        "x": "see https://example.com/a"
    }


def test_entry_lines_before_any_parameter_are_dropped() -> None:
    assert parse("Args:\n    no colon here\n    x: yes").parameters == {"x": "yes"}


def test_unindented_text_ends_a_sphinx_description() -> None:
    assert parse(":param x: yes\nprose").parameters == {"x": "yes"}


LINES = st.sampled_from(
    [
        "Args:",
        "Parameters",
        "----------",
        "Returns:",
        ":param x: y",
        ":param",
        ":param :",
        "x: y",
        "x : int",
        "*",
        ":",
    ]
)


@given(
    st.text()
    | st.lists(st.tuples(st.sampled_from(["", "  ", "\t"]), LINES | st.text()).map("".join)).map("\n".join)
)
def test_no_text_makes_it_raise(docstring: str) -> None:
    documentation = parse(docstring)
    assert documentation.summary == documentation.summary.strip()
    assert all(name and text == text.strip() != "" for name, text in documentation.parameters.items())
