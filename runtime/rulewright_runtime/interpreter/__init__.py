"""The interpreter: compiles a program to a Python callable that evaluates it on a dict."""

from rulewright_runtime.interpreter.evaluator import Evaluator, prepare

__all__ = ["Evaluator", "prepare"]
