"""Files of a study, made for their reader and streamed from one state of the database."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import Http404

from labeling.export.columns import cells_of, columns_of
from labeling.export.rows import FILES, column_rows
from labeling.export.writer import Format, write_rows
from labeling.models import Membership, Role, Round, Study
from labeling.selectors.export import agreement, annotations, labels, records, tables, texts
from labeling.selectors.export.reader import Reader, hidden_units
from labeling.selectors.export.records import EXPORTED
from labeling.services.agreement import mark_read, store_agreement
from labeling.services.events import record
from labeling.snapshot import snapshot

OWN = "own_annotations.csv"
EVENTS = "events.csv"
WIDE = "labels_wide.csv"
# Answers, decisions and numbers of closed rounds: whoever gets one has read what others said.
UNBLINDING = {
    "agreement.csv",
    "annotations.csv",
    "evidence.csv",
    "labels.csv",
    WIDE,
    "left_out.csv",
    "methods.md",
}
ROWS: dict[str, Callable[[Reader], Iterable[Any]]] = {
    "agreement.csv": agreement.agreement_rows,
    "annotations.csv": annotations.annotation_rows,
    "codebook.csv": records.codebook_rows,
    "columns.csv": lambda reader: column_rows(labels.wide_layout(reader)),
    EVENTS: records.event_rows,
    "evidence.csv": annotations.evidence_rows,
    "frame.csv": records.frame_rows,
    "funnel.csv": records.funnel_rows,
    "labels.csv": labels.label_rows,
    "left_out.csv": agreement.left_out_rows,
    "mappings.csv": records.mapping_rows,
    OWN: annotations.own_annotation_rows,
    "sample.csv": records.sample_rows,
}
TABLES: dict[str, Callable[[Reader], str]] = {
    "tables/agreement.tex": tables.agreement_tex,
    "tables/categories.tex": tables.categories_tex,
    "tables/confusion.tex": tables.confusion_tex,
    "tables/numbers.tex": tables.numbers_tex,
}
"""Texts for LaTeX; they hold numbers of closed rounds alone."""
TEXTS: dict[str, Callable[[Reader], str]] = {
    "codebook.qdc": texts.codebook_qdc,
    "codebook.yaml": texts.codebook_yaml,
    "methods.md": texts.methods_md,
}
NAMES = frozenset(FILES) | frozenset(TABLES) | frozenset(TEXTS)


@dataclass(frozen=True, slots=True)
class Export:
    """A file on its way: ``chunks`` are its bytes, ``hidden_units`` are sealed for the reader and left out.

    Whoever does not read ``chunks`` to the end closes it.
    """

    name: str
    hidden_units: int
    chunks: Iterator[bytes]


def file_names(member: Membership) -> list[str]:
    """The files the member may have: coders and adjudicators their own answers, only leads all events."""
    if member.role == Role.LEAD:
        return sorted(NAMES)
    if member.role == Role.OBSERVER:
        return sorted(NAMES - {OWN, EVENTS})
    return [OWN]


def stream(
    *,
    study: Study,
    name: str,
    member: Membership,
    all_rounds: bool = False,
    spreadsheet_safe: bool = False,
    bom: bool = False,
    pseudonyms: bool = False,
) -> Export:
    """Begin a file. It shows the study as it is now, however slowly it is read."""
    if name not in NAMES:
        raise Http404(f"There is no file {name}.")
    if name not in file_names(member):
        raise PermissionDenied(f"You may have: {', '.join(file_names(member))}.")
    if name in UNBLINDING or name in TABLES:
        _heal_and_mark(study, member)
    record(study=study, by=member, verb=EXPORTED, object=name)
    chunks = _chunks(
        name, study, member, Format(spreadsheet_safe, bom), all_rounds=all_rounds, pseudonyms=pseudonyms
    )
    # The first thing it says is how much it hides; from then on its state of the database is fixed.
    hidden = cast(int, next(chunks))
    return Export(name, hidden, cast(Iterator[bytes], chunks))


def write_folder(*, study: Study, folder: Path, pseudonyms: bool = False) -> list[Path]:
    """Write every file of a study into a folder, for whoever has the shell: closed rounds, unsealed."""
    _heal_and_mark(study, None)
    record(study=study, verb=EXPORTED, object="all files")
    folder.mkdir(parents=True, exist_ok=True)
    # A member who codes nothing: nothing is sealed for them.
    nobody = Membership(study=study, role=Role.OBSERVER)
    written = []
    with snapshot() as using:
        reader = Reader(Study.objects.using(using).get(pk=study.pk), nobody, using, pseudonyms=pseudonyms)
        for name in sorted(NAMES - {OWN}):
            (folder / name).parent.mkdir(exist_ok=True)
            with (folder / name).open("wb") as file:
                file.writelines(_content(name, reader, Format()))
            written.append(folder / name)
    return written


def _heal_and_mark(study: Study, member: Membership | None) -> None:
    for coding_round in study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True):
        if not coding_round.agreement_reports.exists():
            store_agreement(coding_round)
        mark_read(coding_round, member)


def _chunks(
    name: str, study: Study, member: Membership, form: Format, *, all_rounds: bool, pseudonyms: bool
) -> Iterator[int | bytes]:
    with snapshot() as using:
        reader = Reader(
            study=Study.objects.using(using).get(pk=study.pk),
            member=Membership.objects.using(using).get(pk=member.pk),
            using=using,
            all_rounds=all_rounds,
            pseudonyms=pseudonyms,
        )
        yield hidden_units(reader, own=name == OWN) if name in UNBLINDING | {OWN} else 0
        yield from _content(name, reader, form)


def _content(name: str, reader: Reader, form: Format) -> Iterator[bytes]:
    if name in TABLES or name in TEXTS:
        return iter([(TABLES | TEXTS)[name](reader).encode()])
    if name == WIDE:
        layout = labels.wide_layout(reader)
        return write_rows([each.name for each in layout.columns()], labels.wide_rows(reader, layout), form)
    header = [each.name for each in columns_of(FILES[name])]
    return write_rows(header, map(cells_of, ROWS[name](reader)), form)
