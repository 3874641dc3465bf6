"""The toolset: orders that one run makes, kept from call to call and let go of at its end."""

from collections.abc import Sequence

from agents.tools.setup import ToolSetup
from agents.tools.spec import Safety, Tool, tool


def order_tools(setup: ToolSetup) -> Sequence[Tool]:
    """Return the tools for one run; TURNSTONE_EXTENSION_WAREHOUSE_MOST is the most to order."""
    most = int(setup.extensions.get("TURNSTONE_EXTENSION_WAREHOUSE_MOST") or 100)
    ordered: dict[str, int] = {}

    @tool(safety=Safety.SENSITIVE, idempotent=False, doing="Ordering")
    def orders_add(article: str, count: int) -> str:
        """Order so many of an article; a person is asked first."""
        if count > most:
            raise ValueError(f"No more than {most} are ordered at once.")
        ordered[article] = ordered.get(article, 0) + count
        return f"{ordered[article]} {article} are ordered."

    @tool(may_repeat=True, doing="Reading the orders")
    def orders_list() -> str:
        """Tell what this run has ordered so far."""
        return "\n".join(f"{count} {article}" for article, count in ordered.items()) or "Nothing."

    return (orders_add, orders_list)
