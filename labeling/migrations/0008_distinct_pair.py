"""Pairs that are no duplicates, and which issues had another name: an import asks for these on every page."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F, Q

# To add a column SQLite makes the table anew, and its triggers are gone with the old one.
TRIGGER = """
CREATE TRIGGER IF NOT EXISTS labeling_issuewords_gone AFTER DELETE ON labeling_issue
BEGIN DELETE FROM labeling_issuewords WHERE rowid = old.id; END
"""
# Without it PostgreSQL takes every GitHub label for a rare one, and sorts what it could have walked through.
STATISTICS = """
CREATE STATISTICS labeling_github_labels ON (upper(github_labels::text)) FROM labeling_issuesnapshot
"""


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("labeling", "Issue").objects.exclude(former_keys=[]).update(was_renamed=True)


def keep_trigger(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "sqlite":
        editor.execute(TRIGGER, params=None)


def keep_statistics(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(STATISTICS, params=None)


def drop_statistics(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP STATISTICS labeling_github_labels", params=None)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0007_issue_dates")]

    operations = [
        migrations.CreateModel(
            name="DistinctPair",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="labeling.issue",
                        db_index=False,
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="labeling.issue"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("first", "second"), name="distinct_pair"),
                    models.CheckConstraint(condition=Q(first__lt=F("second")), name="distinct_pair_order"),
                ],
            },
        ),
        migrations.AddField(
            "issue",
            "was_renamed",
            models.BooleanField(default=False, help_text="Whether there are former keys."),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(keep_trigger, migrations.RunPython.noop),
        migrations.RunPython(keep_statistics, drop_statistics),
        migrations.AddIndex(
            "issue",
            models.Index(fields=["study"], condition=Q(was_renamed=True), name="issue_study_renamed"),
        ),
    ]
