"""The vectors of docs/sampling.md, checked with the application and with the program of that page."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from labeling import sampling

ROOT = Path(__file__).parents[3]
VECTORS: dict[str, Any] = json.loads((ROOT / "tests/data/sampling_vectors.json").read_text(encoding="utf-8"))
FRAME: dict[str, str] = dict(VECTORS["frame"])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Names defined by the program printed in docs/sampling.md."""
    text = (ROOT / "docs/sampling.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert "labeling" not in program
    path = tmp_path_factory.mktemp("page") / "redraw.py"
    path.write_text(program, encoding="utf-8")
    return runpy.run_path(str(path))


@pytest.mark.parametrize("vector", VECTORS["scores"])
def test_scores(vector, page) -> None:
    assert sampling.score(vector["seed"], vector["message"]).hex() == vector["score"]
    assert page["score"](vector["seed"], vector["message"]) == vector["score"]


def test_ranking_and_frame_hash(page) -> None:
    vector = VECTORS["ranking"]
    assert sampling.ranking(FRAME, vector["seed"]) == vector["keys"]
    assert page["ranking"](FRAME, vector["seed"]) == vector["keys"]
    assert sampling.frame_hash(FRAME) == VECTORS["frame_hash"]
    assert page["frame_hash"](VECTORS["frame"]) == VECTORS["frame_hash"]


def test_a_stratified_draw(page) -> None:
    vector = VECTORS["stratified"]
    drawn = sampling.draw_stratified(FRAME, vector["sizes"], vector["seed"])
    assert {stratum: [one.key for one in ranked] for stratum, ranked in drawn.items()} == vector["drawn"]
    assert page["draw"](VECTORS["frame"], vector["sizes"], vector["seed"]) == vector["drawn"]


def test_a_top_up() -> None:
    vector = VECTORS["top_up"]
    more = sampling.next_ranks(FRAME, vector["stratum"], vector["taken"], vector["count"], vector["seed"])
    assert [[one.key, one.rank] for one in more] == vector["ranks"]


@pytest.mark.parametrize("vector", VECTORS["top_up_sizes"])
def test_the_sizes_of_strata_after_a_top_up(vector, page) -> None:
    asked = (vector["weights"], vector["room"], vector["have"], vector["count"])
    assert sampling.allocate_top_up(*asked) == vector["sizes"]
    assert page["top_up"](asked[3], *asked[:3]) == vector["sizes"]


@pytest.mark.parametrize("vector", VECTORS["allocations"])
def test_allocations(vector, page) -> None:
    if vector["method"] == "numbers":
        sizes = sampling.allocate_numbers(vector["available"], vector["numbers"])
    else:
        allocate = {"proportional": sampling.allocate_proportional, "equal": sampling.allocate_equal}
        sizes = allocate[vector["method"]](vector["available"], vector["size"])
    assert sizes == vector["sizes"]
    available = vector["available"]
    weights = {
        "numbers": vector.get("numbers"),
        "proportional": available,
        "equal": dict.fromkeys(available, 1),
    }[vector["method"]]
    size = vector.get("size") or sum(weights.values())
    assert page["allocate"](size, weights, available) == vector["sizes"]


def test_overlap(page) -> None:
    vector = VECTORS["overlap"]
    picked = sampling.overlap_units(vector["refs_by_stratum"], float(vector["overlap"]), vector["seed"])
    assert sorted(picked) == vector["refs"]
    assert (
        sorted(page["overlap"](vector["refs_by_stratum"], vector["overlap"], vector["seed"]))
        == vector["refs"]
    )


def test_dealing(page) -> None:
    vector = VECTORS["dealing"]
    inputs = (vector["refs"], vector["coders"], vector["per_unit"], vector["overlap"], vector["seed"])
    expected = {int(coder): refs for coder, refs in vector["dealt"].items()}
    assert sampling.deal_units(*inputs) == expected
    assert page["deal"](*inputs) == expected


def test_a_long_deal_agrees_with_the_page(page) -> None:
    refs = [f"o/r#{number}" for number in range(120)]
    inputs = (refs, [1, 2, 4, 7, 9], 3, set(refs[:70]), 99)
    assert page["deal"](*inputs) == sampling.deal_units(*inputs)


@pytest.mark.parametrize("vector", VECTORS["sizes"])
def test_sizes(vector) -> None:
    assert (
        sampling.sample_size(vector["population"], vector["confidence"], vector["margin"]) == vector["size"]
    )
