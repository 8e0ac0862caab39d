"""Asks a model over HTTP, by the two common interfaces: OpenAI's chat completions, which many providers and local
servers have, and Anthropic's messages. Conversations are kept in the former's form."""

import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

Json = Any
# Seconds for one answer of a model.
TIMEOUT = 600
# Attempts while a provider is overloaded, with growing pauses.
ATTEMPTS = 6
# Most tokens of one answer.
OUTPUT = 8192


@dataclass
class Reply:
    """A message of the assistant, in the form of chat completions, and the tokens that it took."""

    message: dict[str, Json]
    read: int
    written: int

    def calls(self) -> list[tuple[str, str, Json]]:
        """Ids, names and arguments. Arguments that are no JSON are an empty object, about which the tool complains."""
        found = []
        for call in self.message.get("tool_calls") or []:
            try:
                arguments = json.loads(call["function"]["arguments"] or "{}")
            except ValueError:
                arguments = {}
            found.append((call["id"], call["function"]["name"], arguments))
        return found


def post(url: str, headers: dict[str, str], body: Json) -> Json:
    data = json.dumps(body).encode()
    for attempt in range(ATTEMPTS):
        request = urllib.request.Request(url, data, {"content-type": "application/json"} | headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500, 502, 503, 529) or attempt == ATTEMPTS - 1:
                raise RuntimeError(f"{url}: {error.code}: {error.read()[:1000].decode(errors='replace')}") from error
            time.sleep(2 ** attempt)
    raise AssertionError("the last attempt returns or raises")


class Chat:
    """Chat completions."""

    def __init__(self, name: str, base_url: str | None) -> None:
        self.name, self.url = name, (base_url or "https://api.openai.com/v1").rstrip("/") + "/chat/completions"

    def ask(self, messages: list[Json], tools: list[Json]) -> Reply:
        functions = [{"type": "function", "function": {
            "name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}}
            for tool in tools]
        key = os.environ.get("OPENAI_API_KEY")
        answer = post(self.url, {"authorization": f"Bearer {key}"} if key else {},
                      {"model": self.name, "messages": messages, "tools": functions})
        usage = answer.get("usage") or {}
        return Reply(answer["choices"][0]["message"], usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


class Messages:
    """Anthropic's messages."""

    def __init__(self, name: str, base_url: str | None) -> None:
        self.name, self.url = name, (base_url or "https://api.anthropic.com").rstrip("/") + "/v1/messages"

    def ask(self, messages: list[Json], tools: list[Json]) -> Reply:
        answer = post(self.url, {
            "x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": "2023-06-01"}, {
            "model": self.name, "max_tokens": OUTPUT, "system": messages[0]["content"],
            "messages": merged([blocks(message) for message in messages[1:]]),
            "tools": [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
                      for tool in tools]})
        text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        calls = [{"id": block["id"], "type": "function", "function": {
            "name": block["name"], "arguments": json.dumps(block["input"])}}
            for block in answer["content"] if block["type"] == "tool_use"]
        message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
        return Reply(message, answer["usage"]["input_tokens"], answer["usage"]["output_tokens"])


def blocks(message: Json) -> Json:
    """A message of a conversation in Anthropic's form."""
    if message["role"] == "tool":
        return {"role": "user", "content": [{
            "type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]}
    calls = message.get("tool_calls") or []
    # An empty text is refused.
    text = message.get("content") or ("" if calls else "(no answer)")
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": call["id"], "name": call["function"]["name"],
                 "input": json.loads(call["function"]["arguments"] or "{}")} for call in calls]
    return {"role": message["role"], "content": content}


def merged(messages: list[Json]) -> list[Json]:
    """With one message for all that follow each other from the same side: the results of a message's tools must be in
    the next one."""
    found: list[Json] = []
    for message in messages:
        if found and found[-1]["role"] == message["role"]:
            found[-1]["content"] += message["content"]
        else:
            found.append(message)
    return found


def provider(model: str, base_url: str | None) -> Chat | Messages:
    """`anthropic:NAME`, or `openai:NAME` for OpenAI and all that have its interface."""
    kind, _, name = model.partition(":")
    kinds = {"anthropic": Messages, "openai": Chat}
    if kind not in kinds or not name:
        raise SystemExit(f"tests/evals/run: --model {model}: write anthropic:NAME, openai:NAME or scripted:NAME")
    return kinds[kind](name, base_url)
