"""The dates lists are ordered by, beside the study: an index answers where a join had to sort."""

from datetime import UTC, datetime

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

NO_DATE = datetime(1900, 1, 1, tzinfo=UTC)
DATES = (("created", "opened_at"), ("updated", "updated_at"), ("closed", "closed_at"))


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take the dates over from the newest snapshot of each issue."""
    issues, snapshots = (apps.get_model("labeling", name) for name in ("Issue", "IssueSnapshot"))
    latest = snapshots.objects.filter(pk=OuterRef("latest"))
    issues.objects.update(
        **{f"by_{name}": Coalesce(Subquery(latest.values(field)), NO_DATE) for name, field in DATES}
    )


class Migration(migrations.Migration):
    dependencies = [("labeling", "0006_mail_job")]

    operations = [
        *(
            migrations.AddField("issue", f"by_{name}", models.DateTimeField(default=NO_DATE))
            for name, _ in DATES
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        *(
            migrations.AddIndex(
                "issue", models.Index(fields=["study", f"by_{name}", "id"], name=f"issue_study_{name}")
            )
            for name, _ in DATES
        ),
    ]
