"""What an agent sees and what it may do, typed. The actions themselves are in `actions`."""

from __future__ import annotations

from typing import Any, Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, ConfigDict, Field


class MaydayAction(Action):
    """Any action, by its name and with whatever arguments; `actions` has one class for each."""

    model_config = ConfigDict(extra="allow")

    action: str

    def payload(self) -> dict[str, Any]:
        """The action as it is sent: without what was left at its default."""
        fields = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {**fields, "action": self.action}


class Alert(BaseModel):
    """An alert, as monitoring has it."""

    name: str
    severity: Literal["page", "ticket"]
    summary: str
    since_seconds: int
    firing: bool


class Objective(BaseModel):
    """A service level objective, as measured."""

    name: str
    objective: float
    good_ratio: float
    burn_fast: float
    burn_slow: float


class ActionResult(BaseModel):
    """What the last action came to; `data` is what a read found."""

    action: str
    ok: bool
    message: str
    data: Any


class MaydayObservation(Observation):
    """What is seen. Fields of newer servers are kept."""

    model_config = ConfigDict(extra="allow")

    time: str
    seconds: int
    step: int
    steps_left: int
    seconds_left: int
    alerts: list[Alert]
    objectives: list[Objective]
    impact_estimate: float
    result: ActionResult | None
    done_reason: Literal["resolved", "horizon", "step_limit", "abandoned"] | None

    @property
    def firing(self) -> list[Alert]:
        """The alerts that fire now."""
        return [alert for alert in self.alerts if alert.firing]


class MaydayState(State):
    """What the server knows of the session."""

    session_id: str | None = None
    task: str | None = None
    seed: int | None = None
    record: str | None = None
    done: bool = False
    done_reason: str | None = None
    last: dict[str, Any] | None = Field(default=None)


class Task(BaseModel):
    """What to play: both fields go to a reset as they are."""

    task: str
    seed: int
