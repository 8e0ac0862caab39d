"""τ²-bench, retail: one server, 114 tasks, from the checkout that EVALS_TAU2 names.

The schemas are those that the MCP SDK makes of τ²'s own models of parameters and return annotations."""

import functools
import inspect
import os
import sys
import types as modules
from pathlib import Path
from typing import Any

import pydantic_core
from mcp.server.mcpserver import MCPServer

from benchmarks import sdk
from benchmarks.kind import Answer, Benchmark, Call, Failed, Gold, Json
from comparison import Difference, differences

ROOT = Path(os.environ["EVALS_TAU2"])
os.environ.setdefault("TAU2_DATA_DIR", str(ROOT / "data"))
# Its own module imports everything that runs models.
package = modules.ModuleType("tau2")
package.__path__ = [str(ROOT / "src/tau2")]
sys.modules["tau2"] = package
from loguru import logger
from tau2.domains.retail.environment import get_environment, get_tasks

logger.remove()
TASKS = {f"retail/{task.id}": task for task in get_tasks(None)}
BASE = get_environment()
TOOLS = {tool.name: tool for tool in BASE.get_tools()}
DATABASE = BASE.tools.db.model_dump()


class Tau2(Benchmark):
    name = "tau2"
    modes = ["sig", "plain"]
    servers = ["retail"]

    def tasks(self, kind: str = "user") -> list[str]:
        return list(TASKS)

    def gold(self, task: str) -> list[Call]:
        actions = TASKS[task].evaluation_criteria.actions or []
        return [Call("retail", action.name, dict(action.arguments)) for action in actions]

    def prompt(self, task: str) -> str:
        return str(TASKS[task].user_scenario)

    def policy(self, task: str) -> str:
        return BASE.policy

    def messages(self, task: str) -> list[str]:
        """The user's scenario, because no simulated user answers questions."""
        return [f"You serve a user who cannot be asked. The user's knowledge and wishes:\n{self.prompt(task)}"]

    def environment(self, task: str, server: str, injections: dict[str, str]) -> Any:
        environment, initial = get_environment(type(BASE.tools.db).model_validate(DATABASE)), TASKS[task].initial_state
        environment.set_state(initial and initial.initialization_data, initial and initial.initialization_actions,
                              (initial and initial.message_history) or [])
        return environment

    def invoke(self, environment: Any, server: str, tool: str, arguments: dict[str, Json]) -> Any:
        return environment.make_tool_call(tool_name=tool, requestor="assistant", **arguments)

    def snapshot(self, environment: Any) -> Json:
        return environment if isinstance(environment, dict) else environment.tools.db.model_dump(mode="json")

    def restored(self, task: str, snapshot: Json) -> Any:
        return get_environment(type(BASE.tools.db).model_validate(snapshot))

    def state_differences(self, expected: Any, got: Any) -> list[Difference]:
        return differences(self.snapshot(expected), self.snapshot(got))

    def replay(self, task: str) -> Gold:
        gold = super().replay(task)
        gold.after.setdefault("retail", self.environment(task, "retail", {}))
        return gold

    def check(self, task: str, before: Any, after: dict[str, Any], calls: list[Call],
              answer: str | None = None) -> bool:
        """τ² compares the hashes of databases."""
        mine = self.restored(task, self.snapshot(after["retail"]))
        return mine.get_db_hash() == self.replay(task).after["retail"].get_db_hash()

    def plain(self, value: Any) -> Json:
        return pydantic_core.to_jsonable_python(value)

    def mcp_server(self, server: str, mode: str, answer: Answer) -> MCPServer:
        made = MCPServer(server, log_level="ERROR")
        for name, one in TOOLS.items():
            signature = inspect.Signature(
                sdk.parameters(one.params), return_annotation=one.__signature__.return_annotation)
            sdk.add_tool(made, name, one._get_description(), signature, answer, mode == "sig")
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


BENCHMARK = Tau2()
