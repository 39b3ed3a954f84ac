"""Files are made for their reader, from one state of the database, byte for byte the same."""

import csv
import io
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection, connections
from django.http import Http404
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling.export.rows import FILES
from labeling.models import Assignment, Event, Evidence, Role, Round, Sample, Submission
from labeling.sampling import draw_sample
from labeling.services.agreement import report_of
from labeling.services.exports import NAMES, file_names, stream
from labeling.services.reconciliation import Answer, record_decision, reopen_decision
from labeling.services.samples import draw
from labeling.snapshot import snapshot
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_dimension,
    make_issue,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
    make_unit,
    make_user,
)
from tests.labeling.closing import close, coder_called

pytestmark = pytest.mark.django_db

EXPECTED = Path(__file__).parents[2] / "data" / "exports"
NOON = datetime(2024, 5, 6, 12, 0, 0, 123456, tzinfo=UTC)
MEMO = '=SUM(A1) "quoted", two\r\nlines'


@pytest.fixture
def noon(monkeypatch):
    """It is noon all the time."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def coded(noon):
    """A study of five issues: two coders closed round 1, its lead settled what they disagreed on."""
    study = make_study(slug="spoons", lead=make_user("lea"))
    codebook = make_codebook(study)
    make_dimension(codebook, "note", kind="text", required=False)
    ada, ben = (make_member(study, user=name) for name in ("ada", "ben"))
    units = [make_unit(study, make_issue(study, number=number)) for number in (1, 2, 3, 4, 10)]
    sample = make_sample(study, units=units)
    coding_round = make_round(study, coders=[ada, ben], units=units, sample=sample)
    said = {
        ada: [
            {"symptom": "crash", "fix": ["call", "rewrite"], "note": "Stack, attached"},
            {"symptom": "hang", "fix": []},
            {"symptom": "state:unclear", "cause": "state:not_applicable"},
            None,
            {"symptom": "warning"},
        ],
        ben: [
            {"symptom": "crash", "fix": ["rewrite", "call"]},
            {"symptom": "crash", "fix": []},
            {"symptom": "state:unclear", "cause": "state:not_applicable"},
            None,
        ],
    }
    for coder, answers in said.items():
        for place, answer in enumerate(answers):
            hand_in(assignment_of(coding_round, coder, place), answer)
    Assignment.objects.filter(pk=assignment_of(coding_round, ben, 4).pk).update(status="skipped")
    close(coding_round)
    second = coding_round.round_units.get(unit=units[1])
    record_decision(
        round_unit=second,
        dimension="symptom",
        by=lead_of(study),
        answer=Answer(categories=("hang",)),
        rationale="It never ended.",
        disagreement_reason="misread",
        version=0,
    )
    return coding_round


def hand_in(assignment, answer):
    if answer is None:
        make_submission(assignment, exclude_reason="duplicate", at=NOON)
        return
    memo = {"memo": MEMO, "confidence": "high"} if "note" in answer else {}
    submission = make_submission(assignment, answer, at=NOON, **memo)
    if "note" in answer:
        dimension = submission.annotations.get(dimension__key="symptom").dimension
        Evidence.objects.create(
            submission=submission,
            dimension=dimension,
            category=dimension.categories.get(code="crash"),
            document="body",
            start=3,
            end=10,
            quote="crashes",
            prefix="It ",
            suffix=" when I start it.",
        )


def finish(coding_round):
    """Settle what is open for one coder's answer, and finish the round."""
    study = coding_round.study
    answers = {
        "symptom": Answer(categories=("warning",)),
        "cause": Answer(categories=("logic",)),
        "fix": Answer(categories=("condition",)),
    }
    for row in coding_round.round_units.filter(decisions__how="").values_list(
        "pk", "decisions__dimension", "decisions__version"
    ):
        round_unit = coding_round.round_units.get(pk=row[0])
        record_decision(
            round_unit=round_unit, dimension=row[1], by=lead_of(study), answer=answers[row[1]], version=row[2]
        )
    coding_round.refresh_from_db()
    coding_round.move_to(Round.State.RECONCILED)


def file_of(study, name, member=None, **options) -> bytes:
    return b"".join(stream(study=study, name=name, member=member or lead_of(study), **options).chunks)


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize(
    "name",
    [
        "annotations.csv",
        "codebook.csv",
        "columns.csv",
        "evidence.csv",
        "funnel.csv",
        "labels.csv",
        "labels_wide.csv",
        "left_out.csv",
        "sample.csv",
    ],
)
def test_a_file_is_the_expected_one_byte_for_byte(coded, name, monkeypatch):
    finish(coded)
    concepts = {}
    content = file_of(coded.study, name)
    if name == "codebook.csv":  # concepts are random: here they are numbered
        for row in rows_of(content):
            concepts.setdefault(row["concept"], f"concept-{len(concepts) + 1}")
        for concept, number in concepts.items():
            content = content.replace(concept.encode(), number.encode()) if concept else content
    assert content == (EXPECTED / name).read_bytes()
    assert file_of(coded.study, name, bom=True)[:3] == b"\xef\xbb\xbf"


def test_the_same_state_gives_the_same_bytes(coded):
    finish(coded)
    for name in NAMES:
        assert file_of(coded.study, name) == file_of(coded.study, name), name


def test_every_file_has_its_columns_and_their_meaning(coded):
    meanings = {
        (row["file"], row["column"]): row["meaning"] for row in rows_of(file_of(coded.study, "columns.csv"))
    }
    for name in FILES:
        header = next(csv.reader(io.StringIO(file_of(coded.study, name).decode())))
        assert all(meanings[name, column] for column in header), name
        assert len(header) == sum(1 for file, _ in meanings if file == name), name


def test_stored_numbers_are_exported_in_full_precision(coded):
    rows = rows_of(file_of(coded.study, "agreement.csv"))
    whole = [row for row in rows if row["scope"] == "whole" and row["dimension"] == "symptom"]
    (kappa,) = [row for row in whole if row["statistic"] == "cohen_kappa"]
    (stored,) = [row for row in report_of(coded).payload["dimensions"] if row["key"] == "symptom"]
    assert float(kappa["value"]) == stored["kappa"]["value"]
    assert (kappa["coder_a"], kappa["coder_b"]) == ("ada", "ben")
    assert [row["statistic"] for row in whole if row["headline"] == "true"] == ["cohen_kappa"]
    assert {row["scope"] for row in rows} >= {"whole", "pair", "category:crash"}


def test_tables_for_latex_hold_the_stored_numbers_of_every_closed_round(coded):
    (stored,) = [row for row in report_of(coded).payload["dimensions"] if row["key"] == "symptom"]
    kappa = f"{stored['kappa']['value']:.2f}"
    table = file_of(coded.study, "tables/agreement.tex").decode()
    assert rf"Cohen's $\kappa$ & {kappa} &" in table
    assert table.count(r"\begin{table}") == 1
    numbers = file_of(coded.study, "tables/numbers.tex").decode()
    assert rf"\newcommand{{\RoundOneSymptomValue}}{{{kappa}}}" in numbers
    assert "rows ada, columns ben" in file_of(coded.study, "tables/confusion.tex").decode()
    assert "rows C" in file_of(coded.study, "tables/confusion.tex", pseudonyms=True).decode()


def test_lower_limits_are_exported_beside_the_coefficients(coded):
    rows = rows_of(file_of(coded.study, "agreement.csv"))
    claims = {row["key"]: row["claim"] for row in report_of(coded).payload["dimensions"]}
    found = {row["dimension"]: row["value"] for row in rows if row["statistic"].endswith("_lower_limit")}
    for key, claim in claims.items():
        if claim and claim["lower"] is not None:
            assert float(found[key]) == claim["lower"]


def test_cells_a_spreadsheet_would_run_are_verbatim_unless_asked_for(coded):
    verbatim = rows_of(file_of(coded.study, "annotations.csv"))
    assert verbatim[0]["memo"] == MEMO
    safe = rows_of(file_of(coded.study, "annotations.csv", spreadsheet_safe=True))
    assert safe[0]["memo"] == f"'{MEMO}"
    numbers = rows_of(file_of(coded.study, "agreement.csv", spreadsheet_safe=True))
    assert not any(row["ci_low"].startswith("'") for row in numbers)
    assert any(row["ci_low"].startswith("-") for row in numbers)


def test_pseudonyms_replace_every_name(coded):
    finish(coded)
    names = {"ada", "ben", "lea"}
    for name in ("agreement.csv", "annotations.csv", "evidence.csv", "labels.csv", "labels_wide.csv"):
        content = file_of(coded.study, name, pseudonyms=True)
        cells = {cell for line in csv.reader(io.StringIO(content.decode())) for cell in line}
        assert not names & cells, name
        assert not any(cell.endswith(("__ada", "__ben")) for cell in cells), name


def test_a_draw_can_be_repeated_from_its_frame(noon):
    study = make_study()
    issues = [make_issue(study, number=number) for number in range(1, 9)]
    sample = draw(study=study, method="random", size=3, seed=7, by=lead_of(study))
    rows = rows_of(file_of(study, "frame.csv"))
    assert {row["key"] for row in rows} == {issue.key for issue in issues}
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 9)]
    drawn = [row["unit"] for row in rows if row["unit"]]
    assert drawn == [each.unit.ref for each in sample.sample_units.order_by("rank")]
    assert draw_sample([row["key"] for row in rows], 3, 7) == [row["key"] for row in rows[:3]]


# Which decision is final


def test_decisions_of_a_round_that_is_not_finished_are_open(coded):
    rows = rows_of(file_of(coded.study, "labels.csv"))
    assert {row["status"] for row in rows} == {"open"}
    assert not any(row["category"] for row in rows)
    every = rows_of(file_of(coded.study, "labels.csv", all_rounds=True))
    assert {row["status"] for row in every} >= {"final", "open", "excluded"}


def test_the_last_finished_round_that_asked_is_final(coded):
    finish(coded)
    study, first = coded.study, coded.round_units.order_by("pk")[0]
    again = make_round(
        study,
        coders=[coder_called(study, "ada")],
        units=[first.unit],
        kind=Round.Kind.RECODE,
        based_on=coded,
        dimensions=["cause"],
    )
    make_submission(assignment_of(again, coder_called(study, "ada")), {"cause": "config"}, at=NOON)
    close(again)
    assert of_unit(study, first, "cause") == [("1", "logic")]
    again.move_to(Round.State.RECONCILED)
    assert of_unit(study, first, "cause") == [("2", "config")]
    assert of_unit(study, first, "symptom") == [("1", "crash")]
    again.counts_in_results = False
    again.save()
    assert of_unit(study, first, "cause") == [("1", "logic")]
    assert of_unit(study, first, "cause", all_rounds=True) == [("1", "logic"), ("2", "config")]


def of_unit(study, round_unit, dimension, **options):
    return [
        (row["round"], row["category"])
        for row in rows_of(file_of(study, "labels.csv", **options))
        if row["unit"] == round_unit.unit.ref and row["dimension"] == dimension
    ]


def test_what_no_coder_answered_is_missing_and_not_open(coded):
    """Of free text, two answers stay open side by side until somebody decides."""
    third = coded.round_units.get(unit__ref="octo/spoon#3")
    again = make_round(coded.study, coders=list(coded.coders.all()), units=[third.unit], kind="recode")
    for coder in again.coders.all():
        make_submission(assignment_of(again, coder), {"symptom": "crash", "note": f"{coder.name} saw it"})
    assert statuses(coded.study, "note") == {"open"}
    finish(coded)
    assert statuses(coded.study, "note") == {"final", "missing", "excluded"}
    close(again).move_to(Round.State.RECONCILED)
    assert statuses(coded.study, "note") == {"final", "missing", "excluded", "open"}


def statuses(study, dimension):
    rows = rows_of(file_of(study, "labels.csv"))
    wide = rows_of(file_of(study, "labels_wide.csv"))
    told = {row["status"] for row in rows if row["dimension"] == dimension}
    assert told == {row[f"{dimension}__status"] for row in wide}
    return told


def test_a_reopened_decision_is_open_again(coded):
    finish(coded)
    second = coded.round_units.get(unit__ref="octo/spoon#2")
    decision = second.decisions.get(dimension="symptom")
    reopen_decision(decision=decision, reason="A new log", by=lead_of(coded.study))
    assert of_unit(coded.study, second, "symptom") == [("1", "")]


# Who reads


def test_sealed_units_are_left_out_and_counted(coded):
    study, lead = coded.study, lead_of(coded.study)
    sealed = coded.round_units.get(unit__ref="octo/spoon#2").unit
    make_round(study, coders=[lead], units=[sealed], kind=Round.Kind.RETEST, based_on=coded)
    for name in ("annotations.csv", "labels.csv", "labels_wide.csv", "left_out.csv", "evidence.csv"):
        export = stream(study=study, name=name, member=lead)
        content = b"".join(export.chunks).decode()
        assert export.hidden_units == 1, name
        assert "octo/spoon#2" not in content, name
        assert "octo/spoon#1" in content, name
    observer = make_member(study, role=Role.OBSERVER)
    assert b"octo/spoon#2" in file_of(study, "annotations.csv", observer)
    assert stream(study=study, name="annotations.csv", member=observer).hidden_units == 0


def test_an_open_round_is_in_no_file_of_a_lead(coded):
    study = coded.study
    unit = make_unit(study, make_issue(study, number=77))
    running = make_round(study, coders=[coder_called(study, "ada")], units=[unit])
    make_submission(assignment_of(running, coder_called(study, "ada")), {"symptom": "hang"})
    for name in ("annotations.csv", "labels.csv", "labels_wide.csv", "agreement.csv", "evidence.csv"):
        assert b"spoon#77" not in file_of(study, name, all_rounds=True), name


def test_coders_have_their_own_answers_of_open_rounds_too(coded):
    study, ada = coded.study, coder_called(coded.study, "ada")
    unit = make_unit(study, make_issue(study, number=77))
    running = make_round(study, coders=[ada, coder_called(study, "ben")], units=[unit])
    make_submission(assignment_of(running, ada), {"symptom": "hang"})
    make_submission(assignment_of(running, coder_called(study, "ben")), {"symptom": "crash"})
    rows = rows_of(file_of(study, "own_annotations.csv", ada))
    assert {row["coder"] for row in rows} == {"ada"}
    assert {row["round"] for row in rows} == {"1", "2"}


def test_own_answers_of_a_unit_that_is_coded_again_are_hidden(coded):
    study, ada = coded.study, coder_called(coded.study, "ada")
    sealed = coded.round_units.get(unit__ref="octo/spoon#2").unit
    make_round(study, coders=[ada], units=[sealed], kind=Round.Kind.RETEST, based_on=coded)
    export = stream(study=study, name="own_annotations.csv", member=ada)
    rows = rows_of(b"".join(export.chunks))
    assert export.hidden_units == 1
    assert {row["status"] for row in rows if row["unit"] == "octo/spoon#2"} == {"missing"}
    assert {row["round"] for row in rows if row["unit"] == "octo/spoon#2"} == {"2"}


def test_only_own_units_are_counted_as_hidden_from_own_answers(coded):
    cleo = make_member(coded.study, user="cleo")
    make_round(coded.study, coders=[cleo], units=[coded.round_units.first().unit])
    assert stream(study=coded.study, name="own_annotations.csv", member=cleo).hidden_units == 0


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR])
def test_coders_and_adjudicators_have_no_other_file(coded, role):
    member = make_member(coded.study, role=role)
    assert file_names(member) == ["own_annotations.csv"]
    with pytest.raises(PermissionDenied):
        stream(study=coded.study, name="annotations.csv", member=member)


def test_the_events_call_masked_units_as_the_page_does(coded):
    lead = lead_of(coded.study)
    unit = coded.study.units.get(ref="octo/spoon#2")
    assert f"unit:{unit.ref}," in file_of(coded.study, "events.csv").decode()
    make_round(coded.study, coders=[lead], units=[unit], masked_fields=["repository"])
    events = file_of(coded.study, "events.csv").decode()
    assert f"unit:unit {unit.pk}," in events
    assert f"unit:{unit.ref}," not in events


def test_only_leads_have_the_events(coded):
    assert b"decision.recorded" in file_of(coded.study, "events.csv")
    with pytest.raises(PermissionDenied):
        stream(study=coded.study, name="events.csv", member=make_member(coded.study, role=Role.OBSERVER))


def test_an_unknown_file_is_not_found(coded):
    with pytest.raises(Http404):
        stream(study=coded.study, name="secrets.csv", member=lead_of(coded.study))


def test_an_export_unblinds_its_rounds(coded):
    file_of(coded.study, "codebook.csv")
    coded.refresh_from_db()
    assert coded.first_unblinded_read_at is None
    file_of(coded.study, "labels.csv")
    coded.refresh_from_db()
    assert coded.first_unblinded_read_at == NOON
    assert Event.objects.filter(verb="round.first_read").count() == 1


def test_the_number_of_queries_does_not_grow_with_the_units(coded):
    finish(coded)
    names = ("annotations.csv", "labels.csv", "labels_wide.csv", "evidence.csv")
    file_of(coded.study, "labels.csv")  # the first reader is noted
    before = [queries_of(coded.study, name) for name in names]
    for number in range(200, 220):
        round_unit = coded.round_units.create(
            unit=make_unit(coded.study, make_issue(coded.study, number=number))
        )
        for coder in coded.coders.all():
            make_submission(round_unit.assignments.create(coder=coder, position=number))
    assert [queries_of(coded.study, name) for name in names] == before


def queries_of(study, name) -> int:
    with CaptureQueriesContext(connection) as queries:
        file_of(study, name)
    return len(queries)


# One state, however slowly it is read


@pytest.mark.django_db(transaction=True)
def test_drafts_are_saved_while_a_slow_client_reads_an_export(coded, monkeypatch):
    monkeypatch.setattr("labeling.export.writer.CHUNK", 200)
    study = coded.study
    open_units = [make_unit(study, make_issue(study, number=100 + place)) for place in range(3)]
    running = make_round(study, coders=[coder_called(study, "ada")], units=open_units)
    assignment = assignment_of(running, coder_called(study, "ada"))
    expected = file_of(study, "annotations.csv")
    export = stream(study=study, name="annotations.csv", member=lead_of(study))
    received, slowest = bytearray(), 0.0
    for piece in export.chunks:
        received += piece
        time.sleep(len(piece) / 1000)  # 1 kB/s
        began = time.monotonic()
        save_a_draft(assignment)
        slowest = max(slowest, time.monotonic() - began)
    assert bytes(received) == expected
    assert slowest < 1
    assignment.refresh_from_db()
    assert assignment.version > 10


def save_a_draft(assignment):
    """Save on another connection, as another request does."""

    def save():
        row = Assignment.objects.get(pk=assignment.pk)
        row.draft, row.version = {"memo": "half a thought"}, row.version + 1
        row.save()
        connection.close()

    thread = Thread(target=save)
    thread.start()
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_an_export_shows_the_state_at_its_beginning(coded, monkeypatch):
    monkeypatch.setattr("labeling.export.writer.CHUNK", 1)
    study = coded.study
    expected = file_of(study, "annotations.csv")
    export = stream(study=study, name="annotations.csv", member=lead_of(study))
    header = next(export.chunks)
    Submission.objects.filter(assignment__coder=coder_called(study, "ben")).delete()
    assert header + b"".join(export.chunks) == expected
    assert file_of(study, "annotations.csv") != expected


@pytest.mark.django_db(transaction=True)
def test_the_connection_of_an_export_is_closed_when_its_reader_goes_away(coded):
    export = stream(study=coded.study, name="annotations.csv", member=lead_of(coded.study))
    next(export.chunks)
    export.chunks.close()
    with snapshot() as alias:
        own = connections[alias]
        assert own.connection is not None
    assert own.connection is None
    with pytest.raises(connections.exception_class):
        connections[alias]


@pytest.mark.django_db(transaction=True)
def test_nothing_can_be_written_through_a_snapshot_on_postgresql(coded):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no read-only transaction")
    with snapshot() as alias, pytest.raises(Exception, match="read-only"):
        Sample.objects.using(alias).update(size=1)


def test_inside_a_transaction_the_reader_is_that_transaction():
    with snapshot() as alias:
        assert alias == "default"
