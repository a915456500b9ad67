"""The rules that look at what authors write as expressions, in the order they run; other lists take them in."""

from __future__ import annotations

from typing import Final

from rulewright.rules.both_sides_equal import both_sides_equal
from rulewright.rules.comparison_out_of_range import comparison_out_of_range
from rulewright.rules.condition_adds_nothing import condition_adds_nothing
from rulewright.rules.condition_always_holds import condition_always_holds
from rulewright.rules.condition_never_holds import condition_never_holds
from rulewright.rules.empty_list_searched import empty_list_searched
from rulewright.rules.equality_after_rounding import equality_after_rounding
from rulewright.rules.integer_division import integer_division

CONDITIONS: Final = (
    condition_never_holds,
    condition_always_holds,
    condition_adds_nothing,
    comparison_out_of_range,
)
EXPRESSIONS: Final = (
    integer_division,
    equality_after_rounding,
    both_sides_equal,
    empty_list_searched,
)
