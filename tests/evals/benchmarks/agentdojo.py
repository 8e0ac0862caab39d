"""AgentDojo (v1.2.2): one server per suite, 97 user tasks and 35 injection tasks.

The schemas are those that the MCP SDK makes of AgentDojo's own parameter models and return annotations. Parameters that
AgentDojo fills from the environment are not among them, as for its models."""

import datetime
import functools
import inspect
from typing import Any, get_type_hints

import pydantic_core
from agentdojo.default_suites.v1.tools import cloud_drive_client, email_client
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string
from mcp.server.mcpserver import MCPServer

from benchmarks import sdk
from benchmarks.kind import Answer, Benchmark, Call, Failed, Gold, Json
from comparison import Difference, differences

SUITES = get_suites("v1.2.2")


class Clock(datetime.datetime):
    """Stands still, so that two runs have the same results: tools stamp with it what they create."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime.datetime:
        return datetime.datetime(2024, 5, 15, 9, 30, tzinfo=tz)


class Time:
    """The module `datetime` with a clock that stands still."""

    datetime, date, timedelta = Clock, datetime.date, datetime.timedelta


cloud_drive_client.datetime = Time
email_client.datetime = Time


class AgentDojo(Benchmark):
    name = "agentdojo"
    modes = ["sig", "plain"]
    servers = list(SUITES)

    def _task(self, task: str) -> tuple[Any, Any]:
        suite, name = task.split("/")
        return SUITES[suite], (SUITES[suite].user_tasks | SUITES[suite].injection_tasks)[name]

    def tasks(self, kind: str = "user") -> list[str]:
        return [f"{name}/{task}" for name, suite in SUITES.items()
                for task in (suite.user_tasks if kind == "user" else suite.injection_tasks)]

    @functools.cache
    def gold(self, task: str) -> list[Call]:
        suite, one = self._task(task)
        calls = one.ground_truth(self.environment(task, suite.name, {}))
        return [Call(suite.name, call.function, dict(call.args)) for call in calls]

    def prompt(self, task: str) -> str:
        _, one = self._task(task)
        return getattr(one, "PROMPT", None) or one.GOAL

    def needed(self, task: str) -> str:
        return self._task(task)[1].GROUND_TRUTH_OUTPUT

    def environment(self, task: str, server: str, injections: dict[str, str]) -> Any:
        suite, one = self._task(task)
        environment = suite.load_and_inject_default_environment(injections)
        return one.init_environment(environment) if hasattr(one, "init_environment") else environment

    def invoke(self, environment: Any, server: str, tool: str, arguments: dict[str, Json]) -> Any:
        return FunctionsRuntime(SUITES[server].tools).run_function(environment, tool, arguments, raise_on_error=True)[0]

    def state_differences(self, expected: Any, got: Any) -> list[Difference]:
        return differences(expected.model_dump(mode="json"), got.model_dump(mode="json"))

    def replay(self, task: str) -> Gold:
        gold = super().replay(task)
        suite = task.split("/")[0]
        gold.before = self.environment(task, suite, {})
        gold.after.setdefault(suite, gold.before)
        return gold

    def check(self, task: str, before: Any, after: dict[str, Any], calls: list[Call],
              answer: str | None = None) -> bool:
        suite, one = self._task(task)
        trace = [FunctionCall(function=call.tool, args=call.arguments) for call in calls]
        output = [text_content_block_from_string(one.GROUND_TRUTH_OUTPUT if answer is None else answer)]
        return bool(suite._check_task_result(one, output, before, after[suite.name], trace))

    def plain(self, value: Any) -> Json:
        return pydantic_core.to_jsonable_python(value)

    def received(self, call: Call) -> Json:
        """Validated by AgentDojo's own model, so with defaults."""
        function = next(one for one in SUITES[call.server].tools if one.name == call.tool)
        return self.plain(function.parameters.model_validate(call.arguments).model_dump())

    def mcp_server(self, server: str, mode: str, answer: Answer) -> MCPServer:
        made = MCPServer(server, log_level="ERROR")
        for one in SUITES[server].tools:
            returned = get_type_hints(one.run).get("return", inspect.Signature.empty)
            signature = inspect.Signature(sdk.parameters(one.parameters), return_annotation=returned)
            sdk.add_tool(made, one.name, one.description, signature, answer, mode == "sig")
        return made

    @functools.cache
    def idle(self, server: str, mode: str) -> MCPServer:
        return self.mcp_server(server, mode, lambda tool, arguments: None)

    def definitions(self, server: str, mode: str) -> list[dict[str, Json]]:
        return sdk.definitions(self.idle(server, mode))

    def expected(self, call: Call, result: Any, mode: str) -> Json | Failed:
        if isinstance(result, Failed):
            return result
        tool = sdk.tools(self.idle(call.server, mode))[call.tool]
        if tool.output_schema:
            return tool.fn_metadata.convert_result(result).structured_content
        return "" if result is None else self.plain(result)


BENCHMARK = AgentDojo()
