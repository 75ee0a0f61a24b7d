"""One ES module made of several: what a notebook's front end is given, with nothing to fetch.

The files import one another, as ES modules do, so that editors and Node.js understand them; here
the imports go and the files follow each other, the imported ones first.
"""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


def bundle(folder: Path, entry: str = "main.js") -> str:
    """`entry` and all that it imports from `folder`, as one module."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        source = (folder / name).read_text(encoding="utf-8")
        for needed in _IMPORT.findall(source):
            if needed not in parts:
                add(needed)
        text = _IMPORT.sub("", source)
        parts[name] = text if name == entry else re.sub(r"^export ", "", text, flags=re.MULTILINE)

    add(entry)
    return "\n".join(parts.values())
