"""The figures of a study as one archive. Only workers import this module."""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from labeling.charts.confusion import confusion
from labeling.charts.interval import Interval
from labeling.charts.trend import trend
from labeling.export.latex import label
from labeling.figures import (
    Picture,
    confusion_picture,
    funnel_picture,
    intervals_picture,
    trend_picture,
)
from labeling.models import ExportJob, Round, Study
from labeling.selectors.agreement import ELIGIBILITY
from labeling.selectors.agreement_figures import APART
from labeling.selectors.export.reader import Reader
from labeling.selectors.export.tables import RoundFigures, round_figures
from labeling.services.corpus import funnel
from labeling.snapshot import snapshot

UNDATED = (1980, 1, 1, 0, 0, 0)
"""The earliest date an archive can hold: the same figures give the same bytes."""


def figures_archive(job: ExportJob, go_on: Callable[[], bool]) -> bytes | None:
    """Draw the funnel and the agreement of all closed rounds and pack them, with their numbers.

    All of it is of one state of the database. ``go_on`` is asked before each picture; None: it said no.
    """
    with snapshot() as using:
        reader = Reader(
            study=Study.objects.using(using).get(pk=job.study_id),
            member=job.by,
            using=using,
            pseudonyms=bool(job.options.get("pseudonyms")),
        )
        rounds = list(round_figures(reader))
        steps = funnel(reader.study)
    return packed(chain([funnel_picture("funnel", steps)], agreement_pictures(rounds)), go_on)


def packed(pictures: Iterable[Picture], go_on: Callable[[], bool]) -> bytes | None:
    """Put every format of every picture into one archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for picture in pictures:
            if not go_on():
                return None
            for name, data in picture.files():
                entry = zipfile.ZipInfo(f"figures/{name}", UNDATED)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)
    return content.getvalue()


def agreement_pictures(rounds: Sequence[RoundFigures]) -> Iterator[Picture]:
    """The trend over rounds, and of each round its intervals and tables of who chose what."""
    yield from _trend(rounds)
    for each in rounds:
        yield _intervals(each)
        yield from _confusions(each)


def _trend(rounds: Sequence[RoundFigures]) -> Iterator[Picture]:
    shown = [each for each in rounds if each.coding_round.kind not in APART]
    if len(shown) < 2:
        return
    newest = shown[-1]
    pilots = {each.number for each in shown if each.coding_round.kind == Round.Kind.PILOT}
    panels = []
    for key, name in newest.names.items():
        intervals = {
            each.number: row.headline
            for each in shown
            for row in each.rows
            if row.key == key and row.has_numbers
        }
        if key != ELIGIBILITY and sum(each.value is not None for each in intervals.values()) > 1:
            panels.append((name, trend(key, intervals, goal=newest.coding_round.goal, pilots=pilots)))
    if panels:
        yield trend_picture("agreement-by-round", panels, newest.coding_round.goal)


def _intervals(figures: RoundFigures) -> Picture:
    rows: list[tuple[str, Interval]] = []
    for row in (each for each in figures.rows if each.has_numbers):
        words = figures.names.get(row.key, row.key)
        rows.append((f"{words}, {' and '.join(row.coders)}" if figures.repeats else words, row.headline))
    title = f"Agreement, round {figures.number}"
    return intervals_picture(f"agreement-round-{figures.number}", title, rows)


def _confusions(figures: RoundFigures) -> Iterator[Picture]:
    for payload in figures.payloads:
        for place, matrix in enumerate(payload["matrix"], start=1):
            words = figures.names.get(payload["key"], payload["key"])
            # Places instead of coders: two dimensions or names may give the same label.
            several = f"-{place}" if len(payload["matrix"]) > 1 else ""
            name = f"confusion-round-{figures.number}-{label(payload['key'])}{several}"
            table = confusion(matrix, figures.categories.get(payload["key"], {}))
            yield confusion_picture(name, f"{words}, round {figures.number}", table)
