"""The page of a round's agreement: who sees it when, and that it shows the stored numbers."""

import html
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from labeling.models import Category, Membership, Role, Round
from labeling.services.agreement import mark_read, report_of, store_agreement
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_member,
    make_round,
    make_study,
    make_submission,
)
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}
DASH = "\N{MINUS SIGN}"


def address(coding_round):
    return reverse("labeling:agreement-detail", args=[coding_round.study.slug, coding_round.number])


def read_round(answers=FOUR, **fields):
    """Make a closed round whose numbers somebody has seen."""
    coding_round = close(coded_round(answers, **fields))
    mark_read(coding_round)
    return coding_round


def page_of(client, coding_round, user=None, query=""):
    client.force_login(user or lead_of(coding_round.study).user)
    response = client.get(address(coding_round) + query)
    assert response.status_code == 200
    return response.text


# Who, and when


def test_an_open_round_says_that_its_agreement_appears_when_it_closes(client):
    coding_round = coded_round(FOUR)
    page = page_of(client, coding_round)
    assert "Agreement appears here when it closes" in page
    assert "0.50" not in page
    assert client.post(address(coding_round)).status_code == 409


def test_the_first_reader_is_asked_before_the_close_becomes_final(client):
    coding_round = close(coded_round(FOUR))
    page = page_of(client, coding_round)
    assert "Show the agreement" in page
    assert "0.50" not in page
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is None
    response = client.post(address(coding_round), follow=True)
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None
    assert "0.50" in response.text


def test_a_coder_reads_the_rounds_they_coded_in(client):
    coding_round = read_round()
    assert "0.50" in page_of(client, coding_round, coder_called(coding_round.study, "ada").user)
    stranger = make_member(coding_round.study).user
    client.force_login(stranger)
    assert client.get(address(coding_round)).status_code == 403


@pytest.mark.parametrize("role", [Role.ADJUDICATOR, Role.OBSERVER])
def test_who_codes_nothing_reads_every_closed_round(client, role):
    coding_round = read_round()
    assert "0.50" in page_of(client, coding_round, make_member(coding_round.study, role=role).user)


def test_an_outsider_finds_nothing(client):
    coding_round = read_round()
    client.force_login(lead_of(make_study()).user)
    assert client.get(address(coding_round)).status_code == 404


def test_the_home_goes_to_the_newest_closed_round(client):
    study = make_study()
    first, second = read_round(study=study), read_round(study=study)
    coded_round(FOUR, study=study)
    home = reverse("labeling:agreement-home", args=[study.slug])
    client.force_login(lead_of(study).user)
    assert client.get(home).url == address(second)
    cleo = make_member(study, user="cleo")
    client.force_login(cleo.user)
    assert "when a round that you may read is closed" in client.get(home).text
    assert first.number < second.number


def test_a_crash_before_the_numbers_were_stored_is_healed_by_the_reader(client):
    coding_round = coded_round(FOUR)
    coding_round.move_to(Round.State.CLOSED)
    mark_read(coding_round)
    assert "0.50" in page_of(client, coding_round)


def test_an_anonymous_round_calls_coders_by_pseudonym(client):
    page = page_of(client, read_round(anonymous=True))
    assert "C2 and C3" in page
    assert "ada" not in page


# The numbers


def test_the_interval_is_drawn_where_the_report_says(client):
    coding_round = read_round(goal=0.8)
    (symptom,) = store_agreement(coding_round).payload["dimensions"]
    page = page_of(client, coding_round)
    low, high = (f"{min(max(symptom['kappa'][end], 0), 1) * 100:.1f}" for end in ("ci_low", "ci_high"))
    assert f'<path class="kappa-interval__range" d="M{low} 14H{high}"/>' in page
    assert '<path class="kappa-interval__point" d="M50.0 14h.01"/>' in page
    assert '<path class="kappa-interval__target" d="M80.0 0V28"/>' in page
    assert "Cohen&#x27;s κ" in page
    assert "75.00%" in page
    assert f"{symptom['ac1']['value']:.2f}" in page
    assert symptom["reading"]["words"] in page


def test_eligibility_comes_first(client):
    answers = {"ada": ["crash", "-duplicate", "hang"], "ben": ["crash", "-duplicate", "hang"]}
    page = page_of(client, read_round(answers))
    assert page.index("kept or excluded") < page.index('class="dimension-name dim-1"')


def test_the_table_of_two_coders_links_its_cells_to_their_disagreements(client):
    coding_round = read_round()
    page = page_of(client, coding_round)
    listing = reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    cell = f"{listing}?dimension=symptom&amp;decided=all&amp;cell={quote('crash|hang', safe='')}"
    assert page.count(f'href="{cell}"') == 2  # the cell, and the pair
    assert 'aria-label="ada Hang, ben Crash: 1 unit"' in page
    diagonal = re.findall(r'<a class="confusion__cell heat-\d is-diagonal"[^>]*>(\d+)</a>', page)
    assert diagonal == ["2", "1"]
    assert client.get(cell.replace("&amp;", "&")).status_code == 302


def test_the_cells_of_eligibility_lead_to_the_units_excluded_by_one(client):
    answers = {"ada": ["crash", "-duplicate"], "ben": ["crash", "hang"]}
    page = page_of(client, read_round(answers), query="?dimension=eligibility")
    assert "dimension=_unit&amp;decided=all&amp;cell=excluded%7Ckept" in page


def test_categories_are_known_by_their_key_and_stand_in_groups(client):
    coding_round = coded_round(FOUR)
    Category.objects.filter(code="crash").update(hotkey="q")
    page = page_of(client, _read(coding_round))
    assert '<abbr title="Crash"><kbd class="key">q</kbd></abbr>' in page
    assert '<th scope="rowgroup" rowspan="2" class="confusion__group">Runtime</th>' in page


def _read(coding_round):
    close(coding_round)
    mark_read(coding_round)
    return coding_round


def test_one_single_category_is_explained_in_place(client):
    page = page_of(client, read_round({"ada": ["crash"] * 3, "ben": ["crash"] * 3}))
    assert "has no value here" in page
    assert '<a href="#undefined-symptom">What to report</a>' in page
    assert 'id="undefined-symptom"' in page
    assert "It does not mean that agreement is poor" in page


def test_high_agreement_with_a_low_kappa_is_explained(client):
    answers = {"ada": ["crash"] * 19 + ["hang"], "ben": ["crash"] * 18 + ["hang", "crash"]}
    page = page_of(client, read_round(answers))
    assert "90.00%" in page
    assert f"{DASH}0.05" in page
    assert "Agreement is high and kappa low" in page


def test_three_coders_see_their_pairs_and_choose_one(client):
    coding_round = read_round(FOUR | {"cleo": ["hang", "crash", "hang", "crash"]}, coders_per_unit=3)
    page = page_of(client, coding_round, query="?dimension=symptom&pair=2")
    assert "Pair by pair" in page
    assert "Rows: ben (A). Columns: cleo (B)" in page
    assert "Light&#x27;s κ" in page
    assert "cell=" not in page  # disagreements of three coders hold three answers
    assert "agreement/units/?dimension=symptom&amp;pair=2&amp;first=" in page


def test_a_pair_that_shares_no_unit_has_a_dash_and_the_reason(client):
    answers = {
        "ada": ["crash", "hang", "crash", None, None],
        "ben": ["crash", "hang", None, "crash", "hang"],
        "cleo": [None, None, None, "crash", "crash"],
    }
    page = page_of(client, read_round(answers, coders_per_unit=3))
    part = section(page, "agreement-pairs")
    assert "ada and cleo" in part
    assert 'title="No unit was coded by two coders.">\N{EN DASH}<' in part


def test_every_cell_opens_its_units(client):
    coding_round = read_round({"ada": ["crash", "crash", "hang"], "ben": ["crash", "hang", "hang"]})
    lead, ada = lead_of(coding_round.study).user, coder_called(coding_round.study, "ada")
    first, second, _ = (each.unit for each in coding_round.round_units.order_by("pk"))
    units = re.search(
        r'href="([^"]*agreement/units/[^"]*first=crash&amp;second=crash)"', page_of(client, coding_round)
    )
    diagonal = html.unescape(units[1])
    client.force_login(lead)
    page = client.get(diagonal).text
    assert "1 unit on which ada and ben gave this answer" in page
    assert (first.ref in page, second.ref in page) == (True, False)
    opened = re.search(r'class="disagreement" href="([^"]*)"', page)[1]
    assert "Reopen this decision" in client.get(opened).text
    client.post(opened, {"action": "reopen", "reason": "Both of us misread it."})
    queue = client.get(
        reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    )
    assert queue.status_code == 302
    other = client.get(diagonal.replace("second=crash", "second=hang")).text
    assert "ada gave the first and ben the second answer" in other
    assert second.ref in other
    make_round(coding_round.study, coders=[ada], units=[first])
    client.force_login(ada.user)
    page = client.get(diagonal).text
    assert first.ref not in page
    assert "1 unit is hidden from you" in page
    for odd in ("pair=7", "pair=x", "dimension=nothing"):
        assert client.get(f"{diagonal}&{odd}").status_code == 404
    Round.objects.update(anonymous=True)
    assert client.get(diagonal.replace("second=crash", "second=hang")).status_code == 404


def test_multiple_choice_has_categories_and_no_table_of_answers(client):
    study = make_study()
    make_codebook(study).dimensions.exclude(key="fix").delete()
    ada, ben = make_member(study, user="ada"), make_member(study, user="ben")
    coding_round = make_round(study, coders=[ada, ben], units=3)
    for coder, answers in ((ada, [["call"], [], ["call", "rewrite"]]), (ben, [["call"], [], ["rewrite"]])):
        for place, answer in enumerate(answers):
            make_submission(assignment_of(coding_round, coder, place), {"fix": answer})
    page = page_of(client, _read(coding_round))
    assert "MASI" in page
    assert "Mean κ per category" in page
    assert "no table of one answer against another" in page
    assert "Fix, category by category" in page


def test_units_left_out_are_listed_unless_the_reader_codes_them_again(client):
    answers = {"ada": ["crash", "-duplicate", "hang"], "ben": ["crash", "crash", "hang"]}
    coding_round = read_round(answers)
    left = coding_round.round_units.order_by("pk")[1].unit
    ada = coder_called(coding_round.study, "ada")
    section = page_of(client, coding_round, ada.user).split('id="left-out"')[1]
    assert left.ref in section
    make_round(coding_round.study, coders=[ada], units=[left])
    section = page_of(client, coding_round, ada.user).split('id="left-out"')[1]
    assert left.ref not in section
    assert "1 unit: excluded by one coder" in section
    assert "hidden while you code it again" in section


def test_rounds_that_were_read_are_drawn_side_by_side(client):
    study = make_study()
    first, second = read_round(study=study), read_round({"ada": FOUR["ada"], "ben": FOUR["ada"]}, study=study)
    close(coded_round(FOUR, study=study))
    coded_round(FOUR, study=study)
    page = page_of(client, second)
    label = re.search(r'aria-label="(Symptom: Round 1[^"]*)"', page)
    assert label is not None
    assert "Round 1 Cohen&#x27;s κ 0.50" in label[1]
    assert "Round 2 Cohen&#x27;s κ 1.00" in label[1]
    assert "Round 3" not in label[1]  # nobody has chosen to see it yet
    assert "Round 4 hidden" in label[1]
    numbers = section(page, "trend-tex")
    assert "Symptom & 2 & Cohen's $\\kappa$ & 1.00" in html.unescape(numbers)
    assert first.number == 1


def test_a_single_round_has_no_trend(client):
    assert "agreement-trend" not in page_of(client, read_round())


def test_the_sentence_for_the_paper_can_be_copied(client):
    page = page_of(client, read_round())
    assert '<p id="sentence">Two coders independently labelled 4 issues.' in page
    assert 'data-copy="sentence"' in page
    assert "Open: 1 of 1 issue." in page


def test_a_round_after_unblinding_is_marked_as_not_independent(client):
    assert "Not independent" in page_of(client, read_round(after_unblinding=True))


def test_training_compares_each_coder_with_the_reference(client):
    study = make_study()
    make_codebook(study).dimensions.exclude(key="symptom").delete()
    reference = make_member(study, kind=Membership.Kind.REFERENCE, title="Known answers")
    coders = [make_member(study, user=name) for name in ("ada", "ben")]
    coding_round = make_round(study, coders=[reference, *coders], units=2, kind=Round.Kind.TRAINING)
    for coder in (reference, *coders):
        for place, answer in enumerate(("crash", "hang")):
            make_submission(assignment_of(coding_round, coder, place), {"symptom": answer})
    coding_round.move_to(Round.State.CLOSED)
    mark_read(coding_round)
    page = page_of(client, coding_round)
    assert "Each coder against the reference" in page
    assert "Known answers and ada" in page
    assert "Known answers and ben" in page
    assert "For the paper" not in page


def test_where_the_numbers_come_from_is_said(client):
    coding_round = read_round()
    report = store_agreement(coding_round)
    page = page_of(client, coding_round)
    assert report.software_version in page
    assert f"seed {report.payload['dimensions'][0]['seed']}" in page


def test_the_file_is_offered_to_those_who_may_have_it(client):
    coding_round = read_round()
    file = reverse("labeling:export-file", args=[coding_round.study.slug, "agreement.csv"])
    assert file in page_of(client, coding_round)
    assert file not in page_of(client, coding_round, coder_called(coding_round.study, "ada").user)


def test_another_dimension_comes_alone_for_htmx(client):
    coding_round = read_round()
    client.force_login(lead_of(coding_round.study).user)
    response = client.get(f"{address(coding_round)}?dimension=eligibility", headers={"HX-Request": "true"})
    assert response.text.count('id="agreement-closer"') == 1
    assert "<html" not in response.text
    assert "Eligibility, category by category" in response.text


@pytest.mark.parametrize("query", ["?dimension=nothing", "?pair=99", "?pair=x"])
def test_an_unknown_choice_shows_the_first(client, query):
    assert "Symptom, category by category" in page_of(client, read_round(), query=query)


def test_the_number_of_queries_does_not_grow(client):
    small = read_round()
    large = read_round({"ada": FOUR["ada"] * 3, "ben": FOUR["ben"] * 3})
    counts = []
    for coding_round in (small, large):
        page_of(client, coding_round)
        with CaptureQueriesContext(connection) as queries:
            client.get(address(coding_round))
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 26


# Parts that are asked for


def section(page, name):
    """The part of a page between the id of one of its cards and the end of that card."""
    assert f'id="{name}"' in page, name
    return page.split(f'id="{name}"')[1].split("</section>")[0]


TWELVE = {"ada": ["crash", "hang"] * 6, "ben": ["crash", "hang"] * 5 + ["hang", "crash"]}


def in_two_repositories(coding_round):
    for place, unit in enumerate(coding_round.round_units.order_by("pk").select_related("unit__issue")):
        issue = unit.unit.issue
        issue.repository = f"o/r{place % 2}"
        issue.save(update_fields=["repository"])
    return coding_round


def test_units_of_several_repositories_are_resampled_by_repository(client):
    answers = {"ada": ["crash", "crash", "hang", "hang"] * 4, "ben": ["crash", "hang", "hang", "crash"] * 3}
    answers["ben"] += ["crash", "crash", "hang", "hang"]
    coding_round = _read(in_two_repositories(coded_round(answers)))
    (symptom,) = store_agreement(coding_round).payload["dimensions"]
    part = section(page_of(client, coding_round), "agreement-clusters")
    assert f"{symptom['clusters']['headline']['ci_low']:.2f}".replace("-", DASH) in part
    assert "with fewer than 10 repositories" in part


def test_a_breakdown_by_repository_shows_the_numbers_of_each(client):
    coding_round = _read(in_two_repositories(coded_round(TWELVE)))
    part = section(page_of(client, coding_round, query="?by=repository"), "agreement-breakdown")
    (first, second) = report_of(coding_round, scope="repository").payload["groups"]
    assert [first["name"], second["name"]] == ["o/r0", "o/r1"]
    for group in (first, second):
        assert group["name"] in part
        assert f"{group['dimensions'][0]['kappa']['value']:.2f}".replace("-", DASH) in part
    assert "fewer than 10 units" in part


def test_one_repository_offers_no_breakdown_by_it(client):
    assert "by=repository" not in page_of(client, read_round(TWELVE))


def test_a_later_codebook_stands_beside_what_was_coded(client):
    coding_round = read_round(TWELVE)
    assert "by=version" not in page_of(client, coding_round)
    later = make_codebook(coding_round.study)
    later.dimensions.exclude(key="symptom").delete()
    part = section(page_of(client, coding_round, query="?by=version"), "agreement-breakdown")
    assert "As coded, version 1" in part
    assert f"Mapped to version {later.version}, post hoc" in part


def test_two_rounds_are_compared_by_their_difference(client):
    study = make_study()
    first, second = read_round(study=study), read_round(TWELVE, study=study)
    page = page_of(client, second, query=f"?against={first.number}")
    part = section(page, "agreement-change")
    before = store_agreement(first).payload["dimensions"][0]["kappa"]["value"]
    after = store_agreement(second).payload["dimensions"][0]["kappa"]["value"]
    assert f"+{after - before:.2f}" in part
    assert "4 and 12, different units" in part
    back = section(page_of(client, first, query=f"?against={second.number}"), "agreement-change")
    assert f"+{after - before:.2f}" in back  # the later less the earlier, whichever page asks


def test_a_round_nobody_has_looked_at_is_not_compared_with(client):
    study = make_study()
    shown, shut = read_round(study=study), close(coded_round(FOUR, study=study))
    page = page_of(client, shown, query=f"?against={shut.number}")
    assert "agreement-change" not in page


def test_claims_about_the_goal_name_the_lower_limit(client):
    coding_round = read_round(TWELVE, goal=0.6)
    (symptom,) = store_agreement(coding_round).payload["dimensions"]
    part = section(page_of(client, coding_round), "agreement-claims")
    assert f"{symptom['claim']['lower']:.2f}" in part
    assert "“All dimensions reach 0.60” is not supported" in part


def test_a_pilot_that_reached_its_goal_is_marked_as_optimistic(client):
    study = make_study()
    reached = read_round(TWELVE, study=study, kind=Round.Kind.PILOT, goal=0.6)
    missed = read_round(TWELVE, study=study, kind=Round.Kind.PILOT, goal=0.9)
    main = read_round(TWELVE, study=study, goal=0.6)
    assert "Stopping value, optimistic" in page_of(client, reached)
    assert "Stopping value, optimistic" not in page_of(client, missed)
    assert "Stopping value, optimistic" not in page_of(client, main)


def test_a_retest_says_how_many_days_lie_between(client):
    study = make_study()
    first = read_round(study=study)
    ada = coder_called(study, "ada")
    units = [each.unit for each in first.round_units.order_by("pk")]
    retest = make_round(study, coders=[ada], units=units, kind=Round.Kind.RETEST, based_on=first)
    for place, answer in enumerate(("crash", "hang", "hang", "hang")):
        later = timezone.now() + timedelta(days=20, hours=1)
        make_submission(assignment_of(retest, ada, place), {"symptom": answer}, at=later)
    page = page_of(client, _read(retest))
    part = section(page, "agreement-gaps")
    assert "median 20" in part
    assert "4 units" in part
    assert "agreement-change" not in page


def test_all_coefficients_are_listed_with_their_names(client):
    part = section(page_of(client, read_round(TWELVE)), "agreement-coefficients")
    for name in (
        "PABAK",
        "Scott&#x27;s π",
        "Largest κ the coders&#x27; rates allow",
        "Cohen&#x27;s κ, analytic interval",
    ):
        assert name in part
    assert "_" not in re.sub(r"<[^>]+>", "", part)


def test_two_categories_that_were_confused_show_their_definitions(client):
    coding_round = coded_round(FOUR)
    Category.objects.filter(code="crash").update(definition="It ends by itself.")
    page = page_of(client, _read(coding_round))
    part = page.split('id="pairs-title"')[1].split("</section>")[0]
    assert "Definitions side by side" in part
    assert "It ends by itself." in part


def test_warnings_call_categories_by_their_names(client):
    answers = {"ada": ["crash"] * 19 + ["hang"], "ben": ["crash"] * 18 + ["hang", "crash"]}
    assert "because “Crash” is 95.00% of all answers" in page_of(client, read_round(answers))


def test_each_table_can_be_had_in_latex(client):
    coding_round = read_round(TWELVE)
    page = page_of(client, coding_round)
    for part in ("dimensions", "claims", "categories", "confusion", "coefficients-1", "sentence"):
        assert f'data-copy="{part}-tex"' in page
        assert f'id="{part}-tex"' in page
    kappa = store_agreement(coding_round).payload["dimensions"][0]["kappa"]["value"]
    text = page.split('id="dimensions-tex"')[1].split("</pre>")[0]
    assert "\\toprule" in text
    assert f"$\\kappa$ &amp; {kappa:.2f} &amp;" in text
