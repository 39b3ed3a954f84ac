"""The finished report: what pages, files and the API read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeling.agreement.cautions import Caution
from labeling.agreement.claims import Claim
from labeling.agreement.clusters import ClusterReport
from labeling.agreement.dimension import Kind
from labeling.agreement.scale import Reading
from labeling.agreement.statistic import Statistic


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two coders on the units both coded: ``kappa`` is the statistic named ``statistic``."""

    coder_a: str
    coder_b: str
    n: int
    observed: Statistic
    statistic: str
    kappa: Statistic


@dataclass(frozen=True, slots=True)
class Matrix:
    """Who chose what: ``counts[i][j]`` units where A chose category i and B category j."""

    coder_a: str
    coder_b: str
    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """One category against all others.

    ``n`` answers chose it. ``n_a``, ``n_b`` and ``both`` are units of two coders, None with more. ``kappa``
    is Cohen's with two coders, Fleiss' with more, Light's mean for multiple choice (``statistic`` names it).
    """

    category: str
    n: int
    n_a: int | None
    n_b: int | None
    both: int | None
    positive_agreement: float | None
    statistic: str
    kappa: Statistic


@dataclass(frozen=True, slots=True)
class DimensionReport:
    """Everything about one dimension. ``undefined`` says why where there is no number at all.

    ``clusters`` is None unless units of several clusters are pooled.
    """

    key: str
    kind: Kind
    headline: str | None
    coders: tuple[str, ...]
    n_units: int
    n_both: int
    left_out: Mapping[str, int]
    k: int
    conditional: bool
    observed: Statistic
    statistics: Mapping[str, Statistic]
    pairs: Sequence[PairReport]
    matrix: Sequence[Matrix]
    categories: Sequence[CategoryReport]
    undefined: str | None
    warnings: Sequence[Caution]
    reading: Reading | None
    seed: int
    draws: int
    claim: Claim | None = None
    clusters: ClusterReport | None = None


@dataclass(frozen=True, slots=True)
class RoundReport:
    """Eligibility first, over all units both answered, then every dimension over the units both kept."""

    eligibility: DimensionReport | None
    dimensions: Sequence[DimensionReport]
