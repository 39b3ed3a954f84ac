"""Words for coefficients: the bounds of each scale, on unrounded values."""

import pytest

from labeling.agreement.scale import SCALES, read


@pytest.mark.parametrize(
    ("scale", "value", "word"),
    [
        ("landis_koch", -0.01, "poor"),
        ("landis_koch", 0.0, "slight"),
        ("landis_koch", 0.2, "slight"),
        ("landis_koch", 0.2001, "fair"),
        ("landis_koch", 0.205, "fair"),
        ("landis_koch", 0.4, "fair"),
        ("landis_koch", 0.6, "moderate"),
        ("landis_koch", 0.8, "substantial"),
        ("landis_koch", 0.81, "almost perfect"),
        ("landis_koch", 1.0, "almost perfect"),
        ("mchugh", 0.2, "none"),
        ("mchugh", 0.39, "minimal"),
        ("mchugh", 0.4, "weak"),
        ("mchugh", 0.6, "moderate"),
        ("mchugh", 0.8, "strong"),
        ("mchugh", 0.9, "strong"),
        ("mchugh", 0.901, "almost perfect"),
        ("krippendorff", 0.6669, "not reliable enough"),
        ("krippendorff", 0.667, "tentative conclusions only"),
        ("krippendorff", 0.8, "reliable"),
        ("fleiss", 0.399, "poor"),
        ("fleiss", 0.4, "fair to good"),
        ("fleiss", 0.75, "fair to good"),
        ("fleiss", 0.751, "excellent"),
        ("altman", 0.2, "poor"),
        ("altman", 0.61, "good"),
        ("altman", 0.81, "very good"),
    ],
)
def test_a_bound_belongs_to_the_side_its_authors_put_it(scale, value, word) -> None:
    assert SCALES[scale].word(value) == word


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_has_a_word_for_every_value_and_a_citation(scale) -> None:
    bands = SCALES[scale].bands
    assert [band.upper for band in bands] == sorted({band.upper for band in bands})
    assert bands[-1].upper == 1
    assert SCALES[scale].word(1.3) == bands[-1].word  # the upper limit of an interval is not cut at 1
    assert SCALES[scale].word(-2) == bands[0].word
    assert any(character.isdigit() for character in SCALES[scale].citation)


def test_a_reading_says_what_the_data_are_compatible_with() -> None:
    reading = read("landis_koch", "cohen_kappa", 0.55, 0.35, 0.72)
    assert reading.words == "moderate; data compatible with fair to substantial"
    assert (reading.value, reading.low, reading.high) == ("moderate", "fair", "substantial")


def test_a_reading_without_doubt_or_interval_is_one_word() -> None:
    assert read("landis_koch", "cohen_kappa", 0.5, 0.45, 0.55).words == "moderate"
    assert read("landis_koch", "cohen_kappa", 1.0, None, None).words == "almost perfect"


def test_an_unknown_scale_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="landis_koch"):
        read("landis", "cohen_kappa", 0.5, None, None)
