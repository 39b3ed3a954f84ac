"""The content of the demo study: complete, consistent with its own codebook, and varied enough to show."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest

from labeling.codebook_input import read_codebook
from labeling.demo.content import AnswerContent, DimensionAnswer, load_content
from labeling.markdown import render_markdown
from labeling.records import IssueRecord
from labeling.sampling.draw import draw_sample

CONTENT = load_content()
ISSUES = {f"{issue.repository}#{issue.number}": issue for issue in CONTENT.issues}
DIMENSIONS = {dimension.key: dimension for dimension in read_codebook(CONTENT.codebook)}
ANSWERS = [answer for coding_round in CONTENT.rounds for answer in coding_round.answers]
FIRST, SECOND, TRAINING = CONTENT.rounds
HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")

KEEPS = {
    ("state", "is"): lambda issue, value: issue.state == value,
    ("author_kind", "is"): lambda issue, value: issue.author_kind == value,
    ("github_labels", "none"): lambda issue, value: not set(issue.github_labels) & set(value),
    ("has_fix", "is"): lambda issue, value: issue.has_fix is value,
}


def selectable(dimension: str) -> set[str]:
    categories = DIMENSIONS[dimension].categories
    return {category.code for category in categories} - {category.parent for category in categories}


def is_asked(dimension: str, annotations: dict[str, DimensionAnswer]) -> bool:
    condition = DIMENSIONS[dimension].asked_if
    if condition is None:
        return True
    parent = annotations.get(condition["dimension"], DimensionAnswer())
    return bool(set(parent.categories) & set(condition["any_of"]))


def texts_of(issue: IssueRecord) -> dict[str, str]:
    """The texts that quotes are anchored in, by the key of their document."""
    sources = {"body": issue.body} | {f"comment:{each.id}": each.body for each in issue.comments}
    patches = {
        f"fix:{fix.key}:file:{file.path}": file.patch
        for fix in issue.fixes
        for file in fix.files
        if file.patch is not None
    }
    rendered = {
        key: render_markdown(source, repository=issue.repository, host=issue.host).text
        for key, source in sources.items()
    }
    return rendered | patches


def pairs_of(dimension: str) -> list[tuple[DimensionAnswer, DimensionAnswer]]:
    """Both coders' answers of the first round, on the units that both kept and were asked."""
    said = {(answer.unit, answer.coder): answer for answer in FIRST.answers if answer.exclude is None}
    pairs = [(said.get((unit, "ada")), said.get((unit, "ben"))) for unit in {unit for unit, _ in said}]
    return [
        (ada.annotations[dimension], ben.annotations[dimension])
        for ada, ben in pairs
        if ada and ben and dimension in ada.annotations and dimension in ben.annotations
    ]


def kappa(pairs: list[tuple[DimensionAnswer, DimensionAnswer]]) -> float | None:
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    expected = sum(first[value] * second[value] for value in first) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def test_sixty_issues_are_stored_and_each_rule_leaves_some_out_down_to_forty_four():
    left = list(CONTENT.issues)
    counts = [len(left)]
    for rule in CONTENT.study.rules:
        left = [issue for issue in left if KEEPS[rule.field, rule.op](issue, rule.value)]
        counts.append(len(left))
    assert counts[0] == 60
    assert counts[-1] == 44
    assert all(after < before for before, after in pairwise(counts))


def test_issues_have_numbers_of_their_own_and_no_address():
    assert len(ISSUES) == len(CONTENT.issues)
    assert {issue.url for issue in CONTENT.issues} == {None}
    assert {issue.repository for issue in CONTENT.issues} == {
        "lumen-train/lumen",
        "pagedkv/serve",
        "ringwise/comms",
        "tilesmith/kernels",
    }


def test_the_rounds_code_exactly_what_the_seed_draws_for_them():
    eligible = [
        issue.key
        for issue in CONTENT.issues
        if all(KEEPS[rule.field, rule.op](issue, rule.value) for rule in CONTENT.study.rules)
    ]
    sample = CONTENT.study.sample
    drawn = draw_sample(eligible, sample.size + sample.pilot, sample.seed)
    for coding_round in CONTENT.rounds:
        first, last = coding_round.ranks
        units = {key.partition("/")[2] for key in drawn[first - 1 : last]}
        assert {answer.unit for answer in coding_round.answers} <= units
    assert len({answer.unit for answer in FIRST.answers}) == 24
    assert FIRST.ranks[1] + 1 == SECOND.ranks[0]
    assert SECOND.ranks[1] == sample.size
    assert TRAINING.ranks == (sample.size + 1, sample.size + sample.pilot)
    assert sorted(each.unit for each in TRAINING.known) == sorted(
        key.partition("/")[2] for key in drawn[sample.size :]
    )


@pytest.mark.parametrize("issue", CONTENT.issues, ids=list(ISSUES))
def test_the_story_of_an_issue_is_in_order(issue):
    commented = [comment.created_at for comment in issue.comments]
    happened = [event.at for event in issue.timeline]
    closings = [event for event in issue.timeline if event.kind in {"closed", "reopened"}]
    assert [issue.opened_at, *commented] == sorted([issue.opened_at, *commented])
    assert [issue.opened_at, *happened] == sorted([issue.opened_at, *happened])
    assert all(fix.merged_at > issue.opened_at for fix in issue.fixes)
    assert (issue.state == "closed") == (bool(closings) and closings[-1].kind == "closed")
    assert issue.closed_at == (closings[-1].at if issue.state == "closed" else None)
    assert {event.data["label"] for event in issue.timeline if event.kind == "labeled"} <= set(
        issue.github_labels
    )


@pytest.mark.parametrize(
    ("where", "patch"),
    [
        (f"{fix.key} {file.path}", file.patch)
        for issue in CONTENT.issues
        for fix in issue.fixes
        for file in fix.files
        if file.patch is not None
    ],
)
def test_the_hunks_of_a_patch_have_the_lengths_they_announce(where, patch):
    hunks = re.split(r"^(?=@@ )", patch, flags=re.MULTILINE)[1:]
    shift = 0
    for hunk in hunks:
        header, *lines = hunk.rstrip("\n").split("\n")
        (numbers,) = HUNK.findall(header)
        old_start, old, new_start, new = map(int, numbers)
        signs = Counter(line[0] for line in lines)
        assert set(signs) <= {" ", "+", "-"}
        assert (old, new) == (signs[" "] + signs["-"], signs[" "] + signs["+"])
        assert new_start == (1 if old_start == 0 else old_start + shift)
        shift += new - old


def test_every_selectable_category_is_defined_and_has_its_key():
    for dimension in DIMENSIONS.values():
        leaves = [each for each in dimension.categories if each.code in selectable(dimension.key)]
        assert all(each.definition and each.include and each.exclude for each in leaves)
        assert len({each.hotkey for each in leaves}) == len(leaves)
        assert all(each.hotkey for each in leaves)
    assert [each.kind for each in DIMENSIONS.values()] == [
        "single",
        "single",
        "multiple",
        "single",
        "ordinal",
    ]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.unit} {answer.coder}")
def test_an_answer_follows_the_codebook(answer: AnswerContent):
    refuse_what_the_codebook_lacks(answer.annotations)
    if answer.status == "submitted" and answer.exclude is None:
        required = {key for key, dimension in DIMENSIONS.items() if dimension.required}
        assert required <= answer.annotations.keys()
        assert answer.confidence in {"low", "medium", "high"}
    if answer.exclude is not None:
        assert answer.exclude.reason in CONTENT.study.exclusion_reasons


def refuse_what_the_codebook_lacks(annotations: Mapping[str, DimensionAnswer]) -> None:
    for key, said in annotations.items():
        dimension = DIMENSIONS[key]
        assert is_asked(key, dict(annotations))
        assert set(said.categories) <= selectable(key)
        assert len(set(said.categories)) == len(said.categories)
        if said.state == "coded":
            assert len(said.categories) == 1 or dimension.kind == "multiple"
        else:
            assert not said.categories
            assert {"unclear": dimension.allow_unclear, "not_applicable": dimension.allow_not_applicable}[
                said.state
            ]


@pytest.mark.parametrize(
    "answer", [each for each in ANSWERS if each.evidence], ids=lambda each: f"{each.unit} {each.coder}"
)
def test_quotes_stand_once_in_the_text_and_support_what_was_chosen(answer: AnswerContent):
    texts = texts_of(ISSUES[answer.unit])
    for evidence in answer.evidence:
        assert texts[evidence.document].count(evidence.quote) == 1
        chosen = answer.annotations[evidence.dimension].categories
        assert evidence.category in chosen or evidence.category is None


def test_the_coders_disagree_as_much_as_the_agreement_page_should_show():
    assert len(pairs_of("symptom")) == 23
    assert kappa(pairs_of("symptom")) == pytest.approx(0.85, abs=0.03)
    assert kappa(pairs_of("root-cause")) == pytest.approx(0.70, abs=0.04)
    assert kappa(pairs_of("regression")) is None


def test_the_first_round_holds_every_kind_of_difference():
    excluded = Counter(answer.unit for answer in FIRST.answers if answer.exclude)
    states = {said.state for answer in FIRST.answers for said in answer.annotations.values()}
    asked: dict[str, set[str]] = {coder: set() for coder in FIRST.coders}
    for answer in FIRST.answers:
        if is_asked("severity", dict(answer.annotations)) and answer.exclude is None:
            asked[answer.coder].add(answer.unit)
    fixes = [(set(one.categories), set(other.categories)) for one, other in pairs_of("fix")]
    assert list(excluded.values()) == [1]
    assert states == {"coded", "unclear", "not_applicable"}
    assert asked["ada"] - asked["ben"]
    assert any(one != other and one & other for one, other in fixes)
    assert sum(bool(answer.memo) for answer in FIRST.answers) >= 10


def test_the_second_round_is_under_way():
    progress = Counter((answer.coder, answer.status) for answer in SECOND.answers)
    assert progress == {
        ("ada", "submitted"): 6,
        ("ada", "draft"): 1,
        ("ada", "skipped"): 1,
        ("ben", "submitted"): 9,
    }


def test_a_training_shows_matches_and_differences_and_has_units_left():
    known = {each.unit: each for each in TRAINING.known}
    required = {key for key, dimension in DIMENSIONS.items() if dimension.required}
    for each in TRAINING.known:
        refuse_what_the_codebook_lacks(each.annotations)
        assert required <= each.annotations.keys()
        assert each.memo
    told = {
        (answer.coder, answer.unit): answer.annotations == known[answer.unit].annotations
        for answer in TRAINING.answers
    }
    assert set(told.values()) == {True, False}
    assert Counter(coder for coder, _ in told) == {"ada": 3, "ben": 1}


def test_what_is_reconciled_was_disputed_and_by_people_of_the_study():
    people = {member.username for member in CONTENT.study.members}
    said = {(answer.unit, answer.coder): answer for answer in FIRST.answers}
    for dispute in FIRST.disagreements:
        ada, ben = said[dispute.unit, "ada"], said[dispute.unit, "ben"]
        if dispute.dimension == "_unit":
            assert bool(ada.exclude) != bool(ben.exclude)
        else:
            assert ada.annotations[dispute.dimension] != ben.annotations[dispute.dimension]
        turns = [*dispute.proposals, *([dispute.decision] if dispute.decision else [])]
        assert {turn.by for turn in turns} | {comment.by for comment in dispute.comments} <= people
        assert all(turn.rationale for turn in turns)
        for turn in turns:
            if turn.answer is None:
                assert turn.excluded is not None
            else:
                assert set(turn.answer.categories) <= selectable(dispute.dimension)


def test_some_disagreements_are_settled_some_escalated_and_some_open():
    latest = [{turn.by: turn for turn in dispute.proposals} for dispute in FIRST.disagreements]
    settled = [each for each in latest if len(each) == 2 and each["ada"].answer == each["ben"].answer]
    assert len(settled) >= 5
    assert any(turn.escalate for each in latest for turn in each.values())
    assert any(len(each) == 1 for each in latest)


def test_the_texts_show_what_real_threads_hold():
    bodies = [text for issue in CONTENT.issues for text in (issue.body, *(c.body for c in issue.comments))]
    everything = "\n".join(bodies)
    blocks = re.findall(r"^```.*?^```", everything, flags=re.MULTILINE | re.DOTALL)
    assert max(block.count("\n") for block in blocks) > 40
    assert any("\r\n" in body for body in bodies)
    for mark in ("<details", "- [ ]", "|---", "```python", ":tada:", "@"):
        assert mark in everything
    assert re.search(r"#\d{3}", everything)
    assert re.search("[\u4e00-\u9fff]", everything)
    assert re.search("[\u0600-\u06ff]", everything)


def test_comments_and_fixes_are_varied():
    kinds = {comment.author_kind for issue in CONTENT.issues for comment in issue.comments}
    fixes = [fix for issue in CONTENT.issues for fix in issue.fixes]
    changed = [file for fix in fixes for file in fix.files]
    assert kinds == {"user", "bot", "deleted"}
    assert {fix.kind for fix in fixes} == {"pull_request", "commit"}
    assert [file.patch for file in changed if file.note] == [None]
    assert sum(len(file.patch.splitlines()) > 40 for file in changed if file.patch) >= 2
    assert {event.kind for issue in CONTENT.issues for event in issue.timeline} == {
        "closed",
        "cross-referenced",
        "labeled",
        "reopened",
    }
