"""python_old.py TARGET: a client of an early version of the official Python SDK that carries out a plan.

Target, plan and output are those of typescript.mjs, but it does not support elicitation and cancellation.
"""

import json
import os
import sys
from datetime import timedelta

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client

LIMIT = timedelta(seconds=120)


async def perform(session, call):
    steps = []
    outcome = {"text": "", "kinds": [], "isError": None, "structured": None, "outcome": None, "error": None}

    async def progress(done, total, message):
        steps.append({"progress": done, "total": total, "message": message})

    try:
        result = await session.call_tool(call["tool"], call.get("arguments", {}), LIMIT, progress_callback=progress)
        content = [part.model_dump(mode="json") for part in result.content]
        outcome["isError"] = bool(result.isError)
        outcome["structured"] = result.structuredContent
        outcome["outcome"] = (result.meta or {}).get("io.toolsmith/outcome")
        outcome["kinds"] = [" ".join(filter(None, [part["type"], part.get("mimeType")])) for part in content]
        outcome["text"] = "\n".join(part["text"] for part in content if part["type"] == "text")
    except Exception as error:  # The caller checks any error.
        outcome["error"] = str(error)
    return {**outcome, "progress": steps, "asked": 0}


async def main():
    (target,) = sys.argv[1:]
    plan = json.load(sys.stdin)
    if target.startswith("["):
        command, *arguments = json.loads(target)
        transport = stdio_client(StdioServerParameters(command=command, args=arguments, env=dict(os.environ)))
    else:
        transport = streamablehttp_client(target)
    async with transport as streams, ClientSession(*streams[:2]) as session:
        protocol = (await session.initialize()).protocolVersion
        tools = [tool.name for tool in (await session.list_tools()).tools]
        calls = [await perform(session, call) for call in plan]
        print(json.dumps({"protocol": protocol, "tools": tools, "calls": calls}))


anyio.run(main)
