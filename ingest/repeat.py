"""Running an import again, whatever became of it."""

from ingest.models import ImportRun
from ingest.services import RESUMABLE, resume, start_import
from labeling.errors import CorpusError
from labeling.models import Membership


def run_again(*, run: ImportRun, by: Membership) -> ImportRun:
    """Let a stopped import go on; after a finished one, start another that fetches what changed.

    Issues are known by their key, so nothing is stored twice either way.
    """
    if run.state in RESUMABLE:
        return resume(run=run, by=by)
    if run.state != ImportRun.State.DONE:
        raise CorpusError("This import is still at work. Wait for its end, or cancel it first.")
    if run.source == ImportRun.Source.FILE:
        raise CorpusError("A file that was imported brings nothing new. Upload a newer one.")
    query = dict(run.query)
    # In the words of a request.
    query["created"] = {"from": query.pop("created_from", None), "to": query.pop("created_to", None)}
    return start_import(study=run.study, source=run.source, query=query, by=by)
