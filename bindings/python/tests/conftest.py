import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture(scope="session")
def samples():
    return ROOT / "examples/data"


@pytest.fixture(scope="session")
def vectors():
    found = os.environ.get("TRACEGLASS_VECTORS")
    if not found:
        pytest.skip("TRACEGLASS_VECTORS is not set")
    return pathlib.Path(found)
