"""A sample of the application, drawn again from its exported files by the program of docs/sampling.md."""

import csv
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labeling.models import Study
from labeling.services import samples
from labeling.services.exports import stream
from tests.factories import lead_of, make_issue, make_study

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[3] / "docs/sampling.md"


def program() -> dict[str, Any]:
    (text,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert "labeling" not in text
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - the page's own program
    return names


def file_of(study: Study, name: str) -> list[dict[str, str]]:
    content = b"".join(stream(study=study, name=name, member=lead_of(study)).chunks).decode()
    return list(csv.DictReader(io.StringIO(content)))


def test_another_program_draws_the_same_units_from_the_files():
    study = make_study()
    for number in range(1, 31):
        make_issue(study, number=number, repository="octo/spoon", comments=["Same here."] * (number % 3))
    sample = samples.draw(
        study=study,
        method="stratified",
        strata="repository + comments >= 1",
        size=9,
        pilot=3,
        seed=20_260,
        by=lead_of(study),
    )
    first = sample.sample_units.order_by("stratum", "rank").first()
    assert first is not None
    samples.replace(sample=sample, unit=first.unit, reason="Gone.", by=lead_of(study))
    rows, frame = file_of(study, "sample.csv"), file_of(study, "frame.csv")
    pairs = [(row["key"], row["stratum"]) for row in frame]
    assert program()["frame_hash"](pairs) == sample.frame_hash
    drawn = Counter(row["stratum"] for row in rows)
    assert len(drawn) == 2
    # Sample and pilot are shared out over the strata as the page says; the replacement is one more.
    available = Counter(stratum for _, stratum in pairs)
    sizes = program()["allocate"](9, available, available)
    left = {stratum: available[stratum] - sizes[stratum] for stratum in available}
    for_pilot = program()["allocate"](3, left, left)
    assert {s: sizes[s] + for_pilot[s] + (s == first.stratum) for s in sizes} == drawn
    again = program()["draw"](pairs, drawn, sample.seed)
    in_files = {stratum: [row for row in rows if row["stratum"] == stratum] for stratum in drawn}
    units = {row["key"]: row["unit"] for row in frame}
    for stratum, keys in again.items():
        ranked = sorted(in_files[stratum], key=lambda row: int(row["rank"]))
        assert [units[key] for key in keys] == [row["unit"] for row in ranked]
    # The sample, those for the pilot alone after it, and the replacement last.
    assert Counter(row["drawn"] for row in rows) == {"draw": 9, "pilot": 3, "replacement": 1}
    assert [row["replaced_by"] for row in rows if row["replaced_by"]] == [
        row["unit"] for row in rows if row["drawn"] == "replacement"
    ]
