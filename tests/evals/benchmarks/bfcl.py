"""BFCL v4, multi-turn: one server per class of its API, 800 tasks with 221 different gold solutions.

Modes: `doc` has the schemas of BFCL's own documents of functions, as it converts them for models, with their `response`
as output schema, which the server does not check; `lax` is the same with `checkOutput: false`; `plain` is the same
without output schemas, so that results are texts; `sig` has the schemas that the MCP SDK makes of the methods' type
hints, and the SDK checks results."""

import ast
import copy
import functools
import importlib
import inspect
import itertools
import json
import sys
import types as modules
from importlib import resources
from typing import Any, get_type_hints

import mcp_types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

# They import tree_sitter, which the conversion of documents does not need.
for absent in ("java_parser", "js_parser"):
    stub = modules.ModuleType(f"bfcl_eval.model_handler.parser.{absent}")
    stub.parse_java_function_call = stub.parse_javascript_function_call = None
    sys.modules[stub.__name__] = stub
from bfcl_eval.constants.enums import ModelStyle
from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING, MULTI_TURN_FUNC_DOC_FILE_MAPPING, STATELESS_CLASSES)
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker
from bfcl_eval.model_handler import utils

from benchmarks import sdk
from benchmarks.kind import Answer, Benchmark, Call, Failed, Gold, Json
from comparison import Difference

SERVERS = ["GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI", "TicketAPI", "TradingBot", "TravelAPI",
           "VehicleControlAPI"]
CLASSES = {name: getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name) for name in SERVERS}
DATA = resources.files("bfcl_eval") / "data"


def read_lines(path: str) -> list[Json]:
    return [json.loads(line) for line in (DATA / path).read_text().splitlines() if line.strip()]


DOCUMENTS = {name: {document["name"]: document for document in
                    read_lines(f"multi_turn_func_doc/{MULTI_TURN_FUNC_DOC_FILE_MAPPING[name]}")} for name in SERVERS}
FILES = [f"BFCL_v4_multi_turn_{category}.json" for category in ("base", "miss_func", "miss_param", "long_context")]
TASKS = {entry["id"]: entry for file in FILES for entry in read_lines(file)}
ATTEMPTS = itertools.count()
SOLUTIONS = {entry["id"]: entry["ground_truth"] for file in FILES for entry in read_lines(f"possible_answer/{file}")}


def fill_descriptions(node: Json) -> None:
    """BFCL's cast appends to the description of a float, which some responses lack."""
    if isinstance(node, dict):
        if node.get("type") == "float":
            node.setdefault("description", "")
        for item in node.values():
            fill_descriptions(item)


def converted(server: str, with_output: bool) -> list[dict[str, Json]]:
    """The documents of a class as BFCL converts them for models (OpenAI's format)."""
    found = []
    documents = copy.deepcopy(list(DOCUMENTS[server].values()))
    for item in utils.convert_to_tool(documents, GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS):
        item = item["function"]
        found.append({"name": item["name"], "description": item["description"], "inputSchema": item["parameters"]})
        if with_output and (response := item.get("response")):
            fill_descriptions(response)
            members = utils._cast_to_openai_type(response.get("properties", {}), GORILLA_TO_OPENAPI)
            found[-1]["outputSchema"] = response | {"type": "object", "properties": members}
    return found


def call_result(answer: Answer, name: str, arguments: dict[str, Json], structured: bool) -> mcp_types.CallToolResult:
    """A dictionary becomes structured content, without a check; an error is the text that BFCL shows to models."""
    try:
        result = BENCHMARK.plain(answer(name, arguments))
    except Exception as error:
        content = [mcp_types.TextContent(type="text", text=f"Error during execution: {error}")]
        return mcp_types.CallToolResult(content=content, is_error=True)
    text = result if isinstance(result, str) else json.dumps(result)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=text)],
        structured_content=result if structured and isinstance(result, dict) else None)


def documented_server(server: str, structured: bool, answer: Answer) -> Server:
    listed = [mcp_types.Tool.model_validate(tool) for tool in converted(server, structured)]

    async def list_tools(context: Any, parameters: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, parameters: Any) -> mcp_types.CallToolResult:
        return call_result(answer, parameters.name, parameters.arguments or {}, structured)

    return Server(server, on_list_tools=list_tools, on_call_tool=call_tool)


def hinted_server(server: str, answer: Answer) -> MCPServer:
    made = MCPServer(server, log_level="ERROR")
    for method in DOCUMENTS[server]:
        function = getattr(CLASSES[server], method)
        hints = get_type_hints(function)
        parameters = [one.replace(annotation=hints.get(one.name, one.annotation))
                      for one in inspect.signature(function).parameters.values() if one.name != "self"]
        returned = hints.get("return", inspect.Signature.empty)
        signature = inspect.Signature(parameters, return_annotation=returned)
        sdk.add_tool(made, method, inspect.getdoc(function), signature, answer, True)
    return made


class Bfcl(Benchmark):
    name = "bfcl"
    modes = ["lax", "doc", "plain", "sig"]
    servers = SERVERS

    def options(self, mode: str) -> dict[str, Json]:
        return {"checkOutput": False} if mode == "lax" else {}

    def group(self, task: str) -> list[str]:
        return SERVERS

    def involved(self, task: str) -> list[str]:
        return TASKS[task]["involved_classes"]

    def part(self, task: str) -> str:
        return "multi-turn"

    def tasks(self, kind: str = "user") -> list[str]:
        return list(SOLUTIONS)

    def distinct(self) -> list[str]:
        programs: dict[str, str] = {}
        for task in self.tasks():
            calls = [(call.server, call.tool, call.arguments) for call in self.gold(task)]
            programs.setdefault(json.dumps(calls), task)
        return list(programs.values())

    @functools.cache
    def gold(self, task: str) -> list[Call]:
        return [self._call(task, text, turn) for turn, texts in enumerate(SOLUTIONS[task]) for text in texts]

    def _call(self, task: str, text: str, turn: int) -> Call:
        node = ast.parse(text, mode="eval").body
        tool = node.func.id
        server = next(name for name in self.involved(task) if tool in DOCUMENTS[name])
        names = [name for name in inspect.signature(getattr(CLASSES[server], tool)).parameters if name != "self"]
        arguments = dict(zip(names, map(ast.literal_eval, node.args)))
        arguments |= {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
        return Call(server, tool, arguments, turn)

    def prompt(self, task: str) -> str:
        return json.dumps(TASKS[task]["question"])

    def conversations(self) -> list[str]:
        """Without the categories that take tools or arguments away."""
        return [task for task in TASKS if task.startswith("multi_turn_base")]

    def messages(self, task: str) -> list[str]:
        return [message["content"] for turn in TASKS[task]["question"] for message in turn]

    def environment(self, task: str, server: str, injections: dict[str, str]) -> Any:
        instance = CLASSES[server]()
        if server not in STATELESS_CLASSES:
            scenario = copy.deepcopy(TASKS[task]["initial_config"].get(server, {}))
            instance._load_scenario(scenario, long_context="long_context" in task)
        return instance

    def invoke(self, environment: Any, server: str, tool: str, arguments: dict[str, Json]) -> Any:
        return getattr(environment, tool)(**arguments)

    def state_differences(self, expected: Any, got: Any) -> list[Difference]:
        same, found = multi_turn_checker._compare_instances(got, expected)
        return [] if same else [Difference("", "state", str(found)[:500], None)]

    def replay(self, task: str) -> Gold:
        gold = super().replay(task)
        for server in self.involved(task):
            if server not in gold.after:
                gold.after[server] = self.environment(task, server, {})
        return gold

    def check(self, task: str, before: Any, after: dict[str, Any], calls: list[Call],
              answer: str | None = None) -> bool:
        return multi_turn_checker.state_checker(after, self.replay(task).after)["valid"]

    def solved(self, task: str, before: Any, after: dict[str, Any], calls: list[Call], answer: str) -> bool:
        """BFCL makes the calls again, in instances that it keeps by the model's name, and compares after each turn."""
        turns: list[list[list[str]]] = [[] for _ in SOLUTIONS[task]]
        for call in calls:
            arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
            turns[call.turn].append([f"{call.tool}({arguments})"])
        attempt = f"attempt_{next(ATTEMPTS)}"
        return multi_turn_checker.multi_turn_checker(turns, SOLUTIONS[task], TASKS[task], "", attempt)["valid"]

    def plain(self, value: Any) -> Json:
        try:
            return json.loads(json.dumps(value))
        except TypeError:
            return str(value)

    def mcp_server(self, server: str, mode: str, answer: Answer) -> Any:
        return hinted_server(server, answer) if mode == "sig" else documented_server(server, mode != "plain", answer)

    @functools.cache
    def _idle(self, server: str) -> MCPServer:
        return hinted_server(server, lambda tool, arguments: None)

    @functools.cache
    def definitions(self, server: str, mode: str) -> list[dict[str, Json]]:
        return sdk.definitions(self._idle(server)) if mode == "sig" else converted(server, mode != "plain")

    def expected(self, call: Call, result: Any, mode: str) -> Json | Failed:
        if isinstance(result, Failed):
            return result
        if mode != "sig":
            return self.plain(result)
        try:
            made = sdk.tools(self._idle(call.server))[call.tool].fn_metadata.convert_result(result)
        except Exception as error:
            return Failed(f"{type(error).__name__}: {error}")
        return self.plain(result) if made.structured_content is None else made.structured_content


BENCHMARK = Bfcl()
