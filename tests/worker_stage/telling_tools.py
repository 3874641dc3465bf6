"""An MCP server whose tools say much and show pictures: `python telling_tools.py`."""

from base64 import b64decode

from mcp.server.mcpserver import Image, MCPServer

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mNQSDhAEmIY1TCqYfhqAAB/t0AQzUKe"
    "VwAAAABJRU5ErkJggg=="
)

server = MCPServer("telling")


@server.tool()
def tell(word: str, times: int) -> str:
    """Say a word many times."""
    return " ".join(f"{word}{number}" for number in range(times))


@server.tool()
def show() -> list[str | Image]:
    """Show a picture, and say what it is."""
    return ["A square.", Image(data=b64decode(PNG), format="png")]


if __name__ == "__main__":
    server.run("stdio")
