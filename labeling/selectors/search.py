"""Which issues mention some words: one answer, from whatever search the database has."""

from django.db import connection
from django.db.models import BooleanField, Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from labeling.models import SnapshotDocument, Study
from labeling.services.word_index import unindexed
from labeling.words import words_of

_POSTGRESQL = "SELECT issue_id FROM labeling_issuewords WHERE words @@ %s::tsquery"
_ONE_BY_ONE = "(SELECT words @@ %s::tsquery FROM labeling_issuewords WHERE issue_id = labeling_issue.id)"
_SAMPLED = "SELECT count(*) FROM labeling_issuewords TABLESAMPLE SYSTEM (1) WHERE words @@ %s::tsquery"
#: With so many hits in a hundredth of all issues a page is full long before the index has listed them all.
FREQUENT = 1000
_SQLITE = "SELECT rowid FROM labeling_issuewords WHERE labeling_issuewords MATCH %s"
_HOLDS = "instr(' ' || words, ' ' || %s)"
_HOLDING = "(SELECT {} FROM labeling_issuewords WHERE rowid = labeling_issue.id)"
_NEWEST = (
    "SELECT count(*) FROM (SELECT words FROM labeling_issuewords ORDER BY rowid DESC LIMIT 100) WHERE {}"
)
#: With so many hits in the newest hundred issues, to look into each is quicker than to sort all hits.
FREQUENT_IN_NEWEST = 40


def mentioning(study: Study, text: str) -> Q:
    """Condition on issues: each word of ``text`` begins a word of the name or of the newest texts."""
    words = words_of([text])
    if not words:
        return Q(pk__in=())
    found = _found(words)
    if not unindexed(study).exists():
        return found
    # What came just now is read itself until a worker has indexed it.
    return Q(found, is_indexed=True) | Q(_read(words), is_indexed=False)


def _found(words: list[str]) -> Q:
    """Issues that the index finds; words are letters and digits, so they need no escaping."""
    if connection.vendor != "postgresql":
        return _found_on_sqlite(words)
    asked = [" & ".join(f"'{word}':*" for word in words)]
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLED, asked)
        is_frequent = cursor.fetchone()[0] >= FREQUENT
    # PostgreSQL takes words for independent and all of them together for rare, however frequent they are.
    if is_frequent:
        return Q(RawSQL(_ONE_BY_ONE, asked, output_field=BooleanField()))  # noqa: S611 - constant
    return Q(pk__in=RawSQL(_POSTGRESQL, asked))  # noqa: S611 - constant


def _found_on_sqlite(words: list[str]) -> Q:
    holds = " AND ".join([_HOLDS] * len(words))
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST.format(holds), words)
        is_frequent = cursor.fetchone()[0] >= FREQUENT_IN_NEWEST
    if is_frequent:
        return Q(RawSQL(_HOLDING.format(holds), words, output_field=BooleanField()))  # noqa: S611 - constant
    return Q(pk__in=RawSQL(_SQLITE, [" ".join(f'"{word}"*' for word in words)]))  # noqa: S611 - constant


def _read(words: list[str]) -> Q:
    condition = Q()
    for word in words:
        begins = rf"(^|\W|_){word}"
        texts = SnapshotDocument.objects.filter(snapshot=OuterRef("latest"), source__iregex=begins)
        condition &= Q(key__iregex=begins) | Q(source_id__iregex=begins) | Q(Exists(texts))
    return condition
