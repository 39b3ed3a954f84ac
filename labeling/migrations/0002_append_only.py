"""Rows that are written once: the database itself refuses to change them."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Deleting stays possible: a study is purged whole. Redacting an issue changes quotes, so Evidence is not here.
WRITTEN_ONCE = {
    "labeling_event": (),
    "labeling_submission": (),
    "labeling_annotation": (),
    "labeling_annotationcategory": (),
    "labeling_decisionversion": (),
    # The second check of a report is noted beside its numbers.
    "labeling_agreementreport": ("payload", "kind", "options", "scope", "software_version", "round_id"),
}

POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION labeling_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are written once', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$
"""


def add_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    if is_postgresql:
        schema_editor.execute(POSTGRESQL_FUNCTION, params=None)
    for table, columns in WRITTEN_ONCE.items():
        of_columns = f" OF {', '.join(columns)}" if columns else ""
        action = (
            "EXECUTE FUNCTION labeling_written_once()"
            if is_postgresql
            else f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are written once'); END"
        )
        schema_editor.execute(
            f"CREATE TRIGGER {table}_written_once BEFORE UPDATE{of_columns} ON {table} FOR EACH ROW {action}"
        )


def drop_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in WRITTEN_ONCE:
        schema_editor.execute(
            f"DROP TRIGGER {table}_written_once" + (f" ON {table}" if is_postgresql else "")
        )
    if is_postgresql:
        schema_editor.execute("DROP FUNCTION labeling_written_once()")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0001_initial")]
    operations = [migrations.RunPython(add_triggers, drop_triggers)]
