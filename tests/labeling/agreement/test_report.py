"""The report of one dimension: what is shown, what is left out, and what is said about it."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from labeling.agreement.report import (
    DimensionData,
    DimensionReport,
    format_two,
    round_payload,
    summarise,
    summarise_round,
    to_payload,
)

ADA, BEN, CYD = "ada", "ben", "cyd"
PAYLOAD_KEYS = {
    "key",
    "kind",
    "headline",
    "n_units",
    "n_both",
    "left_out",
    "k",
    "conditional",
    "observed",
    "statistics",
    "kappa",
    "ac1",
    "alpha",
    "pairs",
    "matrix",
    "categories",
}


def make_data(*rows: Any, coders: tuple[str, ...] = (ADA, BEN), **changes: Any) -> DimensionData:
    """Make a dimension with one unit per row, each row one answer per coder, None for none."""
    values = {
        (f"u{place}", coder): answer
        for place, row in enumerate(rows)
        for coder, answer in zip(coders, row, strict=True)
        if answer is not None
    }
    plain = DimensionData(
        key="symptom",
        kind="single",
        categories=("crash", "hang", "slow"),
        states=(),
        coders=coders,
        units=tuple(f"u{place}" for place in range(len(rows))),
        values=values,
        parents={},
        left_out={},
        conditional=False,
        seed=11,
        draws=500,
    )
    return replace(plain, **changes)


def from_table(table: list[list[int]], categories: tuple[str, ...], **changes: Any) -> DimensionData:
    rows = [
        (categories[i], categories[j])
        for i, counts in enumerate(table)
        for j, count in enumerate(counts)
        for _ in range(count)
    ]
    return make_data(*rows, categories=categories, **changes)


def cautions_of(report: DimensionReport) -> set[str]:
    return {caution.key for caution in report.warnings}


MIXED = [("crash", "crash")] * 20 + [("hang", "hang")] * 12 + [("slow", "slow")] * 8 + [("crash", "hang")] * 5


# By hand: (45 * 40 - 768) / (45 * 45 - 768), with 768 = 25 * 20 + 12 * 17 + 8 * 8.
MIXED_KAPPA = 1032 / 1257


def test_two_coders_lead_with_cohens_kappa() -> None:
    report = summarise(make_data(*MIXED))
    kappa = report.statistics["cohen_kappa"]
    assert report.headline == "cohen_kappa"
    assert kappa.value == pytest.approx(MIXED_KAPPA)
    assert kappa.method == "percentile bootstrap over units, 500 draws, seed 11"
    assert kappa.ci_low is not None
    assert kappa.ci_high is not None
    assert kappa.ci_low < 0.82 < kappa.ci_high
    assert report.observed.value == pytest.approx(40 / 45)
    assert report.statistics["cohen_kappa_ci95"].method is not None
    assert (report.n_units, report.n_both, report.k) == (45, 45, 3)


def test_more_coders_lead_with_alpha_and_show_the_pairs() -> None:
    rows = [(a, b, a) for a, b in MIXED] + [("crash", None, "hang"), (None, None, "slow")]
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD)))
    assert report.headline == "krippendorff_alpha_nominal"
    assert "light_kappa" in report.statistics
    assert "cohen_kappa" not in report.statistics
    assert (report.n_units, report.n_both) == (47, 46)
    assert [(pair.coder_a, pair.coder_b, pair.n) for pair in report.pairs] == [
        (ADA, BEN, 45),
        (ADA, CYD, 46),
        (BEN, CYD, 45),
    ]
    assert report.pairs[0].kappa.value == pytest.approx(MIXED_KAPPA)
    assert report.pairs[0].kappa.ci_low is not None
    assert len(report.matrix) == 3
    light = sum(pair.kappa.value or 0 for pair in report.pairs) / 3
    assert report.statistics["light_kappa"].value == pytest.approx(light)


def test_every_unit_by_two_of_three_coders_still_leads_with_alpha() -> None:
    rows = [("crash", "crash", None), (None, "hang", "hang"), ("slow", None, "crash")] * 4
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD)))
    assert report.headline == "krippendorff_alpha_nominal"
    fleiss = report.statistics["fleiss_kappa"]
    assert fleiss.value is None
    assert fleiss.undefined == "Undefined: no unit was coded by all coders."


def test_ordinal_answers_add_weighted_coefficients() -> None:
    report = summarise(make_data(*MIXED, kind="ordinal"))
    assert report.headline == "cohen_kappa"
    assert {"weighted_kappa_linear", "weighted_kappa_quadratic_se", "krippendorff_alpha_ordinal"} <= set(
        report.statistics
    )
    three = summarise(make_data(*[(a, b, b) for a, b in MIXED], coders=(ADA, BEN, CYD), kind="ordinal"))
    assert three.headline == "krippendorff_alpha_ordinal"
    assert "light_weighted_kappa_linear" in three.statistics


def test_states_are_categories_except_where_the_order_counts() -> None:
    states = ("unclear", "not_applicable")
    rows = [*MIXED, ("unclear", "unclear"), ("unclear", "slow"), ("not_applicable", "unclear")]
    with_states = summarise(make_data(*rows, kind="ordinal", states=states))
    without = summarise(make_data(*MIXED, kind="ordinal"))
    assert with_states.k == 5
    assert [one.category for one in with_states.categories] == ["crash", "hang", "slow", *states]
    assert with_states.statistics["cohen_kappa"].value != without.statistics["cohen_kappa"].value
    for name in (
        "weighted_kappa_linear",
        "weighted_kappa_quadratic",
        "weighted_kappa_linear_se",
        "krippendorff_alpha_ordinal",
        "gwet_ac2_linear",
    ):
        assert with_states.statistics[name].value == pytest.approx(without.statistics[name].value), name
    words = next(one.words for one in with_states.warnings if one.key == "states_left_out")
    assert "3 units have one" in words


def test_only_states_leave_the_ordered_coefficients_without_a_value() -> None:
    rows = [("unclear", "unclear")] * 3 + [("crash", "unclear")] * 2
    report = summarise(make_data(*rows, kind="ordinal", states=("unclear",)))
    statistic = report.statistics["weighted_kappa_linear"]
    assert statistic.value is None
    assert statistic.undefined == "Undefined: no unit has two answers this coefficient can use."


SETS = [
    (frozenset({"crash"}), frozenset({"crash"})),
    (frozenset({"crash", "slow"}), frozenset({"crash"})),
    (frozenset({"hang"}), frozenset({"hang"})),
    (frozenset(), frozenset()),
    (frozenset({"slow"}), frozenset({"hang"})),
]


def test_multiple_choice_leads_with_alpha_on_masi_distances() -> None:
    report = summarise(make_data(*SETS * 8, kind="multiple"))
    assert report.headline == "krippendorff_alpha_masi"
    assert report.observed.value == pytest.approx(0.6)
    assert report.matrix == ()
    by_category = [one.kappa.value for one in report.categories if one.kappa.value is not None]
    assert len(by_category) == 3
    assert report.statistics["macro_label_kappa"].value == pytest.approx(sum(by_category) / 3)
    crash = report.categories[0]
    assert (crash.n, crash.n_a, crash.n_b, crash.both, crash.positive_agreement) == (32, 16, 16, 16, 1.0)
    assert report.pairs[0].statistic == "macro_label_kappa"
    assert to_payload(report)["kappa"]["value"] is None
    assert to_payload(report)["alpha"]["value"] == report.statistics["krippendorff_alpha_masi"].value


def test_single_choices_written_as_sets_have_the_nominal_alpha() -> None:
    single = summarise(make_data(*MIXED))
    sets = [tuple(frozenset({answer}) for answer in row) for row in MIXED]
    multiple = summarise(make_data(*sets, kind="multiple"))
    alpha = single.statistics["krippendorff_alpha_nominal"].value
    for name in ("krippendorff_alpha_masi", "krippendorff_alpha_jaccard", "krippendorff_alpha_nominal_sets"):
        assert multiple.statistics[name].value == pytest.approx(alpha), name


def test_three_coders_of_sets_have_pairs_and_their_mean() -> None:
    rows = [(a, b, a) for a, b in SETS * 4] + [(frozenset({"slow"}), None, frozenset({"slow"}))]
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD), kind="multiple"))
    assert [pair.n for pair in report.pairs] == [20, 21, 20]
    assert report.pairs[1].observed.value == 1
    assert report.pairs[1].kappa.value == 1
    assert report.categories[0].n_a is None


def test_a_codebook_of_two_levels_adds_the_level_above() -> None:
    parents = {"crash": "failure", "hang": "failure", "slow": "performance"}
    statistics = summarise(make_data(*MIXED, parents=parents)).statistics
    assert statistics["level1.raw_agreement"].value == 1
    assert statistics["level2_agreement_given_level1_agreement"].value == pytest.approx(40 / 45)
    assert statistics["hierarchical_weighted_kappa_half"].value is not None
    assert "level1.cohen_kappa" in statistics
    assert "level1.observed_agreement" not in statistics


def test_three_coders_have_the_level_above_too() -> None:
    parents = {"crash": "failure", "hang": "failure"}
    rows = [(a, b, b) for a, b in MIXED]
    statistics = summarise(make_data(*rows, coders=(ADA, BEN, CYD), parents=parents)).statistics
    assert statistics["level1.krippendorff_alpha_nominal"].value == 1
    assert statistics["level1.light_kappa"].value == 1


def test_a_pair_that_shares_no_unit_says_so() -> None:
    rows = [("crash", "crash", None), ("hang", "crash", None), (None, "slow", "slow")]
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD)))
    apart = report.pairs[1]
    assert (apart.coder_a, apart.coder_b, apart.n) == (ADA, CYD, 0)
    assert apart.observed.undefined == apart.kappa.undefined == "No unit was coded by two coders."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_data(("a text", "another"), kind="text", categories=()), "Free text"),
        (make_data(*MIXED, categories=(), kind="single"), "No category is declared"),
        (make_data(("crash",), coders=(ADA,)), "at least two coders"),
        (make_data(("crash", None), (None, "hang")), "No unit was coded by two coders"),
        (make_data((frozenset(), None), kind="multiple"), "No unit was coded by two coders"),
        (make_data(), "No unit was coded by two coders"),
    ],
)
def test_without_a_number_there_is_a_reason(data, reason) -> None:
    report = summarise(data)
    assert report.headline is None
    assert report.undefined is not None
    assert reason in report.undefined
    payload = to_payload(report)
    for name in ("observed", "kappa", "ac1", "alpha"):
        assert payload[name]["value"] is None
        assert reason in payload[name]["undefined"]
    assert payload["statistics"] == {}


def test_one_category_leaves_kappa_undefined_and_agreement_1() -> None:
    report = summarise(make_data(*[("crash", "crash")] * 40))
    assert report.observed.value == 1
    assert report.statistics["gwet_ac1"].value == 1
    assert report.statistics["pabak"].value == 1
    for name in ("cohen_kappa", "scott_pi", "krippendorff_alpha_nominal", "kappa_max", "cohen_kappa_se"):
        statistic = report.statistics[name]
        assert statistic.value is None, name
        assert statistic.undefined is not None
        assert "0 divided by 0" in statistic.undefined
    assert report.reading is None
    assert {"one_category", "no_disagreement"} <= cautions_of(report)


def test_one_declared_category_leaves_ac1_and_pabak_undefined_too() -> None:
    report = summarise(make_data(*[("crash", "crash")] * 40, categories=("crash",)))
    for name in ("gwet_ac1", "pabak"):
        assert report.statistics[name].undefined is not None
        assert "fewer than two categories" in str(report.statistics[name].undefined)


def test_perfect_agreement_has_no_interval_but_a_bound_on_disagreement() -> None:
    report = summarise(make_data(*[("crash", "crash")] * 30, *[("hang", "hang")] * 20))
    for name in ("cohen_kappa", "raw_agreement", "gwet_ac1", "cohen_kappa_ci95"):
        statistic = report.statistics[name]
        assert (statistic.value, statistic.ci_low, statistic.method) == (1, None, None), name
    words = next(one.words for one in report.warnings if one.key == "no_disagreement")
    assert "agree on all 50 units" in words
    assert "6.00%" in words


def test_a_constant_coder_is_named_and_kappa_has_no_interval() -> None:
    report = summarise(from_table([[17, 3], [0, 0]], ("yes", "no")))
    assert report.statistics["cohen_kappa"].value == 0
    assert report.statistics["cohen_kappa"].ci_low is None
    assert report.statistics["raw_agreement"].ci_low is not None
    words = next(one.words for one in report.warnings if one.key == "constant_coder")
    assert words.startswith("ada used one category")


def test_a_prevalence_paradox_is_explained() -> None:
    paradox = summarise(from_table([[80, 10], [5, 5]], ("yes", "no")))
    balanced = summarise(from_table([[40, 9], [6, 45]], ("yes", "no")))
    assert "prevalence_paradox" in cautions_of(paradox)
    assert "prevalence_paradox" not in cautions_of(balanced)
    assert paradox.categories[1].positive_agreement == pytest.approx(0.4)


def test_coders_with_different_rates_are_told_the_largest_kappa() -> None:
    report = summarise(from_table([[25, 35], [5, 35]], ("yes", "no")))
    words = next(one.words for one in report.warnings if one.key == "different_rates")
    assert "0.44" in words


def test_few_units_and_rare_categories_are_warned_of() -> None:
    few = summarise(make_data(*MIXED[::3]))
    many = summarise(make_data(*MIXED * 2))
    assert {"small_n", "expected_below_5"} <= cautions_of(few)
    assert not cautions_of(many)


def test_a_bootstrap_that_often_fails_is_called_unreliable() -> None:
    report = summarise(from_table([[18, 1], [0, 1]], ("common", "rare")))
    words = next(one.words for one in report.warnings if one.key == "unreliable_bootstrap")
    assert words.startswith("1")
    assert "not reliable" in words


def test_a_pair_without_kappa_is_counted_as_left_out_of_the_mean() -> None:
    rows = [("crash", "crash", "crash"), ("crash", "crash", "hang")] * 3
    report = summarise(make_data(*rows, coders=(ADA, BEN, CYD)))
    words = next(one.words for one in report.warnings if one.key == "undefined_pairs")
    assert "leaves out 1 of 3 pairs" in words
    assert report.statistics["light_kappa"].value == 0


def test_one_unit_has_values_but_no_interval_and_no_alpha() -> None:
    report = summarise(make_data(("crash", "hang")))
    assert report.statistics["cohen_kappa"].value == 0
    assert all(one.ci_low is None for one in report.statistics.values())
    assert report.statistics["krippendorff_alpha_nominal"].value is None
    assert "at least two units" in str(report.statistics["krippendorff_alpha_nominal"].undefined)


def test_units_one_coder_saw_are_listed_but_do_not_enter_kappa() -> None:
    report = summarise(make_data(*MIXED, ("slow", None)))
    assert (report.n_units, report.n_both) == (46, 45)
    assert report.statistics["cohen_kappa"].value == pytest.approx(MIXED_KAPPA)
    assert report.statistics["gwet_ac1"].value != report.statistics["gwet_ac1_complete"].value


def test_reasons_for_leaving_out_are_counted() -> None:
    report = summarise(
        make_data(*MIXED, left_out={"single": ("u90", "u91"), "missing": ()}, conditional=True)
    )
    assert report.left_out == {"single": 2, "missing": 0}
    assert report.conditional


def test_an_answer_outside_the_choices_is_refused() -> None:
    with pytest.raises(ValueError, match="'fire' is no category of dimension 'symptom'"):
        summarise(make_data(("crash", "fire")))
    with pytest.raises(ValueError, match="no set of categories"):
        summarise(make_data((frozenset({"crash"}), frozenset({"fire"})), kind="multiple"))
    with pytest.raises(ValueError, match="no set of categories"):
        summarise(make_data(("crash", frozenset()), kind="multiple"))


def test_the_same_data_and_seed_give_the_same_report() -> None:
    data = make_data(*MIXED)
    assert to_payload(summarise(data)) == to_payload(summarise(data))
    other = summarise(replace(data, seed=12))
    assert other.statistics["cohen_kappa"].ci_low != summarise(data).statistics["cohen_kappa"].ci_low


def test_the_order_of_units_changes_no_interval() -> None:
    data = make_data(*MIXED)
    turned = replace(data, units=data.units[::-1])
    assert to_payload(summarise(turned)) == to_payload(summarise(data))


def test_without_draws_there_are_values_and_no_bootstrap_intervals() -> None:
    report = summarise(make_data(*MIXED, draws=0))
    assert report.statistics["cohen_kappa"].value == pytest.approx(MIXED_KAPPA)
    assert report.statistics["cohen_kappa"].ci_low is None
    assert report.statistics["cohen_kappa_ci95"].ci_low is not None
    assert "unreliable_bootstrap" not in cautions_of(report)


def test_the_headline_has_its_bca_interval_beside_the_percentiles() -> None:
    report, asked = (summarise(make_data(*MIXED), interval=kind) for kind in ("percentile", "bca"))
    plain, corrected = report.statistics["cohen_kappa"], report.statistics["cohen_kappa_bca"]
    assert (corrected.value, corrected.method) == (plain.value, asked.statistics["cohen_kappa"].method)
    assert (corrected.ci_low, corrected.ci_high) == (
        asked.statistics["cohen_kappa"].ci_low,
        asked.statistics["cohen_kappa"].ci_high,
    )
    assert corrected.ci_low != plain.ci_low


def test_bca_intervals_can_be_asked_for() -> None:
    report = summarise(make_data(*MIXED), interval="bca")
    assert report.statistics["cohen_kappa"].method == "BCa bootstrap over units, 500 draws, seed 11"
    assert report.categories[0].kappa.ci_low is not None


def test_a_reading_names_its_scale() -> None:
    report = summarise(make_data(*MIXED), scale="altman")
    assert report.reading is not None
    assert report.reading.value == "very good"
    assert report.reading.name == "Altman (1991)"


@pytest.mark.parametrize(
    "data",
    [
        make_data(*MIXED),
        make_data(*MIXED, kind="ordinal", states=("unclear",)),
        make_data(*SETS, kind="multiple"),
        make_data(*[(a, b, None) for a, b in MIXED], coders=(ADA, BEN, CYD)),
        make_data(*[("crash", "crash")] * 3),
        make_data(("x", "y"), kind="text"),
    ],
)
def test_a_payload_is_json_without_nan_and_has_the_keys_of_the_api(data) -> None:
    payload = to_payload(summarise(data))
    assert set(payload) >= PAYLOAD_KEYS
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload
    statistics = [*payload["statistics"].values(), payload["kappa"], payload["ac1"], payload["alpha"]]
    for statistic in statistics:
        assert set(statistic) == {"value", "ci_low", "ci_high", "method", "undefined"}
        assert (statistic["value"] is None) == (statistic["undefined"] is not None)
        assert (statistic["ci_low"] is None) == (statistic["method"] is None)


def test_aliases_name_the_coefficients_readers_look_for() -> None:
    two = to_payload(summarise(make_data(*MIXED)))
    assert two["kappa"] == two["statistics"]["cohen_kappa"]
    assert two["ac1"] == two["statistics"]["gwet_ac1"]
    assert two["alpha"] == two["statistics"]["krippendorff_alpha_nominal"]
    three = to_payload(summarise(make_data(*[(a, b, b) for a, b in MIXED], coders=(ADA, BEN, CYD))))
    assert three["kappa"]["value"] is None
    assert three["kappa"]["undefined"] == "per pair"
    assert three["alpha"] == three["statistics"]["krippendorff_alpha_nominal"]


def test_a_round_has_eligibility_before_its_dimensions() -> None:
    eligibility = from_table([[40, 2], [1, 7]], ("kept", "excluded"), key="eligibility")
    payload = round_payload(summarise_round(eligibility, [make_data(*MIXED)]))
    assert payload["eligibility"]["key"] == "eligibility"
    assert [one["key"] for one in payload["dimensions"]] == ["symptom"]
    assert round_payload(summarise_round(None, []))["eligibility"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.894, "0.89"), (-2e-16, "0.00"), (-0.0, "0.00"), (-0.005, "-0.01"), (1.0, "1.00"), (-0.123, "-0.12")],
)
def test_two_decimals_never_show_a_negative_zero(value, text) -> None:
    assert format_two(value) == text


def test_the_package_loads_neither_django_nor_scikit_learn() -> None:
    code = (
        "import sys, labeling.agreement.__main__\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted({'django', 'sklearn', 'scipy', 'pandas'} & loaded))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
