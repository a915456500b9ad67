"""What a table of functions holds: for each name the function and how many arguments it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Function: TypeAlias = Callable[..., Any]
Table: TypeAlias = Mapping[str, tuple[Function, int, int]]  # the function; its arguments: least, most
BROUGHT: Final[dict[str, tuple[Function, int, int]]] = {}  # of plug-ins, once a plan that calls them is opened
