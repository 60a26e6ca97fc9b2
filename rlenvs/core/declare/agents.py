"""Who the agents of a world are: their teams, and roles where they differ in what they see and do."""

from __future__ import annotations

import dataclasses

from rlenvs.core.declare.action_form import ActionForm
from rlenvs.core.declare.chosen import Chosen
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.parts import Role


def teams_of(chosen: Chosen) -> tuple[int, ...]:
    """The team of each agent; all on one team where teams do not play against each other.

    Raises:
        ParameterError: the world's function gives other teams than 0, 1, ..., or not one to each agent.
    """
    world, agents = chosen.world, chosen.sizes["agents"]
    teams = tuple(map(int, world.teams(chosen.values))) if world.teams else (0,) * agents
    if len(teams) != agents or sorted(set(teams)) != list(range(len(set(teams)))):
        raise ParameterError(f"{world.name}: teams={teams} must give a team 0, 1, ... to each of {agents} agents")
    return teams


def roles_of(chosen: Chosen, action: ActionForm, numbers: int) -> tuple[Role, ...]:
    """Name, length of the observation and size of the action of each agent, where the largest see so many numbers.

    Raises:
        ParameterError: the world's function gives roles that do not fit its agents, observation or action.
    """
    world, agents = chosen.world, chosen.sizes["agents"]
    if not world.roles:
        return tuple(Role(f"agent_{k}", numbers, action.size) for k in range(agents))
    roles = tuple(world.roles(chosen.values))
    if action.kind in ("flat", "multi"):
        roles = _with_all_choices(world.name, roles, action)
    names = {role.name for role in roles}
    largest = max(role.observation for role in roles), max(role.action for role in roles)
    if len(names) != agents or len(roles) != agents or largest != (numbers, action.size):
        raise ParameterError(
            f"{world.name}: roles={roles} must be {agents}, with different names, the largest observation "
            f"and action of sizes {(numbers, action.size)}"
        )
    return roles


def _with_all_choices(name: str, roles: tuple[Role, ...], action: ActionForm) -> tuple[Role, ...]:
    """Agents may differ in what they see; of actions of several choices each has all."""
    wanted = len(action.dimensions or action.choices)
    if any(role.action != wanted for role in roles):
        raise ParameterError(f"{name}: all agents have all {wanted} choices of an action; roles={roles}")
    return tuple(dataclasses.replace(role, action=action.size) for role in roles)
