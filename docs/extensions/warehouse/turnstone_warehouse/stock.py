"""The tool: what is in stock."""

from agents.errors import ToolFailed
from agents.tools.spec import tool

STOCK = {"nails": 1200, "screws": 0}


@tool(timeout=5, doing="Looking into the stock")
def stock(article: str) -> str:
    """Tell how many of an article are in stock."""
    if article not in STOCK:
        raise ToolFailed(f"There is no article {article!r}; there are {', '.join(STOCK)}.")
    return str(STOCK[article])
