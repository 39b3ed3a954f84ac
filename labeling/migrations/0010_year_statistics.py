"""Statistics of the years issues were opened in: without them PostgreSQL expects one for each issue, and sorts."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

STATISTICS = """
CREATE STATISTICS labeling_issue_year ON (EXTRACT(YEAR FROM by_created AT TIME ZONE 'UTC')) FROM labeling_issue
"""


def keep_statistics(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(STATISTICS, params=None)


def drop_statistics(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP STATISTICS labeling_issue_year", params=None)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0009_pilot_and_proportion")]
    operations = [migrations.RunPython(keep_statistics, drop_statistics)]
