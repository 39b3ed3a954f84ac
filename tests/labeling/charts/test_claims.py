"""What may be claimed of the goal, and what repositories say, from the payloads of reports."""

import pytest

from labeling.charts.claims import claims
from labeling.charts.clusters import cluster_rows
from labeling.charts.coefficients import coefficient_table
from labeling.charts.names import COEFFICIENTS, coefficient_name
from tests.labeling.charts.test_dimensions import FOUR, payload


def claim(key, lower, p):
    return {"key": key, "claim": {"goal": 0.7, "lower": lower, "p": p}}


def test_all_reach_needs_no_correction_and_single_ones_do():
    found = claims([claim("a", 0.71, 0.04), claim("b", 0.72, 0.03), claim("c", 0.8, 0.001)])
    assert found.all_reach
    assert found.reaching == ("c",)
    assert found.rows[1].p == pytest.approx(0.06)


def test_one_limit_below_the_goal_refutes_the_claim_of_all():
    assert not claims([claim("a", 0.9, 0.001), claim("b", 0.69, 0.06)]).all_reach


def test_a_dimension_without_limit_cannot_be_claimed():
    found = claims([claim("a", 0.9, 0.001), claim("b", None, None)])
    assert (found.all_reach, found.reaching, found.without_limit) == (False, ("a",), ("b",))


def test_reports_of_older_versions_have_no_claims_and_no_clusters():
    old = {key: value for key, value in payload(FOUR).items() if key not in ("claim", "clusters")}
    assert claims([old]) is None
    assert cluster_rows([old]) == ()


def test_clusters_are_read_from_the_report():
    long = {coder: answers * 5 for coder, answers in FOUR.items()}
    homes = {f"u{place}": f"o/r{place % 3}" for place in range(20)}
    data = payload(long, clusters=homes)
    (row,) = cluster_rows([data])
    assert (row.clusters, row.are_few) == (3, True)
    assert row.over_clusters.value == data["kappa"]["value"]
    assert row.pooled.value == data["clusters"]["pooled"]["value"]
    assert row.p == data["clusters"]["homogeneity"]["p"]


def test_every_coefficient_of_every_kind_of_answer_has_a_name():
    three = FOUR | {"cyd": ["hang", "crash", "hang", "crash"]}
    sets = {coder: [frozenset([each]) for each in answers] for coder, answers in FOUR.items()}
    tree = {"crash": "bad", "hang": "bad"}
    for data in (
        payload(FOUR, parents=tree),
        payload(three),
        payload(FOUR, kind="ordinal"),
        payload(three, kind="ordinal"),
        payload(sets, kind="multiple"),
    ):
        table = coefficient_table(data)
        assert sum(row.is_headline for row in table.rows) == 1
        for row in table.rows:
            assert row.interval.statistic.removeprefix("level1.").removesuffix("_bca") in COEFFICIENTS
    assert coefficient_name("level1.cohen_kappa") == "Upper level: Cohen's κ"
