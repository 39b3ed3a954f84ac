"""Figures for print show the numbers of the pages, and the same numbers give the same bytes."""

import csv
import io
import os
import re
import zipfile
from dataclasses import replace
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from labeling.charts.confusion import confusion
from labeling.charts.interval import Interval
from labeling.charts.trend import trend
from labeling.errors import RoundStateError
from labeling.figures import confusion_picture, funnel_picture, intervals_picture, trend_picture
from labeling.models import ExportJob, Role
from labeling.services.agreement import mark_read, store_agreement
from labeling.services.corpus import FunnelStep
from labeling.services.export_jobs import KEPT, ask_for_figures, export_folder, remove_old_files
from labeling.tasks import run_export
from tests.factories import lead_of, make_member, make_study
from tests.labeling.charts.test_dimensions import FOUR, NAMES, payload
from tests.labeling.closing import close, coded_round, coder_called

TWELVE = {"ada": ["crash", "hang"] * 6, "ben": ["crash", "hang"] * 5 + ["hang", "crash"]}


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path):
    settings.INTERCODER_DATA = tmp_path


def interval(value, low=None, high=None, statistic="cohen_kappa"):
    return Interval(statistic, value, low, high, "" if value is not None else "Undefined: nothing varies.")


def lines_of(axes):
    return [(line.get_xdata(), line.get_ydata()) for line in axes.lines]


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


# What is drawn


def test_an_interval_is_drawn_from_limit_to_limit_with_its_point_between():
    symptom = replace(interval(0.5, 0.2, 0.8), goal=0.7)
    rows = [("Symptom", symptom), ("Cause", interval(None)), ("Fix", interval(1.0))]
    picture = intervals_picture("x", "Agreement", rows)
    axes = picture.figure.axes[0]
    drawn = [(list(xs), list(ys)) for xs, ys in lines_of(axes)]
    assert drawn == [([0.7, 0.7], [-0.5, 0.5]), ([0.2, 0.8], [0, 0]), ([0.5], [0]), ([1.0], [2])]
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["0.50 [0.20, 0.80]", "undefined", "1.00"]


def test_the_scale_reaches_below_zero_where_a_limit_does():
    picture = intervals_picture("x", "Agreement", [("Symptom", interval(0.1, -0.3, 0.4))])
    assert picture.figure.axes[0].get_xlim() == (-0.3, 1.0)
    assert "\N{MINUS SIGN}0.30" in picture.figure.axes[0].texts[0].get_text()


def test_the_funnel_draws_what_every_step_leaves():
    steps = [FunnelStep("stored", "Imported", 1200), FunnelStep("rule", "State is closed", 900, 300)]
    picture = funnel_picture("funnel", steps)
    axes = picture.figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1200, 900]
    assert [text.get_text() for text in axes.texts] == [" 1,200", " 900 (\N{MINUS SIGN}300)"]
    assert picture.rows == (("stored", "Imported", 1200, 0), ("rule", "State is closed", 900, 300))


def test_a_trend_joins_rounds_with_the_same_coefficient_only():
    alpha = interval(0.8, 0.7, 0.9, "krippendorff_alpha_nominal")
    panel = trend("symptom", {1: interval(0.5, 0.4, 0.6), 2: interval(0.6, 0.5, 0.7), 3: alpha})
    picture = trend_picture("x", [("Symptom", panel)])
    joined = [(list(xs), list(ys)) for xs, ys in lines_of(picture.figure.axes[0]) if list(xs) == [0, 1]]
    assert joined == [([0, 1], [0.5, 0.6])]
    assert not [xs for xs, _ in lines_of(picture.figure.axes[0]) if list(xs) == [1, 2]]


def test_a_heat_map_holds_every_count():
    table = confusion(payload(FOUR)["matrix"][0], NAMES)
    picture = confusion_picture("x", "Symptom", table)
    axes = picture.figure.axes[0]
    assert axes.images[0].get_array().tolist() == [[2, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert sorted(text.get_text() for text in axes.texts) == ["1", "1", "2"]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("ada", "ben")
    assert [row[4] for row in picture.rows] == [2, 0, 0, 1, 1, 0, 0, 0, 0]


def test_the_same_figure_gives_the_same_bytes_in_every_format():
    def files():
        return dict(intervals_picture("x", "Agreement", [("Symptom", interval(0.5, 0.2, 0.8))]).files())

    first, second = files(), files()
    assert set(first) == {"x.svg", "x.pdf", "x.png", "x.csv"}
    assert first == second
    assert first["x.pdf"].startswith(b"%PDF")
    assert first["x.png"].startswith(b"\x89PNG")
    assert b"<dc:date>" not in first["x.svg"]


# From a study


@pytest.fixture
def study(db):
    study = make_study()
    for answers in (FOUR, TWELVE):
        mark_read(close(coded_round(answers, study=study, goal=0.7)))
    return study


def drawn(study, **options):
    job = ask_for_figures(study=study, by=lead_of(study), **options)
    run_export(job.pk)
    job.refresh_from_db()
    assert job.state == ExportJob.State.DONE, job.error
    return job


def archive_of(job):
    with zipfile.ZipFile(export_folder() / job.file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_page_and_file_show_the_same_numbers(client, study):
    files = archive_of(drawn(study))
    second = study.rounds.get(number=2)
    (row,) = [each for each in rows_of(files["figures/agreement-round-2.csv"]) if each["name"] == "Symptom"]
    stored = store_agreement(second).payload["dimensions"][0]["kappa"]
    assert [float(row[key]) for key in ("value", "ci_low", "ci_high")] == [
        stored["value"],
        stored["ci_low"],
        min(stored["ci_high"], 1.0),
    ]
    client.force_login(lead_of(study).user)
    page = client.get(reverse("labeling:agreement-detail", args=[study.slug, 2])).text
    low, high = (f"{min(max(float(row[end]), 0), 1) * 100:.1f}" for end in ("ci_low", "ci_high"))
    assert f'd="M{low} 14H{high}"' in page
    text = f"{float(row['value']):.2f} [{float(row['ci_low']):.2f}, {float(row['ci_high']):.2f}]"
    assert text in files["figures/agreement-round-2.svg"].decode()
    counts = [each["units"] for each in rows_of(files["figures/confusion-round-2-symptom.csv"])]
    shown = re.findall(r'confusion__cell[^>]*>(?:<span class="visually-hidden">)?(\d+)<', page)
    assert sorted(counts) == sorted(shown)
    trend_rows = rows_of(files["figures/agreement-by-round.csv"])
    label = re.search(r'aria-label="(Symptom: Round 1[^"]*)"', page)[1]
    for each in trend_rows:
        assert f"Round {each['round']} Cohen&#x27;s κ {float(each['value']):.2f}" in label


def test_the_same_state_gives_the_same_archive(study):
    first, second = drawn(study), drawn(study)
    assert (export_folder() / first.file).read_bytes() == (export_folder() / second.file).read_bytes()


def test_pseudonyms_stand_in_for_names(study):
    files = archive_of(drawn(study, pseudonyms=True))
    assert b">ada<" not in files["figures/confusion-round-1-symptom.svg"]
    assert b">ada<" in archive_of(drawn(study))["figures/confusion-round-1-symptom.svg"]


def test_a_study_without_a_closed_round_has_nothing_to_draw(db):
    study = coded_round(FOUR).study
    with pytest.raises(RoundStateError):
        ask_for_figures(study=study, by=lead_of(study))
    assert not ExportJob.objects.exists()


def test_asking_makes_the_close_final(db):
    coding_round = close(coded_round(FOUR))
    ask_for_figures(study=coding_round.study, by=lead_of(coding_round.study))
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None


def test_a_failure_is_said_and_raised(study, monkeypatch):
    job = ask_for_figures(study=study, by=lead_of(study))

    def fail(*_):
        raise OSError

    monkeypatch.setattr("labeling.tasks.MAKERS", {"figures": ("figures.zip", fail)})
    with pytest.raises(OSError):  # noqa: PT011 - the very error of the maker
        run_export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.file) == (ExportJob.State.FAILED, "")
    assert "log of the worker" in job.error


def test_a_cancelled_job_leaves_no_file(study, monkeypatch):
    job = ask_for_figures(study=study, by=lead_of(study))
    monkeypatch.setattr("labeling.services.jobs.Lease.renew", lambda _: False)
    run_export(job.pk)
    job.refresh_from_db()
    assert job.file == ""
    assert not export_folder().exists()


def test_a_kind_nobody_makes_is_told(study):
    job = ExportJob.objects.create(study=study, by=lead_of(study), kind="hologram")
    run_export(job.pk)
    job.refresh_from_db()
    assert (job.state, "hologram" in job.error) == (ExportJob.State.FAILED, True)


def test_what_is_older_than_thirty_days_is_taken_away_and_recorded(client, study):
    old, new = drawn(study), drawn(study)
    month = (timezone.now() - KEPT - timedelta(minutes=1)).timestamp()
    os.utime(export_folder() / str(old.pk), (month, month))
    (export_folder() / "999999").mkdir()
    os.utime(export_folder() / "999999", (month, month))
    assert (remove_old_files(), remove_old_files()) == (2, 0)
    assert [each.name for each in export_folder().iterdir()] == [str(new.pk)]
    assert study.events.filter(verb="export.removed").count() == 1
    client.force_login(lead_of(study).user)
    page = client.get(reverse("labeling:export-figures", args=[study.slug])).text
    assert "removed after thirty days" in page
    assert page.count("Download<") == 1


def test_figures_are_asked_for_and_fetched_over_the_api(study):
    client = APIClient()
    client.force_authenticate(lead_of(study).user)
    asked = client.post(reverse("api:export-figures", args=[study.slug]), {"pseudonyms": True}, format="json")
    assert (asked.status_code, asked.json()["result_url"]) == (202, None)
    run_export(ExportJob.objects.get().pk)
    job = client.get(asked["Location"]).json()
    assert job["state"] == "done"
    archive = client.get(job["result_url"]).getvalue()
    assert zipfile.ZipFile(io.BytesIO(archive)).testzip() is None
    outsider = APIClient()
    outsider.force_authenticate(lead_of(make_study()).user)
    assert outsider.get(job["result_url"]).status_code == 404


# The page


def test_the_page_asks_waits_and_offers_the_archive(client, study):
    client.force_login(lead_of(study).user)
    address = reverse("labeling:export-figures", args=[study.slug])
    assert "Nobody has asked for figures yet" in client.get(address).text
    assert client.post(address).status_code == 302
    job = ExportJob.objects.get()
    page = client.get(address).text
    assert 'hx-trigger="every 2s"' in page
    fetch = reverse("labeling:export-job", args=[study.slug, job.pk])
    assert fetch not in page
    assert client.get(fetch).status_code == 404
    run_export(job.pk)
    page = client.get(address).text
    assert fetch in page
    assert "hx-trigger" not in page.split('id="figures"')[1]
    response = client.get(fetch)
    assert response["Content-Disposition"] == 'attachment; filename="figures.zip"'
    assert zipfile.ZipFile(io.BytesIO(response.getvalue())).testzip() is None


def test_an_observer_fetches_their_own_and_a_coder_none(client, study):
    job = drawn(study)
    fetch = reverse("labeling:export-job", args=[study.slug, job.pk])
    observer = make_member(study, role=Role.OBSERVER)
    client.force_login(observer.user)
    assert client.get(fetch).status_code == 404
    own = ask_for_figures(study=study, by=observer)
    run_export(own.pk)
    response = client.get(reverse("labeling:export-job", args=[study.slug, own.pk]))
    assert response.getvalue().startswith(b"PK")
    client.force_login(coder_called(study, "ada").user)
    assert client.get(fetch).status_code == 404
    assert client.get(reverse("labeling:export-figures", args=[study.slug])).status_code == 403
