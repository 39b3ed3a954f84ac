"""Texts of a snapshot as HTML, written once: quotes are anchored in what stands here."""

from collections.abc import Callable
from html import escape

from django.db import transaction

from labeling.markdown import RENDERER, Rendered, highlight_patch, render_markdown, render_plain
from labeling.models import IssueSnapshot, SnapshotDocument


def render_documents(snapshot: IssueSnapshot) -> None:
    """Write html and text of every document that has none yet."""
    waiting = list(snapshot.documents.filter(html__isnull=True))
    if not waiting:
        return
    render = _renderer_for(snapshot)
    rendered = [(document.pk, render(document)) for document in waiting]
    with transaction.atomic():
        for pk, result in rendered:
            # Two readers may render the same document at once; the first one's stands.
            SnapshotDocument.objects.filter(pk=pk, html__isnull=True).update(
                html=result.html, text=result.text, renderer=RENDERER
            )


def document_view(snapshot: IssueSnapshot) -> list[dict[str, str | None]]:
    """Return every text of the snapshot as pages and the API give it, rendered now if it was not."""
    rows = snapshot.documents.order_by("key").values_list("key", "html", "text")
    if any(html is None for _, html, _ in rows):
        render_documents(snapshot)
        rows = rows.all()
    return [{"key": key, "html": html, "text": text} for key, html, text in rows]


def _renderer_for(snapshot: IssueSnapshot) -> Callable[[SnapshotDocument], Rendered]:
    issue = snapshot.issue
    commits = {f"fix:{fix['key']}:message" for fix in snapshot.fixes if fix.get("kind") == "commit"}

    def render(document: SnapshotDocument) -> Rendered:
        key, source = document.key, document.source
        if key == "title":
            return Rendered(escape(source, quote=False), source)
        if key.startswith("fix:") and ":file:" in key:
            return Rendered(highlight_patch(source, key.partition(":file:")[2]), source)
        if key in commits:
            return render_plain(source)
        return render_markdown(source, repository=issue.repository, host=issue.host or "github.com")

    return render
