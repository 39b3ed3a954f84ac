"""The words of every issue, to search them: a tsvector with GIN on PostgreSQL, an FTS5 table on SQLite."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Triggers and no foreign key: Django empties tables by TRUNCATE, which a key from an unknown table forbids.
POSTGRESQL = (
    "CREATE TABLE labeling_issuewords (issue_id bigint PRIMARY KEY, words tsvector NOT NULL)",
    "CREATE INDEX labeling_issuewords_words ON labeling_issuewords USING gin (words)",
    """
    CREATE FUNCTION labeling_issuewords_gone() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            TRUNCATE labeling_issuewords;
        ELSE
            DELETE FROM labeling_issuewords WHERE issue_id = OLD.id;
        END IF;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE TRIGGER labeling_issuewords_gone AFTER DELETE ON labeling_issue
    FOR EACH ROW EXECUTE FUNCTION labeling_issuewords_gone()
    """,
    """
    CREATE TRIGGER labeling_issuewords_emptied AFTER TRUNCATE ON labeling_issue
    FOR EACH STATEMENT EXECUTE FUNCTION labeling_issuewords_gone()
    """,
)
# Its rowid is the id of the issue. Where a word stands is not asked, so it is not kept.
SQLITE = (
    """
    CREATE VIRTUAL TABLE labeling_issuewords
    USING fts5(words, detail = none, tokenize = 'unicode61 remove_diacritics 0')
    """,
    """
    CREATE TRIGGER labeling_issuewords_gone AFTER DELETE ON labeling_issue
    BEGIN DELETE FROM labeling_issuewords WHERE rowid = old.id; END
    """,
)


def make_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement, params=None)


def drop_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER labeling_issuewords_emptied ON labeling_issue")
        schema_editor.execute("DROP TRIGGER labeling_issuewords_gone ON labeling_issue")
        schema_editor.execute("DROP FUNCTION labeling_issuewords_gone()")
    else:
        schema_editor.execute("DROP TRIGGER labeling_issuewords_gone")
    schema_editor.execute("DROP TABLE labeling_issuewords")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0004_corpus_indexes")]
    operations = [migrations.RunPython(make_index, drop_index)]
