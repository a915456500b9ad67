"""What the files in a folder of test cases hold, by the text of a key."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rulewright.documents.layout import folder_near, searched_files, values_in
from rulewright.once_a_run import once_a_run


class CaseFolder:
    """The files of the folder `cases` near a file, in order, and the values of keys in each."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self.files = files
        self._values: dict[str, list[tuple[str, ...]]] = {}
        self._counted: dict[str, Counter[str]] = {}
        self._numbers: dict[str, dict[str, list[int]]] = {}

    def values(self, key: str) -> list[tuple[str, ...]]:
        """The values of a key in each of the files, each as often as it is there."""
        if key not in self._values:
            self._values[key] = [values_in(file, key) for file in self.files]
        return self._values[key]

    def counted(self, key: str) -> Counter[str]:
        """The values of a key in all files, with their numbers."""
        if key not in self._counted:
            self._counted[key] = Counter(value for values in self.values(key) for value in values)
        return self._counted[key]

    def holding(self, key: str, values: frozenset[str]) -> Iterator[tuple[Path, frozenset[str]]]:
        """The files in which a key has one of the values, in order, each with its values of the key."""
        numbers = self._numbers.setdefault(key, {})
        if not numbers:
            for number, found in enumerate(self.values(key)):
                for value in dict.fromkeys(found):
                    numbers.setdefault(value, []).append(number)
        for number in sorted({each for value in values for each in numbers.get(value, ())}):
            yield self.files[number], frozenset(self.values(key)[number])


def cases_near(path: Path) -> CaseFolder:
    """The folder of test cases near a file."""
    return _read(folder_near(path))


@once_a_run
def _read(folder: Path | None) -> CaseFolder:
    return CaseFolder(tuple(searched_files(folder)))
