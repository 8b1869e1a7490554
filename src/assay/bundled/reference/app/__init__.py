"""The app of the reference server: a page that shows dice, and rolls them again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assay import Server, inline_html

DICE: Final = "ui://reference/dice"
FOLDER: Final = Path(__file__).parent


async def dice_page() -> str:
    """Shows the dice that were rolled, and rolls them again"""
    return inline_html(FOLDER / "dice.html")


def register(server: Server) -> None:
    server.ui(DICE, name="dice", title="Dice", border=True)(dice_page)
