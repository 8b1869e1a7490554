"""What keeps the whole test suite quick; no test needs any of it."""

import gc

from hypothesis import settings

# A busy machine is no fault of the code: no test depends on time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Ten thousand tests stay to the end: to look through them for garbage over and over takes a minute."""
    gc.collect()
    gc.freeze()
