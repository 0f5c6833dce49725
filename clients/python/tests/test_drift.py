"""The types against what a server says of itself."""

from __future__ import annotations

import unittest
from typing import Any

import jsonschema
import pydantic
from generate_actions import TARGET, fetch, generate
from support import Served

from mayday_env import MaydayObservation, MaydayState, parse_action

Shape = frozenset[Any]


def shape(schema: dict[str, Any], names: dict[str, Any]) -> Shape:
    """What fits a schema, without its words: the same for the same values."""
    if "$ref" in schema:
        return shape(names[schema["$ref"].rsplit("/", 1)[1]], names)
    if "anyOf" in schema:
        return frozenset().union(*(shape(one, names) for one in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return frozenset("null" if one is None else ("value", one) for one in values)
    kinds = schema.get("type", "any")
    found: set[Any] = set()
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "array":
            found.add(("array", shape(schema["items"], names)))
        elif kind == "object" and "properties" in schema:
            found.add(("object", fields(schema, names)))
        else:
            found.add(kind)
    return frozenset(found)


def fields(schema: dict[str, Any], names: dict[str, Any]) -> frozenset[tuple[str, Shape]]:
    return frozenset((key, shape(value, names)) for key, value in schema["properties"].items())


def of_model(model: type[pydantic.BaseModel]) -> dict[str, Shape]:
    schema = model.model_json_schema(mode="serialization")
    return dict(fields(schema, schema.get("$defs", {})))


class Drift(Served):
    def test_the_actions_are_those_of_the_server(self) -> None:
        self.assertEqual(
            TARGET.read_text(),
            generate(fetch(self.url)),
            "write them anew with tools/generate_actions.py URL",
        )

    def test_the_observation_is_that_of_the_server(self) -> None:
        for schema in [
            fetch(self.url)["reset_observation"],
            fetch(self.url)["observation"]["anyOf"][0],
        ]:
            theirs, ours = dict(fields(schema, {})), of_model(MaydayObservation)
            # OpenEnv's own model says of a reward that it may be of any kind.
            self.assertLess(theirs.pop("reward"), ours.pop("reward"))
            self.assertEqual(theirs, ours)

    def test_the_state_is_that_of_the_server(self) -> None:
        theirs, ours = dict(fields(fetch(self.url)["state"], {})), of_model(MaydayState)
        # It is there only after a resumption.
        self.assertEqual(ours.pop("last"), theirs.pop("last") | {"null"})
        self.assertEqual(theirs, ours)

    def test_what_is_sent_fits_the_schema(self) -> None:
        schema = fetch(self.url)["action"]
        actions = [one for one in schema["oneOf"] if "action" in one["properties"]]
        self.assertGreater(len(actions), 20)
        for one in actions:
            given = {"action": one["title"]}
            for name, value in one["properties"].items():
                if name not in ("action", "metadata"):
                    given[name] = example(value)
            sent = parse_action(given).payload()
            self.assertEqual([], list(jsonschema.Draft202012Validator(schema).iter_errors(sent)))
            changed = {key: value for key, value in given.items() if key in sent}
            self.assertEqual(sent, changed)
            for name in set(given) - set(sent):
                self.assertEqual(given[name], one["properties"][name]["default"])


def example(schema: dict[str, Any]) -> Any:
    """Something that fits."""
    if "enum" in schema:
        return schema["enum"][-1]
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    samples = {"string": "x", "boolean": True, "number": 0.5, "integer": 3}
    sample = samples[schema["type"]]
    return max(sample, schema["minimum"]) if "minimum" in schema else sample


if __name__ == "__main__":
    unittest.main()
