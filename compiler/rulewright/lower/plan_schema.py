"""The JSON Schema of plans, derived from the structures that the runtime decodes.

`python -m rulewright.lower.plan_schema` prints what belongs into `schemas/plan.schema.json`.
"""

from __future__ import annotations

import json

import msgspec

from rulewright_runtime.plan.scan import VERSION, Plan


def plan_schema() -> dict[str, object]:
    """The schema of a plan of this version."""
    (reference,), definitions = msgspec.json.schema_components([Plan], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rulewright:schema:plan:{VERSION}",
        "title": "A plan: everything a run needs, decided while compiling",
        **reference,
        "$defs": definitions,
    }


def rendered() -> str:
    """The schema as its file holds it."""
    return json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(rendered(), end="")
