"""A project for chats that exist: three checks and a scorecard, made from what the chats hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST_TOOLS = 100
ROUND_TO = 100  # characters

PROJECT = """\
# A project: where its documents lie, and how verdicts become scores. Every key: docs/guides/projects.md
project: {name}
checks: checks
scorecards: scorecards
scorecard: share
"""
LENGTH = """\
# No reply in the chats that this project was made from has more than {longest} characters.
id: reply-too-long
each: reply
params:
  characters: {limit}
fail: size(turn.content) > params.characters
"""
PERSONAL = """\
# E-mail addresses, telephone numbers, accounts and cards; the check digits of the last two are verified.
id: personal-data-shown
each: reply
fail: size(personal_data(turn.content)) > 0
"""
TOOLS = """\
# The tools that are called in the chats that this project was made from.
id: unknown-tool-called
each: tool_call
params:
  tools: {tools}
pass: tool_call.name in params.tools
"""
REFUSAL = """\
# The usual English phrases; what a refusal sounds like in your chats may differ.
id: request-declined
each: reply
fail: is_refusal(turn.content)
"""
SCORECARD = """\
# No gate: every check decides, and the score is the share of them that passed.
scorecard: share
description: The share of the checks that a chat passes.

rates:
  passed:
    rate: {of: "true", hit: [PASS], miss: [FAIL, UNCLEAR], exclude: [NOT_APPLICABLE], error: adjudicate, empty: absent}

output:
  passed: rates.passed
headline: passed
"""


def project_for(name: str, found: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a project by their paths, for chats whose summary (`DataSummary.result`) is `found`."""
    longest = (found["characters"].get("assistant") or {"max": 0})["max"]
    limit = max(ROUND_TO, -(-longest // ROUND_TO) * ROUND_TO)
    files = {
        "rulewright.yaml": PROJECT.format(name=json.dumps(name)),
        "checks/reply-too-long.yaml": LENGTH.format(longest=longest, limit=limit),
        "checks/personal-data-shown.yaml": PERSONAL,
        "scorecards/share.yaml": SCORECARD,
    }
    tools = sorted(found["tools"])
    if 0 < len(tools) <= MOST_TOOLS:
        # JSON is YAML, so that a name holds what it may and stays a text.
        return {**files, "checks/unknown-tool-called.yaml": TOOLS.format(tools=json.dumps(tools))}
    return {**files, "checks/request-declined.yaml": REFUSAL}
