"""A language model plays: `llm_agent.py --model NAME [--base-url URL] [--seed N …]`.

Any endpoint that speaks OpenAI's chat completions will do; key and URL come from OPENAI_API_KEY
and OPENAI_BASE_URL unless they are given. Needs the extra `llm`. A line per episode is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys

from openai import AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletionMessageParam

from mayday_env import LocalServer, MaydayEnv, Result, action_schemas, parse_action
from mayday_env.actions import Resolve

# Answers in a row that are no action; then the agent hands over.
PATIENCE = 3
# Exchanges that the model sees beside its instructions; older ones are left out.
MEMORY = 12

INSTRUCTIONS = """\
You are the engineer on call of a system that you have not seen before. You have been paged. Find
out what is wrong and end the harm to its users; sometimes nothing is wrong. Reading takes 5
seconds, changing something 30, and users suffer meanwhile. When the users are well, resolve.

Answer with one action: a JSON object and nothing else. The actions, as JSON Schemas:
"""


def instructions() -> str:
    """What the model is told once."""
    each = []
    for schema in action_schemas():
        fields = {k: v for k, v in schema["properties"].items() if k != "metadata"}
        required = schema.get("required", [])
        each.append(
            json.dumps({"doc": schema["description"], "fields": fields, "required": required})
        )
    return INSTRUCTIONS + "\n".join(each)


def shown(result: Result) -> str:
    """An observation as the model reads it."""
    seen = result.observation.model_dump(exclude={"metadata", "done_reason", "done", "reward"})
    return f"step {seen['step']}\n{json.dumps(seen)}"


class Agent:
    """Plays episodes with one model."""

    def __init__(self, client: AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model
        self._instructions = instructions()

    async def _say(self, talk: list[ChatCompletionMessageParam]) -> str:
        head: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": self._instructions},
            # The page itself is never forgotten.
            *talk[:1],
            *talk[1:][-2 * MEMORY :],
        ]
        answer = await self._client.chat.completions.create(
            model=self._model, messages=head, temperature=0
        )
        return answer.choices[0].message.content or ""

    async def play(self, env: MaydayEnv, seed: int, task: str | None = None) -> tuple[float, str]:
        """Plays one episode: what it paid, and how it ended."""
        result = await env.reset(seed=seed, task=task)
        talk: list[ChatCompletionMessageParam] = [{"role": "user", "content": shown(result)}]
        paid, wrong = 0.0, 0
        while not result.done:
            said = ""
            try:
                said = await self._say(talk)
                # The server has the last word: names of components are known to it alone.
                result = await env.step(parse_action(said))
            except (ValueError, RuntimeError, OpenAIError) as error:
                wrong += 1
                if wrong >= PATIENCE:
                    result = await env.step(Resolve(summary="the agent hands over"))
                    return paid + (result.reward or 0.0), f"handed over: {error}"
                talk.append({"role": "assistant", "content": said})
                talk.append({"role": "user", "content": f"That was no action. {error}"})
                continue
            wrong, paid = 0, paid + (result.reward or 0.0)
            talk.append({"role": "assistant", "content": said})
            talk.append({"role": "user", "content": shown(result)})
        return paid, result.observation.done_reason or ""


async def play_all(url: str, agent: Agent, seeds: list[int], task: str | None) -> None:
    """Every seed once, all at the same time."""

    async def one(seed: int) -> None:
        async with MaydayEnv(base_url=url) as env:
            paid, how = await agent.play(env, seed, task)
        print(json.dumps({"seed": seed, "return": paid, "end": how}), flush=True)

    await asyncio.gather(*(one(seed) for seed in seeds))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server of `mayday serve`; default: one is started")
    parser.add_argument("--base-url", help="of the model's endpoint; default: OPENAI_BASE_URL")
    parser.add_argument("--model", default=os.environ.get("OPENAI_MODEL"))
    parser.add_argument("--task", help="default: chosen by the seed")
    parser.add_argument("--seed", type=int, nargs="+", default=[7])
    options = parser.parse_args()
    if not options.model:
        sys.exit("no model: name one by --model or OPENAI_MODEL")
    # Endpoints of one's own mostly want no key.
    key = os.environ.get("OPENAI_API_KEY", "none")
    agent = Agent(AsyncOpenAI(base_url=options.base_url, api_key=key), options.model)
    with contextlib.ExitStack() as stack:
        url = options.url or stack.enter_context(LocalServer()).url
        asyncio.run(play_all(url, agent, options.seed, options.task))


if __name__ == "__main__":
    main()
