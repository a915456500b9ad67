"""Names of people, agents and models, compared as a reader sees them."""

from __future__ import annotations

import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset({"Cf", "Mn"})  # format characters and combining marks
# Small letters of other alphabets (Cyrillic, Greek, Armenian, Cherokee, Latin of other shapes), each before the Latin
# letter that it or its capital looks like.
_LOOK_ALIKES: Final = (
    "аa вb сc еe һh нh іi јj кk мm оo рp ѕs тt хx уy үy ԛq ԝw ԁd ӏl ьb гr пn ѵv αa βb εe ζz ιi κk μm νv οo ρp τt υu χx "
    "γy ηn ωw ϳj օo տs լl սu ոn հh ցg յj զq Ꭺa Ᏼb Ꮯc Ꭼe Ꮋh Ꭻj Ꮶk Ꮮl Ꮇm Ꮲp Ꮪs Ꭲt Ꮩv Ꮃw Ꮓz "
    "ıi ɑa ɡg ɩi ʟl ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"
)
_LATIN: Final = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKES.split()}


def folded_name(name: str) -> str:
    """The name without case, accents, further white space and invisible characters, in Latin letters where others look
    the same, so that look-alikes are equal."""
    name = name.casefold()
    if not name.isascii():
        name = unicodedata.normalize("NFKD", name).casefold().translate(_LATIN)
    return " ".join("".join(c for c in name if unicodedata.category(c) not in _INVISIBLE).split())
