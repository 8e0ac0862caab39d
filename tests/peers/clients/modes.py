"""modes.py SDK: a client of the official Python SDK against odd servers, several at a time.

SDK is `v1` (sessions only) or `v2` (which looks for the newest protocol). Input and output are those of modes.mjs.
"""

import json
import logging
import sys
import warnings
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
import mcp
import mcp.client.streamable_http as http
from mcp.client.stdio import StdioServerParameters, stdio_client

AT_ONCE = 16
# More pages than any server here has.
PAGES = 20

current = ContextVar("current", default=None)


class NoticeHandler(logging.Handler):
    """Adds warnings to their mode's report."""

    def emit(self, record):
        report = current.get()
        if report is not None:
            report["notices"].append(record.getMessage())


@asynccontextmanager
async def connection(target):
    """A connected client."""
    server = target
    if isinstance(target, list):
        server = StdioServerParameters(command=target[0], args=target[1:])
    if sys.argv[1] == "v2":
        async with mcp.Client(server) as client:
            yield client
        return
    transport = stdio_client(server) if isinstance(target, list) else http.streamablehttp_client(target)
    async with transport as streams, mcp.ClientSession(*streams[:2]) as session:
        await session.initialize()
        yield session


def text(error):
    """The text of an error, including nested ones."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(text(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"


async def tools_of(client, seen):
    """Reads every page, as documented for clients."""
    tools, cursor = [], None
    for _ in range(PAGES):
        page = await (client.list_tools(cursor=cursor) if cursor is not None else client.list_tools())
        tools += [{"name": tool.name, "description": tool.description} for tool in page.tools]
        cursor = getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)
        if not cursor:
            return tools
    seen["hangs"] = "list"
    return tools


async def perform(server, seen):
    async def attempt(stage, action):
        seen["stage"] = stage
        try:
            return await action(), None
        except Exception as error:  # The caller checks any error.
            return None, text(error)

    async def call():
        result = await client.call_tool("echo", {"message": "hello"})
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    try:
        async with connection(server["target"]) as client:
            seen["connect"] = None
            seen["tools"], seen["list"] = await attempt("list", lambda: tools_of(client, seen))
            for _ in range(2):
                result, error = await attempt("call", call)
                seen["calls"].append({"result": result, "error": error})
            _, seen["again"] = await attempt("again", client.list_tools)
            if server.get("ping"):
                ping = getattr(client, "send_ping", None) or client.ping
                _, seen["ping"] = await attempt("ping", ping)
            seen["stage"] = "close"
        seen["close"] = None
    except Exception as error:
        seen["connect" if seen["stage"] == "connect" else "close"] = text(error)


async def watch(server, everything):
    seen = {"stage": "connect", "calls": [], "notices": []}
    current.set(seen)
    with anyio.move_on_after(server["watchdog"]) as scope:
        await perform(server, seen)
    if scope.cancelled_caught or ("connect" not in seen):
        seen["hangs"] = seen["stage"]
    everything[server["mode"]] = seen


async def main():
    servers, everything = json.load(sys.stdin), {}
    places = anyio.CapacityLimiter(AT_ONCE)

    async def placed(server):
        async with places:
            await watch(server, everything)

    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(placed, server)
    # The reader does not accept lone surrogates.
    sys.stdout.buffer.write(json.dumps(everything, ensure_ascii=False).encode(errors="replace"))


warnings.simplefilter("ignore")
logging.getLogger().handlers = [NoticeHandler(level=logging.WARNING)]
anyio.run(main)
