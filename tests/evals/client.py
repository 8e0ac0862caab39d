"""A small MCP client of `toolsmith serve`, over standard input and output."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

Json = Any
# Seconds for servers to start.
PATIENCE = 120
# Decides a question to the user, from its text.
Person = Callable[[str], bool]


@dataclass
class Answer:
    """What the model reads, and the outcome that goes with it."""

    text: str
    outcome: dict[str, Json]


def text_of(result: Json) -> str:
    return "\n".join(part.get("text", "") for part in result.get("content", []))


class Client:
    def __init__(self, command: list[str], log: Path, person: Person | None = None) -> None:
        self.person, self.questions, self.number = person, 0, 0
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.request("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}} if person else {},
            "clientInfo": {"name": "evals", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Json]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, parameters: dict[str, Json]) -> Json:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                self.decide(message)
            elif message.get("id") == self.number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
        raise RuntimeError(f"{method}: the server has ended")

    def decide(self, message: dict[str, Json]) -> None:
        """Answers a question with its first answer (yes) or its last one (no)."""
        self.questions += 1
        schema = message["params"]["requestedSchema"]
        name, choice = next(iter(schema["properties"].items()))
        values = choice.get("enum") or [one["const"] for one in choice["oneOf"]]
        value = values[0] if self.person(message["params"]["message"]) else values[-1]
        self.send({"id": message["id"], "result": {"action": "accept", "content": {name: value}}})

    def described(self, tools: list[str]) -> str:
        """The signatures of tools, named `server.tool`."""
        return self.text("describe_tools", {"tools": tools})

    def tools(self, known: list[str]) -> list[dict[str, Json]]:
        """The tools once the servers have answered, which is when the calls of these tools are described."""
        for tool in known:
            started = time.monotonic()
            while ".await?" not in self.described([tool]):
                if time.monotonic() > started + PATIENCE:
                    raise RuntimeError(f"{tool} has no description after {PATIENCE} s")
                time.sleep(0.2)
        return self.request("tools/list", {})["tools"]

    def call(self, tool: str, arguments: dict[str, Json]) -> dict[str, Json]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def run(self, code: str) -> Answer:
        result = self.call("execute_code", {"code": code})
        outcome = result["_meta"]["io.toolsmith/outcome"]
        if outcome["truncated"].get("result"):
            outcome["result"] = json.loads(self.read(outcome["truncated"]["result_resource"]))
        return Answer(text_of(result), outcome)

    def text(self, tool: str, arguments: dict[str, Json]) -> str:
        """What the model reads of an answer."""
        return text_of(self.call(tool, arguments))

    def read(self, uri: str) -> str:
        whole = ""
        while True:
            address = f"{uri}?offset={len(whole.encode())}&length=4000000"
            part = self.request("resources/read", {"uri": address})["contents"][0]["text"]
            whole += part
            if len(part.encode()) < 1_000_000:
                return whole

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
