#!/usr/bin/env python3
"""A chat endpoint in OpenAI's shape with scripted replies, for tests of agents. Loopback only.

    fake_llm.py --script FILE --set NAME [--port 0] [--log FILE]

It prints {"url": ...}. Endpoints: POST /v1/chat/completions (not streamed), GET /v1/models,
GET /__stats (requests, calls of each rule).

A script is {"NAME": {"rules": [RULE, ...], "default": REPLY}, ...}. The first RULE that matches
answers:
  when     substrings that all have to occur in the messages of the user; none: matches always
  index    which reply: "cursor" (the n-th match since the start) or "assistant_count" (as many as
           there are messages of the assistant: the same for the same conversation)
  replies  REPLY after REPLY; past the end the last one stays
A REPLY is a text, or {"content": text or null, "status": HTTP status, "raw": a body as it is}.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Brain:
    """Chooses replies."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.rules = script.get("rules", [])
        self.default = script.get("default", "")
        self.requests = 0
        self.calls = [0] * len(self.rules)
        self.lock = threading.Lock()

    def reply(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The reply to a conversation."""
        asked = "\n".join(one["content"] or "" for one in messages if one["role"] == "user")
        said = sum(one["role"] == "assistant" for one in messages)
        with self.lock:
            self.requests += 1
            chosen = self.default
            for number, rule in enumerate(self.rules):
                if all(text in asked for text in rule.get("when", [])):
                    by = rule.get("index", "cursor")
                    at = said if by == "assistant_count" else self.calls[number]
                    chosen = rule["replies"][min(at, len(rule["replies"]) - 1)]
                    self.calls[number] += 1
                    break
        return chosen if isinstance(chosen, dict) else {"content": chosen}


def refusal(message: str) -> dict[str, Any]:
    """An error as OpenAI says it."""
    return {"error": {"message": message, "type": "server_error", "code": "scripted"}}


def handler(brain: Brain, log: Path | None) -> type[BaseHTTPRequestHandler]:
    """The endpoints."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def answer(self, status: int, body: Any) -> None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if self.path == "/__stats":
                self.answer(200, {"requests": brain.requests, "calls": brain.calls})
            elif self.path == "/v1/models":
                self.answer(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})
            else:
                self.answer(404, refusal("not found"))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path != "/v1/chat/completions":
                self.answer(404, refusal("not found"))
                return
            request = json.loads(body)
            reply = brain.reply(request["messages"])
            if log is not None:
                with brain.lock, log.open("a") as file:
                    file.write(json.dumps({"request": request, "reply": reply}) + "\n")
            status = reply.get("status", 200)
            if status != 200:
                self.answer(status, refusal(reply.get("content") or "scripted"))
            elif "raw" in reply:
                self.answer(200, reply["raw"])
            else:
                message = {"role": "assistant", "content": reply["content"]}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self.answer(
                    200,
                    {
                        "id": f"chatcmpl-{brain.requests}",
                        "object": "chat.completion",
                        "created": 0,
                        "model": request.get("model"),
                        "choices": [choice],
                    },
                )

    return Handler


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--set", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    sets = json.loads(options.script.read_text())
    if options.set not in sets:
        sys.exit(f"no set {options.set!r} in {options.script}; it has {', '.join(sorted(sets))}")
    brain = Brain(sets[options.set])
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler(brain, options.log))
    server.daemon_threads = True
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}/v1"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
