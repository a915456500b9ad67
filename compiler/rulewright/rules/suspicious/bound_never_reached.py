from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def bound_never_reached(task: TaskDocument) -> Findings:
    """A loop has a larger `max_iterations` than a loop inside it, or the loop of a task only one iteration.

    Why it matters: the count of an inner loop is never reset, so each iteration of the outer loop also uses one of the
    inner loop's. When these are used up, both loops end.
    Instead: give the inner loop at least as many iterations as the outer one.
    """
    loops = task.loops
    for outer in loops:
        if outer.name == "loop" and outer.max_iterations == 1 and (place := outer.find("max_iterations")) is not None:
            yield task.warning(place, f"{outer.field}.max_iterations", "a loop of one iteration repeats nothing")
    for number, outer in enumerate(loops):
        for inner in loops[number + 1 :]:
            if outer.max_iterations and inner.max_iterations and outer.max_iterations > inner.max_iterations:
                odd = inner if inner.max_iterations == 1 else outer  # a loop of one iteration repeats nothing
                message = (
                    f"{outer.max_iterations} is never reached: `{inner.name}` inside allows only {inner.max_iterations}"
                )
                if odd is inner:
                    message = f"1 ends `{outer.name}` around it, too, which allows {outer.max_iterations}"
                yield task.warning(odd.find("max_iterations") or odd.layers[0], f"{odd.field}.max_iterations", message)
                break
