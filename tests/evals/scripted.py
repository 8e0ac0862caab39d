"""A provider with the interface of chat completions that follows a script, to test the judge of `model.py`: it solves
tasks by their gold solutions, or fails in a known way."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.kind import Benchmark
from program import Writer

Json = Any
# What each script does. Only `gold` solves tasks.
SCRIPTS = {
    "gold": "makes the calls of the gold solution and gives its answer",
    "silent": "answers with an empty text at once",
    "broken": "writes a program that does not compile, or calls a tool that does not exist, and gives up",
    "endless": "makes the first call again and again",
}


class Script:
    def __init__(self, benchmark: Benchmark, name: str) -> None:
        self.benchmark, self.name, self.writer = benchmark, name, Writer(benchmark, "sig")
        self.tasks = {benchmark.prompt(task): task for task in benchmark.tasks()}

    def reply(self, request: Json) -> Json:
        """The message after a conversation, which begins with the system's text and the task."""
        task = self.tasks[request["messages"][1]["content"]]
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        in_code = any(tool["function"]["name"] == "execute_code" for tool in request["tools"])
        calls = self.code(task) if in_code else self.direct(task)
        if self.name == "endless" and calls:
            return self.call(*calls[0])
        if turn < len(calls):
            return self.call(*calls[turn])
        return {"role": "assistant", "content": self.benchmark.needed(task) if self.name == "gold" else ""}

    def code(self, task: str) -> list[tuple[str, Json]]:
        program = self.writer.write(task, self.benchmark.replay(task), "functions")
        code = {"broken": "let total: String = 5;"}.get(self.name, program.code)
        return [] if self.name == "silent" else [("execute_code", {"code": code})]

    def direct(self, task: str) -> list[tuple[str, Json]]:
        calls = [(call.tool, call.arguments) for call in self.benchmark.gold(task)]
        return {"silent": [], "broken": [("no_such_tool", {})]}.get(self.name, calls)

    def call(self, tool: str, arguments: Json) -> Json:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call-1", "type": "function", "function": function}]}


def serve(script: Script) -> str:
    """Starts the provider; returns its address."""
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            usage = {"prompt_tokens": 1000, "completion_tokens": 100}
            body = json.dumps({"choices": [{"message": script.reply(request)}], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keeps the log of requests out of the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
