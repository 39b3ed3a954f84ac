from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.sampling import Ranked, draw_sample, draw_stratified, frame_hash, next_ranks, ranking, score

seeds = st.integers(min_value=0, max_value=2**63 - 1)
keys = st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=40)
frames = st.dictionaries(st.text(min_size=1, max_size=12), st.sampled_from(["a", "b", "c"]), max_size=40)


def test_a_score_has_32_bytes_and_depends_on_seed_and_message() -> None:
    assert score(1, "x") != score(2, "x")
    assert len(score(1, "x")) == 32
    assert score(12, "3") != score(1, "23")


@given(keys, seeds, st.randoms())
def test_the_same_seed_gives_the_same_sample_whatever_the_order_of_the_corpus(keys, seed, random) -> None:
    shuffled = list(keys)
    random.shuffle(shuffled)
    assert draw_sample(keys, len(keys) // 2, seed) == draw_sample(shuffled, len(keys) // 2, seed)


@given(keys, seeds)
def test_a_larger_sample_begins_with_the_smaller_one(keys, seed) -> None:
    assert draw_sample(keys, len(keys), seed)[: len(keys) // 3] == draw_sample(keys, len(keys) // 3, seed)


def test_another_seed_gives_another_sample() -> None:
    corpus = [f"github.com/o/r#{number}" for number in range(200)]
    assert set(draw_sample(corpus, 20, 1)) != set(draw_sample(corpus, 20, 2))


@given(
    st.sets(st.integers(0, 500), min_size=10, max_size=60), st.sets(st.integers(501, 900), max_size=5), seeds
)
def test_each_issue_added_to_the_corpus_moves_at_most_one_issue_out(numbers, added, seed) -> None:
    before = set(draw_sample([f"o/r#{n}" for n in numbers], 10, seed))
    after = set(draw_sample([f"o/r#{n}" for n in numbers | added], 10, seed))
    assert len(before - after) <= len(added)
    assert after - before <= {f"o/r#{n}" for n in added}


def test_every_issue_is_drawn_about_equally_often() -> None:
    corpus = [f"github.com/o/r#{number}" for number in range(20)]
    drawn = Counter(key for seed in range(2000) for key in draw_sample(corpus, 5, seed))
    # 500 expected, standard deviation 19.4: a limit of five deviations.
    assert all(abs(drawn[key] - 500) < 97 for key in corpus)


@given(frames, seeds)
def test_ranks_count_from_one_within_each_stratum(frame, seed) -> None:
    available = Counter(frame.values())
    drawn = draw_stratified(frame, available, seed)
    for stratum, ranked in drawn.items():
        assert [one.rank for one in ranked] == list(range(1, available[stratum] + 1))
        assert {frame[one.key] for one in ranked} == {stratum}


@given(frames.filter(bool), seeds, st.data())
def test_a_top_up_continues_the_draw_and_never_draws_again(frame, seed, data) -> None:
    stratum = next(iter(frame.values()))
    members = Counter(frame.values())[stratum]
    size = data.draw(st.integers(0, members))
    count = data.draw(st.integers(0, members - size))
    taken = [one.key for one in draw_stratified(frame, {stratum: size}, seed)[stratum]]
    more = next_ranks(frame, stratum, taken, count, seed)
    assert not {one.key for one in more} & set(taken)
    whole = draw_stratified(frame, {stratum: size + count}, seed)[stratum]
    assert [one.key for one in whole] == taken + [one.key for one in more]


def test_a_replacement_skips_what_was_replaced_before() -> None:
    frame = dict.fromkeys(("k1", "k2", "k3", "k4"), "all")
    order = ranking(frame, 5)
    (first,) = next_ranks(frame, "all", order[:2], 1, 5)
    (second,) = next_ranks(frame, "all", [*order[:2], first.key], 1, 5)
    assert (first, second) == (Ranked(order[2], 3), Ranked(order[3], 4))


@given(frames)
def test_the_frame_hash_does_not_depend_on_the_order_of_the_frame(frame) -> None:
    assert frame_hash(frame) == frame_hash(dict(reversed(frame.items())))


def test_the_frame_hash_tells_apart_what_looks_alike_when_joined() -> None:
    hashes = {
        frame_hash({"ab": "c"}),
        frame_hash({"a": "bc"}),
        frame_hash({"a": "b", "c": ""}),
        frame_hash({}),
    }
    assert len(hashes) == 4


def test_a_sample_larger_than_the_corpus_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match="3 issues were asked for, 2 can be drawn"):
        draw_sample(["a", "b"], 3, 1)
    with pytest.raises(ValueError, match="2 issues were asked for in x, 1 can be drawn"):
        draw_stratified({"a": "x", "b": "y"}, {"x": 2}, 1)
    with pytest.raises(ValueError, match="1 issues were asked for in x, 0 can be drawn"):
        next_ranks({"a": "x"}, "x", ["a"], 1, 1)


def test_a_negative_size_a_repeated_key_and_an_unknown_stratum_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        draw_sample(["a"], -1, 1)
    with pytest.raises(ValueError, match="stands twice"):
        ranking(["a", "a"], 1)
    with pytest.raises(ValueError, match="No issue belongs to y"):
        draw_stratified({"a": "x"}, {"y": 0}, 1)
