"""The functions of the language by canonical name, for `call` in the instruction set."""

from __future__ import annotations

from typing import Final

from rulewright_runtime.functions import (
    conversions,
    json_texts,
    lists,
    mathematics,
    operators,
    personal,
    profile_functions,
    similarity,
    statistics,
    strings,
    texts,
    times,
    tool_use,
)
from rulewright_runtime.functions.table import Table

STRICT: Final[Table] = {
    **operators.TABLE,
    **conversions.TABLE,
    **strings.TABLE,
    **times.TABLE,
    **mathematics.TABLE,
    **lists.TABLE,
}
PROFILE: Final[Table] = {
    **STRICT,
    **conversions.PROFILE,
    **mathematics.PROFILE,
    **profile_functions.TABLE,
    **statistics.TABLE,
    **texts.TABLE,
    **personal.TABLE,
    **similarity.TABLE,
    **json_texts.TABLE,
    **tool_use.TABLE,
}
