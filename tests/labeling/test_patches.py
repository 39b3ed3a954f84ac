"""A patch as numbered lines."""

from labeling.patches import patch_lines

PATCH = "@@ -3,2 +3,3 @@ int main()\n a\n-b\n+c\n+d\n\\ No newline at end of file"


def test_lines_carry_their_numbers_before_and_after():
    assert [(line.kind, line.old, line.new) for line in patch_lines(PATCH)] == [
        ("hunk", None, None),
        ("ctx", 3, 3),
        ("del", 4, None),
        ("add", None, 4),
        ("add", None, 5),
        ("ctx", None, None),
    ]


def test_the_lines_together_are_the_patch():
    assert "\n".join(line.text for line in patch_lines(PATCH)) == PATCH
