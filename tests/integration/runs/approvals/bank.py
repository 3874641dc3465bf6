"""A tool whose effect can be counted, and what a model says that wants it."""

import json
import sys
from pathlib import Path

PAY = 'Thought: It is due.\nAction: bank__pay\nAction Input: {"to": "Eve", "amount": 7}'
SUM = 'Thought: I reckon.\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
DONE = "Thought: I know now.\nFinal Answer: Done."

# A tool whose effect can be counted, and that no worker may bring about twice.
BANK = """
import sys, time
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("bank")
ledger = Path(sys.argv[1])

@server.tool()
def pay(to: str, amount: int) -> str:
    "Pay an amount to somebody."
    with ledger.open("a") as lines:
        lines.write(f"{to} {amount}\\n")
    while (ledger.parent / "slow").exists():
        time.sleep(0.02)
    return f"paid {amount} to {to}"

server.run("stdio")
"""


class Bank:
    """A bank behind an MCP server that the administrator calls sensitive."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "ledger"
        self.slow = folder / "slow"
        program = folder / "bank.py"
        program.write_text(BANK)
        server = {"command": sys.executable, "args": [str(program), str(self.ledger)]}
        self.file = folder / "mcp.json"
        self.file.write_text(json.dumps({"mcpServers": {"bank": server | {"safety": "sensitive"}}}))

    @property
    def paid(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []
