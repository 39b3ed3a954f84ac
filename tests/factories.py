"""Rows for tests, one plain function per thing. Name only what the test is about; the rest has defaults."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain, count
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    Category,
    Codebook,
    Dimension,
    Issue,
    IssueSnapshot,
    Membership,
    Role,
    Round,
    RoundUnit,
    Sample,
    SampleUnit,
    SnapshotDocument,
    Study,
    Submission,
    Unit,
    User,
)

_numbers = count(1)

OPENED_AT = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
CARRIES = ["title", "body", "comments", "timeline", "fixes", "patches", "state", "author", "github_labels"]

#: dimension -> {code: codes below it}; a code with codes below it is a heading.
SYMPTOM: dict[str, tuple[str, ...]] = {"runtime": ("crash", "hang"), "output": ("wrong-output", "warning")}
CAUSE: dict[str, tuple[str, ...]] = {"logic": (), "api-misuse": (), "config": ()}
FIX: dict[str, tuple[str, ...]] = {"condition": (), "call": (), "rewrite": ()}


def make_user(username: str | None = None, **fields: Any) -> User:
    """Make an account; its password is ``secret-password``."""
    username = username or f"user{next(_numbers)}"
    password = fields.pop("password", "secret-password")
    return User.objects.create_user(username=username, password=password, **fields)


def make_study(*, lead: User | None = None, **fields: Any) -> Study:
    """Make a study with a lead, who is its member number 1 (see ``lead_of``)."""
    number = next(_numbers)
    study = Study.objects.create(
        **{"slug": f"study-{number}", "title": f"Bugs in compilers {number}"} | fields
    )
    make_member(study, role=Role.LEAD, user=lead or make_user(f"lead{number}"))
    return study


def lead_of(study: Study) -> Membership:
    return study.memberships.filter(role=Role.LEAD).earliest("number")


def make_member(
    study: Study, *, role: str = Role.CODER, user: User | str | None = None, **fields: Any
) -> Membership:
    """Make a member; ``user`` is an account or the name of a new one."""
    number = study.memberships.count() + 1
    row: dict[str, Any] = {"role": role, "number": number, "pseudonym": f"C{number}"} | fields
    if row.get("kind", Membership.Kind.PERSON) == Membership.Kind.PERSON:
        row["user"] = user if isinstance(user, User) else make_user(user)
    else:
        row["role"] = ""
    return Membership.objects.create(study=study, **row)


def make_codebook(study: Study, *, frozen: bool = True, version: int | None = None) -> Codebook:
    """Make a version: ``symptom`` (two levels), ``cause`` (choose one) and ``fix`` (choose any)."""
    codebook = Codebook.objects.create(
        study=study,
        version=version or study.codebooks.count() + 1,
        frozen_at=timezone.now() if frozen else None,
    )
    make_dimension(codebook, "symptom", SYMPTOM)
    make_dimension(codebook, "cause", CAUSE)
    make_dimension(codebook, "fix", FIX, kind=Dimension.Kind.MULTIPLE)
    return codebook


def make_dimension(
    codebook: Codebook,
    key: str,
    codes: Mapping[str, Iterable[str]] | Sequence[str] = (),
    **fields: Any,
) -> Dimension:
    """Make a dimension with its categories; a category of a later version keeps its concept."""
    row: dict[str, Any] = {"name": key.capitalize(), "order": codebook.dimensions.count()} | fields
    dimension = Dimension.objects.create(codebook=codebook, key=key, **row)
    levels = codes if isinstance(codes, Mapping) else dict.fromkeys(codes, ())
    _make_categories(dimension, {code: tuple(children) for code, children in levels.items()})
    return dimension


def _make_categories(dimension: Dimension, levels: Mapping[str, tuple[str, ...]]) -> None:
    """Make all categories of a new dimension, its headings first: tests make many codebooks."""
    concepts = {each.code: each.concept for each in _earlier(dimension)} if levels else {}
    in_order = chain.from_iterable((code, *levels[code]) for code in levels)
    places = {code: place for place, code in enumerate(in_order)}

    def category(code: str, parent: Category | None = None) -> Category:
        row = _category_row(code, concepts.get(code), places[code])
        return Category(dimension=dimension, code=code, parent=parent, **row)

    headings = Category.objects.bulk_create([category(code) for code in levels])
    Category.objects.bulk_create(
        [category(code, heading) for heading in headings for code in levels[heading.code]]
    )


def _earlier(dimension: Dimension) -> QuerySet[Category]:
    """Categories of the dimension in every version."""
    return Category.objects.filter(
        dimension__codebook__study=dimension.codebook.study, dimension__key=dimension.key
    )


def _category_row(code: str, concept: UUID | None, order: int) -> dict[str, Any]:
    row = {"name": code.replace("-", " ").capitalize(), "definition": f"What {code} means.", "order": order}
    return row | ({"concept": concept} if concept else {})


def make_category(dimension: Dimension, code: str, **fields: Any) -> Category:
    concept = _earlier(dimension).filter(code=code).values_list("concept", flat=True).first()
    row = _category_row(code, concept, dimension.categories.count())
    return Category.objects.create(dimension=dimension, code=code, **row | fields)


def make_issue(
    study: Study,
    *,
    number: int | None = None,
    repository: str = "octo/spoon",
    title: str = "Crash on start",
    body: str = "It crashes when I start it.",
    comments: Sequence[str | Mapping[str, Any]] = (),
    fixes: Sequence[Mapping[str, Any]] = (),
    snapshot: Mapping[str, Any] | None = None,
    rendered: bool = True,
    **fields: Any,
) -> Issue:
    """Make an issue of the corpus with one snapshot and its documents.

    A comment is its text or a mapping with ``body``. A fix is a mapping with ``key`` and optionally
    ``message`` and ``files``, each of them a mapping with ``path`` and ``patch``.
    """
    number = number or next(_numbers)
    key = f"github.com/{repository}#{number}".lower()
    row: dict[str, Any] = {
        "key": key,
        "host": "github.com",
        "repository": repository,
        "number": number,
        "url": f"https://github.com/{repository}/issues/{number}",
    } | fields
    issue = Issue.objects.create(study=study, **row)
    made = make_snapshot(
        issue, title=title, body=body, comments=comments, fixes=fixes, rendered=rendered, **(snapshot or {})
    )
    made.refresh_from_db()  # tests write dates as text
    issue.show(made)
    issue.save()
    return issue


def make_snapshot(
    issue: Issue,
    *,
    title: str = "Crash on start",
    body: str = "It crashes when I start it.",
    comments: Sequence[str | Mapping[str, Any]] = (),
    fixes: Sequence[Mapping[str, Any]] = (),
    rendered: bool = True,
    **fields: Any,
) -> IssueSnapshot:
    told_comments = [_comment(place, comment) for place, comment in enumerate(comments, start=1)]
    told_fixes = [_fix(fix) for fix in fixes]
    documents = {"title": title, "body": body}
    documents |= {f"comment:{comment['id']}": comment.pop("body") for comment in told_comments}
    for fix in told_fixes:
        documents[f"fix:{fix['key']}:message"] = fix.pop("message")
        documents |= {
            f"fix:{fix['key']}:file:{file['path']}": file.pop("patch")
            for file in fix["files"]
            if file.get("patch") is not None
        }
    row: dict[str, Any] = {
        "content_hash": sha256(repr(sorted(documents.items())).encode()).hexdigest(),
        "fetched_at": timezone.now(),
        "title": title,
        "state": "closed",
        "author": "reporter",
        "author_kind": "user",
        "github_labels": ["bug"],
        "opened_at": OPENED_AT,
        "closed_at": OPENED_AT + timedelta(days=3),
        "comments": told_comments,
        "fixes": told_fixes,
        "has_merged_fix": bool(told_fixes),
        "carries": CARRIES,
    } | fields
    snapshot = IssueSnapshot.objects.create(issue=issue, **row)
    SnapshotDocument.objects.bulk_create(
        SnapshotDocument(snapshot=snapshot, key=key, source=source, **_written(source, rendered))
        for key, source in documents.items()
    )
    return snapshot


def _written(source: str, rendered: bool) -> dict[str, str]:
    return {"html": f"<p>{source}</p>", "text": source, "renderer": "test"} if rendered else {}


def _comment(place: int, comment: str | Mapping[str, Any]) -> dict[str, Any]:
    told = {"body": comment} if isinstance(comment, str) else dict(comment)
    return {
        "id": str(place),
        "author": f"commenter{place}",
        "author_kind": "user",
        "association": "NONE",
        "created_at": (OPENED_AT + timedelta(hours=place)).isoformat(),
        "reactions": {},
    } | told


def _fix(fix: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "pull_request",
        "evidence": "closed_by",
        "title": "Fix the crash",
        "message": "Check for null first.",
        "number": 7,
        "sha": None,
        "url": "https://github.com/octo/spoon/pull/7",
        "state": "closed",
        "merged_at": (OPENED_AT + timedelta(days=2)).isoformat(),
        "additions": 1,
        "deletions": 1,
    } | dict(fix, files=[_file(file) for file in fix.get("files", ())])


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "modified", "additions": 1, "deletions": 1, "note": ""} | dict(file)


def make_unit(study: Study, issue: Issue | None = None, **fields: Any) -> Unit:
    """Make a unit, pinned to what its issue said last."""
    issue = issue or make_issue(study)
    return Unit.objects.create(
        **{"study": study, "issue": issue, "ref": issue.ref, "snapshot": issue.latest} | fields
    )


def make_sample(study: Study, *, units: int | Sequence[Unit] = 3, **fields: Any) -> Sample:
    """Make a frozen sample of the units, or of so many new ones."""
    drawn = [make_unit(study) for _ in range(units)] if isinstance(units, int) else list(units)
    row: dict[str, Any] = {
        "method": Sample.Method.RANDOM,
        "size": len(drawn),
        "seed": 1,
        "frame": b"",
        "frame_hash": "0" * 64,
        "frame_size": len(drawn),
        "state": Sample.State.FROZEN,
        "frozen_at": timezone.now(),
        "prepared": len(drawn),
    } | fields
    sample = Sample.objects.create(study=study, **row)
    for rank, unit in enumerate(drawn, start=1):
        SampleUnit.objects.create(sample=sample, unit=unit, rank=rank)
    return sample


def make_round(
    study: Study | None = None,
    *,
    state: str = Round.State.OPEN,
    coders: Sequence[Membership] | None = None,
    units: int | Sequence[Unit] = 3,
    **fields: Any,
) -> Round:
    """Make a round whose units are all dealt to all its coders (two new ones unless given).

    It has the study's newest frozen codebook, made if there is none. ``assignment_of`` finds an
    assignment. A round that is closed this way has no report and no decisions: ``close_round`` makes them.
    """
    study = study or make_study()
    chosen = [make_member(study), make_member(study)] if coders is None else list(coders)
    now = timezone.now()
    row: dict[str, Any] = {
        "number": study.rounds.count() + 1,
        "state": state,
        "coders_per_unit": max(1, len(chosen)),
        "codebook": _codebook_for(study, state),
        "opened_at": None if state == Round.State.DRAFT else now,
        "closed_at": now if state in Round.UNBLINDED else None,
        "reconciled_at": now if state == Round.State.RECONCILED else None,
    } | fields
    coding_round = Round.objects.create(study=study, **row)
    coding_round.coders.set(chosen)
    drawn = [make_unit(study) for _ in range(units)] if isinstance(units, int) else units
    RoundUnit.objects.bulk_create(
        RoundUnit(round=coding_round, unit=unit, overlap=len(chosen) > 1) for unit in drawn
    )
    if state != Round.State.DRAFT:
        deal_all(coding_round)
    return coding_round


def _codebook_for(study: Study, state: str) -> Codebook | None:
    frozen = study.codebooks.filter(frozen_at__isnull=False).last() or make_codebook(study)
    return None if state == Round.State.DRAFT else frozen


def deal_all(coding_round: Round) -> None:
    """Deal every unit of the round to every one of its coders, in the order of the units."""
    round_units = list(coding_round.round_units.order_by("pk"))
    Assignment.objects.bulk_create(
        Assignment(round_unit=round_unit, coder=coder, position=position)
        for coder in coding_round.coders.all()
        for position, round_unit in enumerate(round_units, start=1)
    )


def assignment_of(coding_round: Round, coder: Membership, unit: Unit | int = 0) -> Assignment:
    """Find the coder's assignment of the unit, or the one at a place in their queue (0: the first)."""
    mine = Assignment.objects.filter(round_unit__round=coding_round, coder=coder).order_by("position")
    return mine.get(round_unit__unit=unit) if isinstance(unit, Unit) else mine[unit]


Answer = str | Sequence[str] | None


def make_submission(
    assignment: Assignment, answers: Mapping[str, Answer] | None = None, **fields: Any
) -> Submission:
    """Hand in answers by dimension: a code, several codes, ``state:unclear`` or, for a text, the text.

    Dimensions that are not named are answered with their first category; None leaves one out.
    Excluded units (``exclude_reason``) have no annotations.
    """
    row: dict[str, Any] = {
        "n": assignment.submissions.count() + 1,
        "at": timezone.now(),
    } | fields
    submission = Submission.objects.create(assignment=assignment, **row)
    assignment.status = Assignment.Status.SUBMITTED
    assignment.opened_at = assignment.opened_at or timezone.now()
    assignment.version += 1
    assignment.save()
    if not submission.exclude_reason:
        _annotate(submission, answers or {})
    return submission


def _annotate(submission: Submission, answers: Mapping[str, Answer]) -> None:
    """Store the answers in all dimensions with one query for each kind of row."""
    chosen: list[tuple[Annotation, list[Category]]] = []
    asked = Dimension.objects.filter(codebook__rounds__round_units__assignments=submission.assignment_id)
    for dimension in asked.prefetch_related("categories"):
        answer = answers.get(dimension.key, _first_answer(dimension))
        if answer is None:
            continue
        annotation = Annotation(submission=submission, dimension=dimension)
        codes: Sequence[str] = ()
        if isinstance(answer, str) and answer.startswith("state:"):
            annotation.state = answer.removeprefix("state:")
        elif dimension.kind == Dimension.Kind.TEXT:
            annotation.text = str(answer)
        else:
            codes = [answer] if isinstance(answer, str) else answer
        by_code = {category.code: category for category in dimension.categories.all()}
        chosen.append((annotation, [by_code[code] for code in codes]))
    Annotation.objects.bulk_create(annotation for annotation, _ in chosen)
    AnnotationCategory.objects.bulk_create(
        AnnotationCategory(
            annotation=annotation, category=category, exclusive=annotation.dimension.is_exclusive
        )
        for annotation, categories in chosen
        for category in categories
    )


def _first_answer(dimension: Dimension) -> Answer:
    if dimension.kind == Dimension.Kind.TEXT:
        return None
    categories = dimension.categories.all()
    headings = {category.parent_id for category in categories}
    return next((category.code for category in categories if category.pk not in headings), None)


def make_annotation(
    coding_round: Round,
    *,
    coder: Membership,
    category: Answer = "crash",
    dimension: str = "symptom",
    unit: Unit | int = 0,
    **fields: Any,
) -> Annotation:
    """Submit one unit of the coder's with this answer in one dimension."""
    submission = make_submission(assignment_of(coding_round, coder, unit), {dimension: category}, **fields)
    return submission.annotations.get(dimension__key=dimension)
