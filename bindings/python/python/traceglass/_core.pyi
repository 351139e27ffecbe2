from os import PathLike
from typing import Any

def run(arguments: list[str]) -> tuple[int, str, str]: ...
def describe(path: str | PathLike[str]) -> tuple[list[str], list[int]]: ...
def stream(
    path: str | PathLike[str],
    table: str,
    *,
    columns: list[str] | None,
    start: int | None,
    end: int | None,
    kinds: list[str] | None,
    pieces: tuple[int, int] | None,
    threads: int,
    rows: int,
    schema_only: bool,
) -> Any: ...
