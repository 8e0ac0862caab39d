"""What every benchmark provides to the replay. Its data and its checks come from its own package."""

import copy
from dataclasses import dataclass, field
from typing import Any, Callable

from comparison import Difference

Json = Any
# Answers a tool call: tool and arguments.
Answer = Callable[[str, dict[str, Json]], Any]


@dataclass
class Call:
    """One call of a gold solution. `turn` is the number of the user's message that it belongs to."""

    server: str
    tool: str
    arguments: dict[str, Json]
    turn: int = 0


@dataclass
class Failed:
    """A call that raised an error in the benchmark's own replay."""

    error: str


@dataclass
class Gold:
    """The benchmark's own replay of a gold solution: raw results, and the environments before and after."""

    before: Any
    after: dict[str, Any]
    results: list[Any] = field(default_factory=list)


class Benchmark:
    """The parts that differ between benchmarks. Names of servers and tools are those of the benchmark."""

    name: str
    # How its tools are described: see docs/evidence.md. The first one is that of models.
    modes: list[str]
    servers: list[str]

    def options(self, mode: str) -> dict[str, Json]:
        """Settings of its servers in Toolsmith's configuration."""
        return {}

    def group(self, task: str) -> list[str]:
        """Servers that are configured together: those that the task may use."""
        return [task.split("/")[0]]

    def involved(self, task: str) -> list[str]:
        """Servers whose tools the benchmark gives to the model."""
        return self.group(task)

    def part(self, task: str) -> str:
        """A name for tasks of the same kind."""
        return task.split("/")[0]

    def tasks(self, kind: str = "user") -> list[str]:
        raise NotImplementedError

    def distinct(self) -> list[str]:
        """Tasks with different gold solutions."""
        return self.tasks()

    def gold(self, task: str) -> list[Call]:
        raise NotImplementedError

    def prompt(self, task: str) -> str:
        raise NotImplementedError

    def conversations(self) -> list[str]:
        """Tasks for models."""
        return self.tasks()

    def policy(self, task: str) -> str:
        """What a model must know besides the tools."""
        return ""

    def messages(self, task: str) -> list[str]:
        """The user's messages. Each but the first follows the answer to the one before."""
        return [self.prompt(task)]

    def needed(self, task: str) -> str:
        """Text that the final answer to the user must contain."""
        return ""

    def environment(self, task: str, server: str, injections: dict[str, str]) -> Any:
        raise NotImplementedError

    def invoke(self, environment: Any, server: str, tool: str, arguments: dict[str, Json]) -> Any:
        raise NotImplementedError

    def snapshot(self, environment: Any) -> Any:
        """What is kept of an environment after a session."""
        return environment

    def restored(self, task: str, snapshot: Any) -> Any:
        """The environment again."""
        return snapshot

    def state_differences(self, expected: Any, got: Any) -> list[Difference]:
        raise NotImplementedError

    def replay(self, task: str) -> Gold:
        gold = Gold(None, {})
        for call in self.gold(task):
            if call.server not in gold.after:
                gold.after[call.server] = self.environment(task, call.server, {})
            try:
                arguments = copy.deepcopy(call.arguments)
                result = self.invoke(gold.after[call.server], call.server, call.tool, arguments)
            except Exception as error:
                result = Failed(f"{type(error).__name__}: {error}")
            gold.results.append(copy.deepcopy(result))
        return gold

    def check(self, task: str, before: Any, after: dict[str, Any], calls: list[Call],
              answer: str | None = None) -> bool:
        """The benchmark's own verdict on final environments. Without an answer to the user, the gold one counts."""
        raise NotImplementedError

    def solved(self, task: str, before: Any, after: dict[str, Any], calls: list[Call], answer: str) -> bool:
        """The benchmark's own verdict on a model."""
        return self.check(task, before, after, calls, answer)

    def plain(self, value: Any) -> Json:
        raise NotImplementedError

    def received(self, call: Call) -> Json:
        """A call's arguments as its tool gets them."""
        return self.plain(call.arguments)

    def mcp_server(self, server: str, mode: str, answer: Answer) -> Any:
        raise NotImplementedError

    def definitions(self, server: str, mode: str) -> list[dict[str, Json]]:
        """The tools as `tools/list` sends them, with their output schemas."""
        raise NotImplementedError

    def expected(self, call: Call, result: Any, mode: str) -> Json | Failed:
        """What the server sends for this result."""
        raise NotImplementedError
