"""The official client of the Model Context Protocol: mcp_client.py MODE COMMAND...

MODE is auto or legacy. Calls the tools that standard input lists, as [[NAME, ARGUMENTS], ...], and prints the
protocol's version, the tools and the results as JSON. The client validates each structured result against the
tool's schema."""

import asyncio
import json
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client


async def main() -> None:
    mode, command, *arguments = sys.argv[1:]
    calls = json.load(sys.stdin)
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(stdio_client(server), mode=mode) as client:
        tools = (await client.list_tools()).tools
        results = []
        for name, values in calls:
            result = await client.call_tool(name, values)
            results.append(
                {
                    "is_error": result.is_error,
                    "text": "".join(part.text for part in result.content),
                    "object": result.structured_content,
                }
            )
        answer = {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools],
            "results": results,
        }
    print(json.dumps(answer))


asyncio.run(main())
