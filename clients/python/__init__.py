"""Python client of mayday, an on-call gym for AI agents, on top of OpenEnv."""

from .client import MaydayEnv, Result, list_tasks
from .local import LocalServer, find_binary
from .models import (
    ActionResult,
    Alert,
    MaydayAction,
    MaydayObservation,
    MaydayState,
    Objective,
    Task,
)
from .parse import action_schemas, parse_action
from .rollout import Episode, RolloutError, Rollouts

__all__ = [
    "ActionResult",
    "Alert",
    "Episode",
    "LocalServer",
    "MaydayAction",
    "MaydayEnv",
    "MaydayObservation",
    "MaydayState",
    "Objective",
    "Result",
    "RolloutError",
    "Rollouts",
    "Task",
    "action_schemas",
    "find_binary",
    "list_tasks",
    "parse_action",
]
