"""The probe: runs in the learner's process after an answer and writes down what its cases saw.

Everything here can be patched by the learner's code, which gains nothing by it: what is written is
data, compared elsewhere with what the reference does, and the reference is not here. Lesson 00.
"""

import json
import os
from pathlib import Path
from typing import Any

from course.checks import load_exercises
from course.trial import Examples, to_json, try_answer


def probe(
    checks: str,
    exercise: str,
    seed: int,
    examples: Examples,
    result: str,
    namespace: dict[str, Any],
) -> None:
    """Try the answer in `namespace` with the cases in the file `checks`; write JSON to `result`."""
    trials = try_answer(load_exercises(Path(checks))[exercise], namespace, seed, examples)
    draft = f"{result}.part"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(to_json(trials), file)
    os.replace(draft, result)
