"""The sentences for a paper say what a low kappa means where it misleads."""

from labeling.paper import PaperFacts, paper_sentence
from tests.labeling.charts.test_dimensions import FOUR, payload

MINUS = "\N{MINUS SIGN}"
HIGH = {"ada": ["crash"] * 19 + ["hang"], "ben": ["crash"] * 18 + ["hang", "crash"]}
FLAT = {"ada": ["crash"] * 20, "ben": ["crash"] * 18 + ["hang"] * 2}


def sentence(dimension, eligibility=None, **fields):
    facts = {
        "payload": {"dimensions": [payload(dimension)], "eligibility": eligibility},
        "names": {"symptom": "Symptom"},
        "coders": 2,
        "states_count": True,
        "disagreed": 0,
        "undecided": 0,
        "settled_by": frozenset(),
        "after_unblinding": False,
    }
    return paper_sentence(PaperFacts(**(facts | fields))).text


def test_a_kappa_that_prevalence_makes_low_has_ac1_beside_it():
    text = sentence(HIGH)
    ac1 = payload(HIGH)["ac1"]["value"]
    assert f"κ was {MINUS}0.05" in text
    assert f"(Gwet's AC1 {ac1:.2f}; one category prevails)" in text
    assert "AC1" not in sentence(FOUR)


def test_eligibility_with_one_coder_who_excluded_nothing_claims_no_kappa():
    text = sentence(FOUR, payload(FLAT))
    assert "agreed for 90.00% of the issues (κ is 0 however often they agree" in text


def test_eligibility_where_nearly_all_is_kept_has_ac1_beside_kappa():
    assert f"κ {MINUS}0.05 and Gwet's AC1" in sentence(FOUR, payload(HIGH))
    assert "AC1" not in sentence(FOUR, payload(FOUR))


def test_the_intervals_are_named_once():
    text = sentence(FOUR)
    assert text.count("Intervals are bootstrap percentiles over issues (200 resamples).") == 1


def test_no_negative_number_has_a_hyphen():
    assert "-0." not in sentence(HIGH, payload(HIGH))
