"""The same numbers from scikit-learn, statsmodels, krippendorff and irrCAC, on random answers."""

import warnings
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from irrCAC import raw
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats import inter_rater

from labeling.agreement.figures import SingleChoice
from labeling.agreement.ratings import NOT_CODED, IntArray, Ratings

SEEDS = range(8)
K = 5


def answers(seed: int, coders: int, missing: float = 0.0, n: int = 60) -> IntArray:
    """Draw answers that agree more often than by chance, every category used by everyone."""
    random = np.random.RandomState(seed)
    truth = random.randint(K, size=(n, 1))
    grid = np.where(random.rand(n, coders) < 0.6, truth, random.randint(K, size=(n, coders)))
    grid[:K] = np.arange(K)[:, None]
    grid[random.rand(n, coders) < missing] = NOT_CODED
    return grid


def figures_of(grid: IntArray) -> dict[str, Any]:
    coders = tuple(f"c{place}" for place in range(grid.shape[1]))
    return SingleChoice(Ratings.from_codes(grid, K), tuple(map(str, range(K))), coders).figures()


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_has_the_same_kappa_and_specific_agreement(seed) -> None:
    grid = answers(seed, 2)
    figures, (first, second) = figures_of(grid), grid.T
    assert figures["cohen_kappa"] == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(first, second, labels=range(K), weights=weights)
        assert figures[f"weighted_kappa_{weights}"] == pytest.approx(expected, abs=1e-12)
    expected = f1_score(first, second, labels=range(K), average=None)
    assert list(figures["specific_agreement"].values()) == pytest.approx(expected)
    for category, value in figures["category_kappa"].items():
        one = cohen_kappa_score(first == int(category), second == int(category))
        assert value == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_statsmodels_has_the_same_standard_errors_and_interval(seed) -> None:
    figures = figures_of(answers(seed, 2))
    table = np.array(figures["confusion"])
    plain = inter_rater.cohens_kappa(table)
    assert figures["cohen_kappa"] == pytest.approx(plain.kappa, abs=1e-12)
    assert figures["kappa_max"] == pytest.approx(plain.kappa_max, abs=1e-12)
    assert figures["cohen_kappa_se"] == pytest.approx(plain.std_kappa, abs=1e-12)
    assert figures["cohen_kappa_se0"] == pytest.approx(plain.std_kappa0, abs=1e-12)
    assert figures["cohen_kappa_ci95"] == pytest.approx([plain.kappa_low, plain.kappa_upp], abs=1e-9)
    for name, wt in (("linear", "linear"), ("quadratic", "quadratic")):
        weighted = inter_rater.cohens_kappa(table, wt=wt)
        assert figures[f"weighted_kappa_{name}"] == pytest.approx(weighted.kappa, abs=1e-12)
        assert figures[f"weighted_kappa_{name}_se"] == pytest.approx(weighted.std_kappa, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_statsmodels_has_the_same_fleiss_kappa(seed) -> None:
    grid = answers(seed, 4)
    counts, _ = inter_rater.aggregate_raters(grid, n_cat=K)
    assert figures_of(grid)["fleiss_kappa"] == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("coders", "missing"), [(2, 0.0), (2, 0.2), (4, 0.3)])
def test_krippendorff_has_the_same_alpha(seed, coders, missing) -> None:
    grid = answers(seed, coders, missing)
    figures = figures_of(grid)
    data = np.where(grid == NOT_CODED, np.nan, grid).T
    for level in ("nominal", "ordinal"):
        expected = krippendorff.alpha(data, level_of_measurement=level, value_domain=list(range(K)))
        assert figures[f"krippendorff_alpha_{level}"] == pytest.approx(expected, abs=1e-12)


def irrcac_values(grid: IntArray) -> dict[str, float]:
    frame = pd.DataFrame(np.where(grid == NOT_CODED, np.nan, grid))
    categories = list(range(K))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it writes into copies of data frames
        results = {
            "gwet_ac1": raw.CAC(frame, categories=categories).gwet(),
            "gwet_ac2_linear": raw.CAC(frame, weights="linear", categories=categories).gwet(),
            "gwet_ac2_quadratic": raw.CAC(frame, weights="quadratic", categories=categories).gwet(),
            "fleiss_kappa_general": raw.CAC(frame, categories=categories).fleiss(),
        }
    return {name: result["est"]["coefficient_value"] for name, result in results.items()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("coders", "missing"), [(2, 0.0), (2, 0.2), (4, 0.3)])
def test_irrcac_has_the_same_gwet_and_fleiss_coefficients(seed, coders, missing) -> None:
    grid = answers(seed, coders, missing)
    figures = figures_of(grid)
    for name, value in irrcac_values(grid).items():
        assert figures[name] == pytest.approx(value, abs=6e-6), name  # it rounds to five digits
