"""Words for the size of a coefficient, as published; never a verdict by themselves.

Published bounds have gaps (.20, then .21). Here they are read as half-open intervals on the unrounded value,
each scale with the side on which its authors put the bound.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """Values up to ``upper`` (with it, if ``closed``) that are not in a lower band."""

    upper: float
    closed: bool
    word: str

    def holds(self, value: float) -> bool:
        return value < self.upper or (self.closed and value == self.upper)


@dataclass(frozen=True, slots=True)
class Scale:
    """An interpretation scale: its bands from low to high, and where it comes from."""

    name: str
    citation: str
    bands: tuple[Band, ...]

    def word(self, value: float) -> str:
        """Give the scale's word for a value, however large."""
        return next((band.word for band in self.bands if band.holds(value)), self.bands[-1].word)


def _closed(*bands: tuple[float, str]) -> tuple[Band, ...]:
    return tuple(Band(upper, True, word) for upper, word in bands)


def _open(*bands: tuple[float, str]) -> tuple[Band, ...]:
    return tuple(Band(upper, False, word) for upper, word in bands)


SCALES = {
    "landis_koch": Scale(
        "Landis and Koch (1977)",
        "Landis, J. R., & Koch, G. G. (1977). The measurement of observer agreement for categorical data. "
        "Biometrics, 33(1), 159-174.",
        _open((0.0, "poor"))
        + _closed(
            (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect")
        ),
    ),
    "mchugh": Scale(
        "McHugh (2012)",
        "McHugh, M. L. (2012). Interrater reliability: the kappa statistic. "
        "Biochemia Medica, 22(3), 276-282.",
        _closed((0.2, "none"))
        + _open((0.4, "minimal"), (0.6, "weak"), (0.8, "moderate"))
        + _closed((0.9, "strong"), (1.0, "almost perfect")),
    ),
    "krippendorff": Scale(
        "Krippendorff (2004)",
        "Krippendorff, K. (2004). Content Analysis: An Introduction to Its Methodology (2nd ed.). "
        "Sage. Chapter 11.",
        _open((0.667, "not reliable enough"), (0.8, "tentative conclusions only"))
        + _closed((1.0, "reliable")),
    ),
    "fleiss": Scale(
        "Fleiss (1981)",
        "Fleiss, J. L. (1981). Statistical Methods for Rates and Proportions (2nd ed.). Wiley. Chapter 13.",
        _open((0.4, "poor")) + _closed((0.75, "fair to good"), (1.0, "excellent")),
    ),
    "altman": Scale(
        "Altman (1991)",
        "Altman, D. G. (1991). Practical Statistics for Medical Research. Chapman and Hall. Section 14.3.",
        _closed((0.2, "poor"), (0.4, "fair"), (0.6, "moderate"), (0.8, "good"), (1.0, "very good")),
    ),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A coefficient in the words of a scale, at its value and at the limits of its interval."""

    scale: str
    name: str
    citation: str
    statistic: str
    value: str
    low: str | None
    high: str | None
    words: str


def read(scale: str, statistic: str, value: float, low: float | None, high: float | None) -> Reading:
    """Put a value and its interval into words: "moderate; data compatible with fair to substantial"."""
    if scale not in SCALES:
        raise ValueError(f"There is no scale {scale!r}; choose one of {', '.join(SCALES)}.")
    chosen = SCALES[scale]
    word = chosen.word(value)
    at_low = None if low is None else chosen.word(low)
    at_high = None if high is None else chosen.word(high)
    words = word
    if at_low is not None and at_high is not None and (at_low, at_high) != (word, word):
        span = at_low if at_low == at_high else f"{at_low} to {at_high}"
        words = f"{word}; data compatible with {span}"
    return Reading(scale, chosen.name, chosen.citation, statistic, word, at_low, at_high, words)
