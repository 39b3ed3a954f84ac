"""Repositories as clusters of units: interval over clusters, pooled kappa, homogeneity."""

import math

import numpy as np
import pytest
from scipy import stats

from labeling.agreement.kappa import standard_errors
from labeling.agreement.probability import chi_squared_tail, holm, two_sided
from labeling.agreement.report import summarise, to_payload
from tests.labeling.agreement.test_report import ADA, BEN, CYD, make_data

TWO = ("crash", "hang")


def rows_of(table):
    return [(TWO[i], TWO[j]) for i in range(2) for j in range(2) for _ in range(table[i][j])]


def clustered(*tables, **changes):
    """Make one repository of each 2 x 2 table."""
    rows = [row for table in tables for row in rows_of(table)]
    homes = [f"o/r{place}" for place, table in enumerate(tables) for _ in rows_of(table)]
    clusters = {f"u{place}": home for place, home in enumerate(homes)}
    return make_data(*rows, categories=TWO, clusters=clusters, **changes)


TABLES = ([[20, 5], [3, 12]], [[9, 6], [7, 8]], [[30, 2], [1, 17]])


def test_pooled_kappa_weighs_repositories_by_their_precision():
    report = summarise(clustered(*TABLES)).clusters
    errors = [standard_errors(np.array(table)) for table in TABLES]
    weights = [each.ase**-2 for each in errors]
    pooled = sum(w * each.kappa for w, each in zip(weights, errors, strict=True)) / sum(weights)
    assert report.clusters == 3
    assert report.pooled.value == pytest.approx(pooled)
    half = 1.959963984540054 / math.sqrt(sum(weights))
    assert (report.pooled.ci_low, report.pooled.ci_high) == pytest.approx((pooled - half, pooled + half))
    chi = sum(w * (each.kappa - pooled) ** 2 for w, each in zip(weights, errors, strict=True))
    assert report.homogeneity.chi_squared == pytest.approx(chi)
    assert report.homogeneity.degrees == 2
    assert report.homogeneity.p == pytest.approx(stats.chi2.sf(chi, 2))


def test_a_repository_without_disagreement_is_named_not_pooled():
    report = summarise(clustered(*TABLES, [[4, 0], [0, 4]])).clusters
    assert report.left_out == ("o/r3",)
    assert report.homogeneity.degrees == 2


def test_resampling_repositories_gives_what_a_plain_loop_gives():
    data = clustered(*TABLES, *TABLES, draws=4000)
    report = summarise(data)
    random = np.random.default_rng(5)
    tables = np.array([*TABLES, *TABLES])
    loop = [standard_errors(tables[random.integers(6, size=6)].sum(axis=0)).kappa for _ in range(4000)]
    found = report.clusters.headline
    assert found.value == report.statistics["cohen_kappa"].value
    assert (found.ci_low, found.ci_high) == pytest.approx(np.quantile(loop, [0.025, 0.975]), abs=0.02)


def test_units_that_resemble_their_repository_widen_the_interval():
    good, bad = [[10, 0], [0, 10]], [[5, 5], [5, 5]]
    report = summarise(clustered(good, bad, good, bad, good, bad))
    wide, narrow = report.clusters.headline, report.statistics["cohen_kappa"]
    assert wide.ci_high - wide.ci_low > 1.3 * (narrow.ci_high - narrow.ci_low)


def test_one_repository_has_no_interval_over_repositories():
    assert summarise(clustered(TABLES[0])).clusters is None
    assert to_payload(summarise(clustered(TABLES[0])))["clusters"] is None


def test_three_coders_have_an_interval_and_no_pooled_kappa():
    rows = [("crash", "crash", "hang"), ("hang", "hang", "hang"), ("crash", "hang", "crash")] * 8
    clusters = {f"u{place}": f"o/r{place % 5}" for place in range(len(rows))}
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD), clusters=clusters)).clusters
    assert report.pooled.value is None
    assert "two coders" in report.pooled.undefined
    assert report.headline.ci_low < report.headline.value < report.headline.ci_high


def test_sets_are_resampled_by_repository_too():
    sets = [frozenset(each) for each in (["crash"], ["hang"], ["crash", "hang"], [])]
    rows = [(sets[place % 4], sets[place % 3]) for place in range(24)]
    clusters = {f"u{place}": f"o/r{place % 5}" for place in range(24)}
    report = summarise(make_data(*rows, kind="multiple", clusters=clusters))
    assert report.clusters.headline.value == report.statistics["krippendorff_alpha_masi"].value
    assert report.clusters.headline.ci_low is not None


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 201])
@pytest.mark.parametrize("value", [0.0, 0.3, 3.84, 25.0, 260.0])
def test_the_tail_of_chi_squared_is_that_of_scipy(value, degrees):
    assert chi_squared_tail(value, degrees) == pytest.approx(stats.chi2.sf(value, degrees), abs=1e-12)


def test_the_tail_of_the_normal_distribution_is_that_of_scipy():
    assert two_sided(-1.7) == pytest.approx(2 * stats.norm.sf(1.7))


def test_holm_adjusts_the_smallest_p_most_and_keeps_the_order():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}


# Claims


def test_the_lower_limit_is_the_fifth_percentile_and_lies_above_the_two_sided_one():
    report = summarise(clustered([[40, 4], [3, 33]]))
    assert report.claim.goal == 0.7
    assert (
        report.statistics["cohen_kappa"].ci_low < report.claim.lower < report.statistics["cohen_kappa"].value
    )


def test_a_claim_holds_at_five_percent_exactly_where_its_lower_limit_reaches_the_goal():
    plain = summarise(clustered([[40, 4], [3, 33]]))
    near = summarise(clustered([[40, 4], [3, 33]], goal=plain.claim.lower - 0.02))
    beyond = summarise(clustered([[40, 4], [3, 33]], goal=plain.claim.lower + 0.02))
    assert near.claim.p < 0.05 < beyond.claim.p


def test_without_disagreement_no_claim_is_made():
    claim = summarise(clustered([[10, 0], [0, 10]])).claim
    assert (claim.lower, claim.p) == (None, None)
