"""The corpus: issues, what they said at each fetch, and the rules that say which are eligible."""

from datetime import UTC, datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from .base import BytewiseTextField, Row
from .study import Study

#: Stands in lists by date for a date nobody told: what is paged by it must never be null.
NO_DATE = datetime(1900, 1, 1, tzinfo=UTC)


class Issue(Row):
    """One issue (or pull request) of the corpus. ``key`` is its identity for life."""

    class Kind(models.TextChoices):
        ISSUE = "issue", "Issue"
        PULL_REQUEST = "pull_request", "Pull request"

    # Here and below: the unique constraint begins with the key, an index of its own would only cost time.
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="issues", db_index=False)
    kind = models.TextField(choices=Kind.choices, default=Kind.ISSUE)
    key = BytewiseTextField()
    former_keys = models.JSONField(default=list, blank=True)
    was_renamed = models.BooleanField(default=False, help_text="Whether there are former keys.")
    source_id = models.TextField(blank=True, help_text="The file's own id, where there is no address.")
    host = models.TextField(blank=True)
    repository = BytewiseTextField(blank=True)
    repository_id = models.BigIntegerField(null=True, blank=True)
    number = models.BigIntegerField(null=True, blank=True)
    node_id = models.TextField(blank=True)
    rest_id = models.BigIntegerField(null=True, blank=True)
    url = models.TextField(blank=True)
    latest = models.ForeignKey(
        "IssueSnapshot", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    eligible = models.BooleanField(default=True)
    because = models.TextField(blank=True, help_text="The rule or act that made it ineligible.")
    override = models.BooleanField(null=True, blank=True)
    override_reason = models.TextField(blank=True)
    duplicate_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="duplicates"
    )
    gone = models.BooleanField(default=False)
    transferred_to = models.TextField(blank=True)
    redacted_at = models.DateTimeField(null=True, blank=True)
    redacted_because = models.TextField(blank=True)
    is_indexed = models.BooleanField(
        default=False, help_text="Whether the search knows the words of its newest snapshot."
    )
    # Dates of the newest snapshot once more: an index beside the study spares a list by date its sort.
    by_created = models.DateTimeField(default=NO_DATE)
    by_updated = models.DateTimeField(default=NO_DATE)
    by_closed = models.DateTimeField(default=NO_DATE)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "key"), name="issue_study_key"),
            models.CheckConstraint(condition=~Q(key=""), name="issue_key_given"),
            models.CheckConstraint(condition=Q(kind__in=("issue", "pull_request")), name="issue_kind"),
        ]
        indexes: ClassVar = [
            models.Index(fields=("study", "eligible", "key"), name="issue_study_eligible"),
            models.Index(fields=("study", "repository", "number"), name="issue_study_repository"),
            models.Index(fields=("study", "node_id"), condition=~Q(node_id=""), name="issue_study_node"),
            models.Index(
                fields=("study", "rest_id"), condition=Q(rest_id__isnull=False), name="issue_study_rest"
            ),
            models.Index(fields=("study",), condition=Q(is_indexed=False), name="issue_study_unindexed"),
            models.Index(fields=("study",), condition=Q(was_renamed=True), name="issue_study_renamed"),
            models.Index(fields=("study", "by_created", "id"), name="issue_study_created"),
            models.Index(fields=("study", "by_updated", "id"), name="issue_study_updated"),
            models.Index(fields=("study", "by_closed", "id"), name="issue_study_closed"),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """The key as people write it: without the host."""
        return ref_of(self.key, self.source_id)

    def show(self, snapshot: "IssueSnapshot") -> None:
        """Make a snapshot the newest one; the caller saves."""
        self.latest = snapshot
        self.by_created = snapshot.opened_at or NO_DATE
        self.by_updated = snapshot.updated_at or NO_DATE
        self.by_closed = snapshot.closed_at or NO_DATE


def ref_of(key: str, source_id: str) -> str:
    """Give the name people use for the issue with this key."""
    if key.startswith("file:"):
        return source_id or key[:17]
    return key.split("/", 1)[1]


class DistinctPair(Row):
    """Two issues a lead compared and found to be no duplicates; the first has the smaller id."""

    first = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="+", db_index=False)
    second = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("first", "second"), name="distinct_pair"),
            models.CheckConstraint(condition=Q(first__lt=models.F("second")), name="distinct_pair_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id}, {self.second_id}"


class IssueSnapshot(Row):
    """What an issue said at one fetch. Immutable; a new one only when the content changed."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    content_hash = BytewiseTextField()
    fetched_at = models.DateTimeField()
    # A number and no foreign key: labeling does not know where issues come from.
    run_id = models.BigIntegerField(null=True, blank=True, help_text="The import run that brought it.")
    title = models.TextField(blank=True)
    state = models.TextField(blank=True)
    state_reason = models.TextField(blank=True)
    author = models.TextField(blank=True, help_text="Empty: deleted user, or the source did not say.")
    author_kind = models.TextField(default="unknown")
    author_association = models.TextField(blank=True)
    github_labels = models.JSONField(default=list)
    milestone = models.TextField(blank=True)
    reactions = models.JSONField(default=dict)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(null=True, blank=True)
    comments = models.JSONField(default=list, help_text="Everything about each comment but its text.")
    timeline = models.JSONField(default=list)
    fixes = models.JSONField(default=list, help_text="Everything about each fix but messages and patches.")
    has_merged_fix = models.BooleanField(default=False)
    carries = models.JSONField(default=list, help_text="What the source delivered.")
    notes = models.JSONField(default=list, help_text="What was replaced or left out on the way in.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("issue", "content_hash"), name="issue_snapshot_content"),
        ]

    def __str__(self) -> str:
        return self.title


class SnapshotDocument(Row):
    """One text of a snapshot. ``html`` and ``text`` are written once, when first shown or pinned."""

    snapshot = models.ForeignKey(
        IssueSnapshot, on_delete=models.CASCADE, related_name="documents", db_index=False
    )
    key = BytewiseTextField(help_text="title, body, comment:<id>, fix:<id>:message, fix:<id>:file:<path>")
    source = models.TextField(blank=True)
    html = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: not rendered yet; empty: nothing to show
    text = models.TextField(null=True, blank=True)  # noqa: DJ001 - as html
    renderer = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("snapshot", "key"), name="snapshot_document_key"),
        ]

    def __str__(self) -> str:
        return self.key


class CorpusRule(Row):
    """One line of a version of the study's ordered list of rules."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="corpus_rules")
    version = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    field = models.TextField()
    op = models.TextField()
    value = models.JSONField()
    text = models.TextField(help_text="The rule in words, as the funnel prints it.")

    class Meta:
        ordering = ("version", "position")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "version", "position"), name="corpus_rule_position"),
        ]

    def __str__(self) -> str:
        return self.text
