"""Tools of Python functions as a server of the MCP SDK, which makes their schemas from parameters and annotations."""

import inspect
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from benchmarks.kind import Answer, Json


def add_tool(server: MCPServer, name: str, description: str, signature: inspect.Signature, answer: Answer,
             structured: bool) -> None:
    def tool(**arguments: Any) -> Any:
        return answer(name, arguments)

    tool.__signature__ = signature
    tool.__name__ = name
    server.add_tool(tool, name=name, description=description, structured_output=None if structured else False)


def parameters(model: Any) -> list[inspect.Parameter]:
    """The fields of a pydantic model as parameters with the same types, defaults and descriptions."""
    return [inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
        annotation=Annotated[field.annotation, Field(description=field.description)],
        default=inspect.Parameter.empty if field.is_required() else field.default)
        for name, field in model.model_fields.items()]


def tools(server: MCPServer) -> dict[str, Any]:
    return {tool.name: tool for tool in server._tool_manager.list_tools()}


def definitions(server: MCPServer) -> list[dict[str, Json]]:
    found = []
    for tool in tools(server).values():
        found.append({"name": tool.name, "description": tool.description, "inputSchema": tool.parameters})
        if tool.output_schema:
            found[-1]["outputSchema"] = tool.output_schema
    return found
