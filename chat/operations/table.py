"""Rows as a table for a terminal."""

from collections.abc import Iterator, Mapping, Sequence


def table(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield the lines of a table, its heading first; None is an empty cell."""
    texts = [tuple(columns), *(tuple(_cell(one[name]) for name in columns) for one in rows)]
    widths = [max(len(line[place]) for line in texts) for place in range(len(columns))]
    for line in texts:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def _cell(value: object) -> str:
    return "" if value is None else str(value)
