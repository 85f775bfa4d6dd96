"""An MCP client that starts `recollect mcp`, as Claude Desktop or an editor does.

python examples/mcp_client.py
"""

import asyncio
import json
import os
from typing import Any

from mcp import Client, StdioServerParameters

# What the configuration of a client says: a command and its environment.
SERVER = StdioServerParameters(
    command="recollect",
    args=["mcp"],
    env={**os.environ, "RECOLLECT_DATA_DIR": ".", "RECOLLECT_SCOPE__USER": "ann"},
)


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, as a model would."""
    result = await client.call_tool(tool, arguments)
    return json.loads(result.content[0].text)


async def main() -> None:
    async with Client(SERVER) as client:
        saving = {"content": "The user wants metric units", "type": "user"}
        await call(client, "memory_save", **saving)
    async with Client(SERVER) as client:
        found = await call(client, "memory_recall", query="In which units?")
        print("remembered:", "metric units" in found[0]["content"])


if __name__ == "__main__":
    asyncio.run(main())
