"""Rows of the label loop: a study with many units, its coders, and what must hold afterwards."""

from django.conf import settings
from django.db import connection
from django.db.models import Count, F
from django.test import Client
from django.utils import timezone

from benchmarks.label_loop import CLIENTS, Coder
from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    Category,
    Dimension,
    Issue,
    IssueSnapshot,
    Membership,
    Round,
    RoundUnit,
    SnapshotDocument,
    Study,
    Submission,
    Unit,
    User,
)
from tests.factories import make_codebook, make_member
from tests.factories import make_study as make_empty_study

BATCH = 2_000
BODY = (
    "It stops with **an error** after the second step.\n\n"
    + "A line of the report, as people write them. " * 30
)


def make_bare_table() -> None:
    """Make the table that the bare application reads and writes."""
    key = "bigserial" if connection.vendor == "postgresql" else "integer"
    with connection.cursor() as cursor:
        cursor.execute(f"create table benchmark_bare (id {key} primary key, text text not null)")
        cursor.execute("insert into benchmark_bare (text) values ('the first row')")


def make_study(units: int) -> Study:
    """Make a study with an open round of so many units, and nobody dealt any."""
    study = make_empty_study()
    codebook = make_codebook(study)
    coding_round = Round.objects.create(
        study=study,
        number=1,
        state=Round.State.OPEN,
        codebook=codebook,
        coders_per_unit=CLIENTS + 2,
        opened_at=timezone.now(),
    )
    snapshots = _add(study, units, first=1)
    rows = [
        Unit(study=study, issue=each.issue, ref=f"octo/spoon#{each.issue.number}", snapshot=each)
        for each in snapshots
    ]
    made = Unit.objects.bulk_create(rows, batch_size=BATCH)
    RoundUnit.objects.bulk_create(
        [RoundUnit(round=coding_round, unit=unit, overlap=True) for unit in made], batch_size=BATCH
    )
    return study


def add_issues(study: Study, wanted: int) -> None:
    """Fill the corpus up to so many issues."""
    stored = study.issues.count()
    _add(study, max(0, wanted - stored), first=stored + 1)
    with connection.cursor() as cursor:
        cursor.execute("analyze")


def _add(study: Study, number: int, *, first: int) -> list[IssueSnapshot]:
    made = []
    for start in range(first, first + number, BATCH):
        numbers = range(start, min(start + BATCH, first + number))
        issues = Issue.objects.bulk_create([_issue(study, each) for each in numbers])
        snapshots = IssueSnapshot.objects.bulk_create([_snapshot(each) for each in issues])
        for issue, snapshot in zip(issues, snapshots, strict=True):
            issue.show(snapshot)
        Issue.objects.bulk_update(issues, ["latest", "by_created", "by_updated", "by_closed"])
        SnapshotDocument.objects.bulk_create(
            [
                SnapshotDocument(
                    snapshot=each, key=key, source=text, html=f"<p>{text}</p>", text=text, renderer="1"
                )
                for each in snapshots
                for key, text in (("title", each.title), ("body", BODY), ("comment:1", "The same here."))
            ]
        )
        made += snapshots
    return made


def _issue(study: Study, number: int) -> Issue:
    address = f"github.com/octo/spoon#{number}"
    return Issue(
        study=study,
        key=address,
        host="github.com",
        repository="octo/spoon",
        number=number,
        url=f"https://github.com/octo/spoon/issues/{number}",
    )


def _snapshot(issue: Issue) -> IssueSnapshot:
    now = timezone.now()
    return IssueSnapshot(
        issue=issue,
        content_hash=f"{issue.number:064d}",
        fetched_at=now,
        title=f"Training stops at step {issue.number}",
        state="closed",
        author="reporter",
        author_kind="user",
        github_labels=["bug"],
        opened_at=now,
        comments=[{"id": "1", "author": "other", "author_kind": "user", "created_at": now.isoformat()}],
        fixes=[],
        carries=["title", "body", "comments"],
    )


def gather_statistics() -> None:
    """Let PostgreSQL count its rows, as autovacuum does within a minute of such a load."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def make_coder(study: Study, place: int) -> Coder:
    """Make a coder who is dealt every unit, and sign them in."""
    member = make_member(study, user=f"coder{place}")
    _deal(study, member)
    return _signed_in(study, member)


def make_veteran(study: Study, *, submitted: int, left: int) -> Coder:
    """Make a coder who has handed in so many units, and has some left."""
    member = make_member(study, user="veteran")
    coding_round = study.rounds.get()
    _deal(study, member)
    rows = list(Assignment.objects.filter(coder=member).order_by("position"))
    done = rows[: max(0, submitted - left)]
    Assignment.objects.filter(coder=member, position__lte=len(done)).update(
        status=Assignment.Status.SUBMITTED, version=1
    )
    now = timezone.now()
    handed_in = Submission.objects.bulk_create(
        [Submission(assignment=each, n=1, at=now) for each in done], batch_size=BATCH
    )
    chosen = {"symptom": "crash", "cause": "logic", "fix": "call"}
    for dimension in Dimension.objects.filter(codebook=coding_round.codebook):
        category = Category.objects.get(dimension=dimension, code=chosen[dimension.key])
        annotations = Annotation.objects.bulk_create(
            [Annotation(submission=each, dimension=dimension) for each in handed_in], batch_size=BATCH
        )
        AnnotationCategory.objects.bulk_create(
            [
                AnnotationCategory(annotation=each, category=category, exclusive=dimension.is_exclusive)
                for each in annotations
            ],
            batch_size=BATCH,
        )
    return _signed_in(study, member)


def _deal(study: Study, member: Membership) -> None:
    units = RoundUnit.objects.filter(round__study=study).order_by("pk")
    Assignment.objects.bulk_create(
        [
            Assignment(round_unit=unit, coder=member, position=place)
            for place, unit in enumerate(units, start=1)
        ],
        batch_size=BATCH,
    )
    study.rounds.get().coders.add(member)


def _signed_in(study: Study, member: Membership) -> Coder:
    client = Client()
    client.force_login(User.objects.get(memberships=member))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    token = "x" * 32
    headers = {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={token}",
        "X-CSRFToken": token,
        "Accept": "application/json",
    }
    return Coder(study.rounds.get().pk, member.pk, headers)


def handed_in(coders: list[Coder]) -> int:
    return Submission.objects.filter(assignment__coder__in=[each.membership for each in coders]).count()


def faults(coders: list[Coder], expected: int) -> dict[str, int]:
    """Count what must not be: lost and doubled submissions, incomplete ones, units dealt too often."""
    own = Submission.objects.filter(assignment__coder__in=[each.membership for each in coders])
    dealt = RoundUnit.objects.annotate(dealt=Count("assignments")).filter(
        dealt__gt=F("round__coders_per_unit")
    )
    return {
        "lost": expected - own.count(),
        "doubled": own.filter(n__gt=1).count(),
        "incomplete": own.annotate(answers=Count("annotations")).exclude(answers=3).count(),
        "over-assigned": dealt.count(),
    }
