"""From JSON to a typed action: for agents that write text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from .actions import AnyAction

_ADAPTER: TypeAdapter[AnyAction] = TypeAdapter(Annotated[AnyAction, Field(discriminator="action")])


def parse_action(given: Mapping[str, Any] | str) -> AnyAction:
    """The action that an object, or the first object in a text, describes.

    Raises ValueError with one sentence that says what is wrong, fit to be sent to a model.
    """
    fields = _first_object(given) if isinstance(given, str) else dict(given)
    try:
        return _ADAPTER.validate_python(fields)
    except ValidationError as error:
        places = [
            ".".join(str(part) for part in item["loc"]) + ": " + item["msg"]
            for item in error.errors()
        ]
        raise ValueError("; ".join(places).removeprefix(": ")) from error


def _first_object(text: str) -> dict[str, Any]:
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        return dict(found)
    raise ValueError("there is no JSON object in the text")


def action_schemas() -> list[dict[str, Any]]:
    """JSON Schemas of all actions: for prompts, and for tools of a model."""
    schema = _ADAPTER.json_schema(by_alias=True)
    return [schema["$defs"][one["$ref"].rsplit("/", 1)[1]] for one in schema["oneOf"]]
