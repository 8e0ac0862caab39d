"""A provider that follows a script, to test the judge of `model.py`: it solves tasks by their gold solutions, or fails
in a known way. It has the interface of chat completions, and Anthropic's, whose rules it checks."""

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
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}


class Script:
    def __init__(self, benchmark: Benchmark, name: str) -> None:
        self.benchmark, self.name, self.writer = benchmark, name, Writer(benchmark, benchmark.modes[0])
        self.tasks: dict[str, str] = {}
        for task in benchmark.conversations():
            self.tasks.setdefault(benchmark.messages(task)[0], task)

    def reply(self, messages: list[Json], in_code: bool) -> Json:
        """The message after a conversation, which begins with the system's text and the task."""
        task, roles = self.tasks[messages[1]["content"]], [message["role"] for message in messages]
        last = len(roles) - roles[::-1].index("user")
        numbers = [number for number, call in enumerate(self.benchmark.gold(task))
                   if call.turn == roles.count("user") - 1]
        calls = self.code(task, numbers) if in_code else self.direct(task, numbers)
        if self.name == "endless" and calls:
            return self.call(*calls[0])
        made = roles[last:].count("assistant")
        if made < len(calls):
            return self.call(*calls[made])
        return {"role": "assistant", "content": self.benchmark.needed(task) if self.name == "gold" else ""}

    def code(self, task: str, numbers: list[int]) -> list[tuple[str, Json]]:
        if self.name == "silent" or not numbers:
            return []
        program = self.writer.write(task, self.benchmark.replay(task), "functions")
        code = {"broken": "let total: String = 5;"}.get(self.name, program.part(numbers))
        return [("execute_code", {"code": code})]

    def direct(self, task: str, numbers: list[int]) -> list[tuple[str, Json]]:
        gold = self.benchmark.gold(task)
        calls = [(gold[number].tool, gold[number].arguments) for number in numbers]
        return {"silent": [], "broken": [("no_such_tool", {})]}.get(self.name, calls)

    def call(self, tool: str, arguments: Json) -> Json:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call-1", "type": "function", "function": function}]}


def completion(script: Script, request: Json) -> Json:
    """An answer of chat completions."""
    names = [tool["function"]["name"] for tool in request["tools"]]
    return {"choices": [{"message": script.reply(request["messages"], "execute_code" in names)}], "usage": USAGE}


def message(script: Script, request: Json) -> Json:
    """An answer of Anthropic's messages, whose rules a wrong request breaks with an exception."""
    messages = [{"role": "system", "content": request["system"]}]
    asked: list[str] = []
    for number, one in enumerate(request["messages"]):
        assert one["role"] == ("user", "assistant")[number % 2], "the roles must alternate"
        content = one["content"]
        assert content and all(block["type"] != "text" or block["text"] for block in content), "a text is empty"
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert results == asked, "each use of a tool needs its result in the next message"
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
        texts = [block["text"] for block in content if block["type"] == "text"]
        messages += [{"role": "tool"} for _ in results]
        if texts or one["role"] == "assistant":
            messages.append({"role": one["role"], "content": "".join(texts)})
    assert request["max_tokens"] > 0 and all(tool["input_schema"]["type"] == "object" for tool in request["tools"])
    reply = script.reply(messages, any(tool["name"] == "execute_code" for tool in request["tools"]))
    content = [{"type": "text", "text": reply["content"]}] if reply["content"] else []
    content += [{"type": "tool_use", "id": call["id"], "name": call["function"]["name"],
                 "input": json.loads(call["function"]["arguments"])} for call in reply.get("tool_calls", [])]
    usage = {"input_tokens": USAGE["prompt_tokens"], "output_tokens": USAGE["completion_tokens"]}
    return {"role": "assistant", "content": content, "usage": usage}


def serve(script: Script) -> str:
    """Starts the provider; returns its address."""
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                is_messages = self.path == "/v1/messages" and self.headers["anthropic-version"]
                status, body = 200, (message if is_messages else completion)(script, request)
            except Exception as error:
                status, body = 400, {"error": {"message": f"{type(error).__name__}: {error}"}}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Keeps the log of requests out of the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
