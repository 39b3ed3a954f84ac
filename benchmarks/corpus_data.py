"""Made-up issues of the size that trackers have: median 1.5 kB, some of 12 kB. Nothing is measured."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

SEED = 20_261
START = datetime(2015, 1, 1, tzinfo=UTC)
WORDS = (  # noqa: SIM905 (a list of 26 strings says no more)
    "gradient kernel launch shape mismatch timeout checkpoint tokenizer padding cache driver version wheel "
    "build flag precision overflow loss memory tensor stride worker shard replica optimizer scheduler"
).split()
LABELS = ("bug", "question", "performance", "documentation", "build", "needs triage", "cuda", "docs")


def issues(count: int, longest: int = 65_000) -> Iterator[dict[str, Any]]:
    """Give rows as GitHub's REST interface prints them, with descriptions up to ``longest`` characters."""
    chance = random.Random(SEED)  # noqa: S311 (made-up data)
    for number in range(1, count + 1):
        opened = START + timedelta(minutes=37 * number)
        is_closed = chance.random() < 0.7
        repository = f"acme/project{number % 20}"
        yield {
            "id": 5_000_000_000 + number,
            "node_id": f"I_{number:09}",
            "number": number,
            "html_url": f"https://github.com/{repository}/issues/{number}",
            "repository_url": f"https://api.github.com/repos/{repository}",
            "title": " ".join(chance.choices(WORDS, k=7)).capitalize(),
            "body": _text(chance, min(longest, int(chance.lognormvariate(7.3, 1.25)))),
            "state": "closed" if is_closed else "open",
            "state_reason": "completed" if is_closed else None,
            "user": {"login": f"user{chance.randrange(2000)}", "type": "User"},
            "labels": [{"name": name} for name in chance.sample(LABELS, chance.randrange(3))],
            "comments": number % 5,
            "created_at": _stamp(opened),
            "updated_at": _stamp(opened + timedelta(days=2)),
            "closed_at": _stamp(opened + timedelta(days=2)) if is_closed else None,
        }


def write_json_lines(path: Path, count: int) -> None:
    """Write ``count`` issues, one a line."""
    with path.open("w") as file:
        file.writelines(json.dumps(issue) + "\n" for issue in issues(count))


def fill(study: Any, count: int) -> None:
    """Put issues with short descriptions into the corpus, past the import and its checkpoints."""
    from ingest.normalise import cleaned
    from ingest.sources.github.rest_records import issue_of
    from labeling.services.issues import add_issues

    rows = issues(count, longest=400)
    while batch := list(islice(rows, 2000)):
        add_issues(study=study, records=[cleaned(issue_of(row)) for row in batch])


def _text(chance: random.Random, size: int) -> str:
    """Paragraphs of words, with a block of code in the middle."""
    words = chance.choices(WORDS, k=max(3, size // 8))
    lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
    middle = len(lines) // 2
    return "\n".join([*lines[:middle], "```python", "raise RuntimeError(shape)", "```", *lines[middle:]])


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
