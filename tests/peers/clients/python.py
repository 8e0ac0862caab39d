"""python.py ERA TARGET: a client of the official Python SDK that carries out a plan.

ERA is `sessions` or `stateless`. Target, plan and output are those of typescript.mjs.
"""

import json
import os
import sys

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

LIMIT = 120.0


def filled(schema):
    """The choices of a user who agrees to as little as possible: the first of several."""

    def value(field):
        choices = field.get("enum") or [choice["const"] for choice in field.get("oneOf", [])]
        if choices:
            return choices[0]
        return {"boolean": True, "string": "yes"}.get(field.get("type"), 1)

    return {name: value(field) for name, field in (schema or {}).get("properties", {}).items()}


class Person:
    """Answers elicitations as planned."""

    def __init__(self):
        self.count, self.answer = 0, "decline"

    async def __call__(self, _context, params):
        self.count += 1
        if self.answer != "accept":
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=filled(params.requested_schema))


async def perform(client, person, call):
    person.count, person.answer = 0, call.get("answer", "decline")
    steps = []
    outcome = {"text": "", "kinds": [], "isError": None, "structured": None, "outcome": None, "error": None}
    with anyio.CancelScope() as scope:

        async def progress(done, total, message):
            steps.append({"progress": done, "total": total, "message": message})
            if "cancel" in call and call["cancel"] in (message or ""):
                scope.cancel()

        try:
            result = await client.call_tool(
                call["tool"], call.get("arguments", {}), read_timeout_seconds=LIMIT, progress_callback=progress
            )
            content = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content]
            outcome["isError"] = bool(result.is_error)
            outcome["structured"] = result.structured_content
            outcome["outcome"] = (result.meta or {}).get("io.toolsmith/outcome")
            outcome["kinds"] = [" ".join(filter(None, [part["type"], part.get("mimeType")])) for part in content]
            outcome["text"] = "\n".join(part["text"] for part in content if part["type"] == "text")
        except Exception as error:  # The caller checks any error.
            outcome["error"] = str(error)
    if scope.cancelled_caught:
        outcome["error"] = "cancelled"
    return {**outcome, "progress": steps, "asked": person.count}


async def main():
    era, target = sys.argv[1:3]
    plan = json.load(sys.stdin)
    if target.startswith("["):
        command, *arguments = json.loads(target)
        target = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    person = Person()
    mode = "legacy" if era == "sessions" else "2026-07-28"
    async with Client(target, elicitation_callback=person, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        calls = [await perform(client, person, call) for call in plan]
        print(json.dumps({"protocol": client.protocol_version, "tools": tools, "calls": calls}))


anyio.run(main)
