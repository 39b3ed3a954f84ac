"""New categories per batch of units."""

from labeling.charts.saturation import saturation


def test_a_category_is_new_in_the_first_batch_that_has_it():
    found = saturation([{"a"}, {"b", "a"}, {"a"}, {"c"}, {"a"}], 2)
    assert [(each.first, each.last, each.new, each.total) for each in found.batches] == [
        (1, 2, ("a", "b"), 2),
        (3, 4, ("c",), 3),
        (5, 5, (), 3),
    ]
    assert found.quiet == 1


def test_the_bars_are_as_high_as_what_is_new_and_the_line_ends_at_the_top():
    found = saturation([{"a"}, {"b"}, {"c"}, {"d"}], 2)
    assert [bar.height for bar in found.bars] == ["46.0", "46.0"]
    assert found.line == "56.0,58.0 160.0,12.0"


def test_units_without_categories_and_no_units_at_all_are_drawn_too():
    assert saturation([], 10).batches == ()
    assert saturation([set(), set()], 10).batches[0].total == 0
