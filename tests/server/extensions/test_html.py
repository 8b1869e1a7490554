"""One HTML file with its scripts and styles in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay import RegistrationError, inline_html
from assay.server.extensions import html


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, newline="")
    return folder / "page.html"


def test_scripts_and_styles_are_put_in_their_places(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        page_html='<!doctype html>\r\n<LINK rel=stylesheet href="./a.css" media=print>\n'
        '<script type="module" src=b.js?v=1 integrity=x>old</script >é<p>',
        a_css="p { color: red }",
        b_js="import.meta",
    )
    assert inline_html(page) == (
        '<!doctype html>\r\n<style media="print">\np { color: red }\n</style>\n'
        '<script type="module">\nimport.meta\n</script>é<p>'
    )


def test_everything_else_stays(tmp_path: Path) -> None:
    text = (
        '<!-- <script src="none.js"></script> --><script src="https://cdn.example/x.js"></script>'
        '<link rel="icon" href="icon.png"><script>"<script src=none.js>"</script>'
        '<script src="//cdn.example/x.js"></script><a href="none.html">'
    )
    assert inline_html(write(tmp_path, page_html=text)) == text


def test_no_file_ends_its_element(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        page_html='<script src="b.js"></script><link rel="stylesheet" href="a.css">',
        a_css="p::after { content: '</STYLE><script>' }",
        b_js="x = '</Script><img onerror=y>'; z = '<!--'",
    )
    text = inline_html(page)
    assert text.lower().count("</script") == 1
    assert text.lower().count("</style") == 1
    assert r"x = '\x3c/Script>" in text and "<!--" not in text


@pytest.mark.parametrize(
    "source", ["../secret.js", "/etc/hostname", "link.js", "sub/../../secret.js", "none.js", ".", "a\0.js"]
)
def test_files_outside_the_folder_and_missing_ones_are_refused(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (tmp_path / "secret.js").write_text("secret")
    os.symlink(tmp_path / "secret.js", folder / "link.js")
    page = write(folder, page_html=f'<script src="{source}"></script>')
    with pytest.raises(RegistrationError, match=r"outside the folder|cannot be read|is not a file"):
        inline_html(page)


def test_pages_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(RegistrationError, match="No such file"):
        inline_html(tmp_path / "none.html")
    (tmp_path / "page.html").write_bytes(b"\xff")
    with pytest.raises(RegistrationError, match="not UTF-8"):
        inline_html(tmp_path / "page.html")


def test_the_size_of_all_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_BYTES", 100)
    page = write(tmp_path, page_html='<script src="b.js"></script>' * 3, b_js="x" * 40)
    with pytest.raises(RegistrationError, match="more than 100 bytes"):
        inline_html(page)
