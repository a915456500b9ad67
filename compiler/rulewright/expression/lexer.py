"""Splits the text of an expression into tokens; the word operators of the profile are told from names here."""

from __future__ import annotations

import enum


class Dialect(enum.StrEnum):
    """Strict CEL, or CEL with the profile's word operators `and`, `or`, `not`."""

    STRICT = "strict"
    PROFILE = "profile"
