"""The templates: what none of them may hold, and what each component prints."""

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.core.paginator import Paginator
from django.template import Context, RequestContext, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone

from labeling.context import page_frame
from labeling.marks import mark_dimensions
from labeling.models import Dimension, Membership, Round, Study, User
from labeling.models.study import Role
from labeling.templatetags import components, shortcuts

TEMPLATES = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
FORBIDDEN = {
    "style attribute": re.compile(r"\sstyle\s*=", re.IGNORECASE),
    "style element": re.compile(r"<style\b", re.IGNORECASE),
    "inline script": re.compile(r"<script\b(?![^>]*\ssrc=)", re.IGNORECASE),
    "event attribute": re.compile(r"\son[a-z]+\s*=", re.IGNORECASE),
}


def render(source: str, **context: object) -> str:
    return Template("{% load components shortcuts %}" + source).render(Context(context))


def component(file: str, /, **context: object) -> str:
    return render_to_string(f"components/{file}.html", context)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_no_template_holds_inline_style_or_script(path):
    source = path.read_text()
    found = [name for name, pattern in FORBIDDEN.items() if pattern.search(source)]
    assert found == []


@pytest.mark.parametrize(
    ("inline", "name"),
    [
        ('<p style="color: red">', "style attribute"),
        ("<style>p{}</style>", "style element"),
        ("<script>alert(1)</script>", "inline script"),
        ('<a onclick="go()">', "event attribute"),
    ],
)
def test_the_check_finds_what_it_looks_for(inline, name):
    assert FORBIDDEN[name].search(inline)


def test_raw_colours_stand_in_the_tokens_alone():
    colour = re.compile(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(", re.IGNORECASE)
    frame = Path(settings.BASE_DIR, "templates", "base_document.html").read_text()
    sheets = [Path(settings.BASE_DIR, "static", name) for name in re.findall(r"'(css/\w+\.css)'", frame)]
    coloured = {sheet.name for sheet in sheets if colour.search(re.sub(r"/\*.*?\*/", "", sheet.read_text()))}
    assert coloured == {"tokens.css"}


def test_every_icon_a_template_draws_is_in_the_sprite():
    sprite = set(
        re.findall(r'<symbol id="([a-z]+)"', Path(settings.BASE_DIR, "static", "icons.svg").read_text())
    )
    drawn = {name for path in TEMPLATES for name in re.findall(r'{% icon "([a-z]+)" %}', path.read_text())}
    assert drawn <= sprite


# Numbers, names and dates


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.745, "0.75"), (-0.104, "\N{MINUS SIGN}0.10"), (-0.001, "0.00"), (1, "1.00"), (None, "undefined")],
)
def test_two_decimals_round_half_up_and_never_print_minus_zero(value, printed):
    assert components.two_decimals(value) == printed


def test_a_share_is_printed_with_two_decimals_and_a_share_of_nothing_is_undefined():
    assert components.percent_two(59, 300) == "19.67%"
    assert components.percent_two(0, 0) == "undefined"


def test_a_difference_has_its_sign_and_a_p_value_three_decimals():
    assert [components.signed_two(each) for each in (0.104, -0.104, 0.001, -0.001)] == [
        "+0.10",
        "\N{MINUS SIGN}0.10",
        "0.00",
        "0.00",
    ]
    assert [components.p_value(each) for each in (0.0456, 0.0002, 1.0)] == [
        "0.046",
        "<\N{NO-BREAK SPACE}0.001",
        "1.000",
    ]


@pytest.mark.parametrize(
    ("name", "letters"), [("Mira", "MI"), ("Ada Lovelace", "AL"), ("x", "X"), ("  ", "?")]
)
def test_an_avatar_shows_two_letters_of_the_name(name, letters):
    assert components.initials(name) == letters


def test_a_moment_is_printed_in_the_readers_zone_with_utc_beside_it():
    moment = datetime(2025, 3, 14, 23, 30, tzinfo=UTC)
    with timezone.override("Europe/Berlin"):
        printed = components.local_time(moment)
    assert ">15 Mar 2025, 00:30</time>" in printed
    assert 'datetime="2025-03-14T23:30:00Z" title="2025-03-14 23:30 UTC"' in printed


def test_a_date_without_time_is_printed_as_it_is():
    assert components.local_date(date(2025, 3, 14)) == '<time datetime="2025-03-14">14 Mar 2025</time>'


def test_a_moment_that_never_was_is_printed_as_nothing():
    assert components.local_time(None) == ""


# Dimensions and kappa


def test_dimensions_get_different_letters_and_colours():
    names = ["Symptom", "Root cause", "Fix", "Regression", "R", "Fix", "Seventh"]
    marks = mark_dimensions([Dimension(key=str(n), name=name) for n, name in enumerate(names)])
    assert [mark.letter for mark in marks.values()] == ["S", "R", "F", "E", "5", "I", "V"]
    assert [mark.index for mark in marks.values()] == [1, 2, 3, 4, 5, 6, 1]


def test_a_dimension_tag_carries_colour_letter_and_name():
    mark = mark_dimensions([Dimension(key="symptom", name="Symptom")])["symptom"]
    assert component("dimension_tag", mark=mark) == (
        '<span class="dimension-tag dim-1" title="Symptom">S</span>\n'
    )
    assert "Symptom</span>" in component("dimension_tag", mark=mark, with_name=True)


def test_a_kappa_interval_is_drawn_to_scale_and_read_out():
    drawn = render('{% kappa_interval "Fix" 0.82 0.73 0.88 0.8 %}')
    assert 'aria-label="Fix: 0.82, 95% interval 0.73 to 0.88"' in drawn
    assert 'd="M73.0 14H88.0"' in drawn
    assert 'd="M82.0 14h.01"' in drawn
    assert "kappa-interval__target" in drawn


def test_a_kappa_below_zero_has_no_point_on_the_scale():
    drawn = render('{% kappa_interval "Fix" -0.1 -0.3 0.2 %}')
    assert "\N{MINUS SIGN}0.10" in drawn
    assert "kappa-interval__point" not in drawn
    assert "M0.0 14H20.0" in drawn


def test_an_undefined_kappa_draws_nothing_but_says_so():
    drawn = render('{% kappa_interval "Fix" None %}')
    assert 'aria-label="Fix: undefined"' in drawn
    assert "kappa-interval__range" not in drawn


# Forms


class ImportForm(forms.Form):
    repositories = forms.CharField(widget=forms.Textarea, help_text="One per line.")
    state = forms.ChoiceField(choices=[("open", "Open"), ("closed", "Closed")], widget=forms.RadioSelect)
    bots = forms.BooleanField(required=False, label="Leave out bots")
    note = forms.CharField(required=False)
    file = forms.FileField(help_text="Up to 1 GB")


def test_a_field_ties_label_help_and_error_to_its_control():
    printed = render("{% field form.repositories %}", form=ImportForm(data={}))
    assert '<label for="id_repositories">Repositories' in printed
    assert 'aria-describedby="id_repositories_hint id_repositories_error"' in printed
    assert 'id="id_repositories_hint">One per line.' in printed
    assert 'id="id_repositories_error"' in printed
    assert 'aria-invalid="true"' in printed
    assert 'class="textarea"' in printed


def test_a_field_that_may_stay_empty_says_so():
    assert "optional" in render("{% field form.note %}", form=ImportForm())
    assert "optional" not in render("{% field form.repositories %}", form=ImportForm())


def test_a_choice_is_a_fieldset_with_a_legend_and_a_check_is_one_label():
    form = ImportForm()
    for look in ("", '"segmented"'):
        printed = render(f"{{% field form.state {look} %}}", form=form)
        assert "<legend>State" in printed
        assert printed.count('type="radio"') == 2
    assert '<label class="check"><input type="checkbox"' in render("{% field form.bots %}", form=form)


def test_a_dropzone_holds_the_file_input_that_covers_it():
    printed = render('{% field form.file "dropzone" %}', form=ImportForm(data={}))
    assert 'class="dropzone"' in printed
    assert 'type="file"' in printed
    assert 'id="id_file_error"' in printed


def test_errors_of_a_form_are_gathered_and_link_to_their_fields():
    form = ImportForm(data={"state": "open"})
    form.add_error(None, "GitHub does not know this token.")
    printed = render("{% form_errors form %}", form=form)
    assert "GitHub does not know this token." in printed
    assert '<a href="#id_repositories">Repositories</a>' in printed
    assert 'role="alert"' in printed
    assert render("{% form_errors form %}", form=ImportForm()).strip() == ""


# Lists


def on_page(source: str, url: str, **context: object) -> str:
    request = RequestFactory().get(url)
    return Template("{% load components %}" + source).render(RequestContext(request, context))


def test_pagination_keeps_the_other_parameters():
    page = Paginator(range(60), 25).page(2)
    printed = on_page('{% pagination page "units" %}', "/?state=open&page=2", page=page)
    assert "26 to 50 of 60 units" in printed
    assert 'href="?state=open&amp;page=1"' in printed
    assert 'href="?state=open&amp;page=3"' in printed


def test_a_list_of_one_page_has_no_pagination():
    page = Paginator(range(3), 25).page(1)
    assert on_page("{% pagination page %}", "/", page=page).strip() == ""


def test_a_sorted_column_says_its_direction_and_turns_round():
    printed = on_page('{% sort_header "Created" "created" %}', "/?ordering=created&page=4")
    assert 'aria-sort="ascending"' in printed
    assert 'href="?ordering=-created"' in printed
    assert "aria-sort" not in on_page('{% sort_header "Title" "title" %}', "/?ordering=created")


# Plain components


def test_a_button_is_a_link_where_it_goes_and_a_submit_button_where_it_sends():
    assert '<a class="button button--primary" href="/x">' in component(
        "button", label="Open", href="/x", tone="primary"
    )
    sent = component("button", label="Skip", name="action", value="skip")
    assert '<button type="submit" class="button" name="action" value="skip">' in sent


@pytest.mark.parametrize(
    ("state", "printed"), [("open", "pill--accent"), ("closed", "pill--warn"), ("reconciled", "pill--good")]
)
def test_a_round_shows_its_state_in_words_and_colour(state, printed):
    coding_round = Round(state=state)
    pill = component("round_state", coding_round=coding_round)
    assert printed in pill
    assert coding_round.get_state_display() in pill


def test_messages_are_read_out_and_errors_at_once():
    messages = [Message(constants.ERROR, "Not closed."), Message(constants.SUCCESS, "Saved.")]
    printed = component("messages", messages=messages)
    assert re.search(r'notice--bad" role="alert".*?Not closed\.', printed, re.DOTALL)
    assert re.search(r'notice--good" role="status".*?Saved\.', printed, re.DOTALL)


def test_a_meter_and_a_progress_say_whose_they_are():
    assert 'aria-label="Ada: 36 of 150"' in component("meter", value=36, max=150, label="Ada")
    known = component("progress", label="Import", value=3408, total=5090, text="issues")
    assert "<b>3,408</b> of 5,090 issues" in known
    unknown = component("progress", label="Import", value=7, total=None, text="issues so far")
    assert "max=" not in unknown


def test_an_empty_list_says_what_to_do_and_offers_it():
    printed = component("empty_state", text="No issues yet.", href="/new", action="Add repositories")
    assert "No issues yet." in printed
    assert 'href="/new">Add repositories</a>' in printed
    assert "<a" not in component("empty_state", text="No issues yet.")


def test_a_notice_and_crumbs_and_a_copy_button_print_what_they_are_given():
    assert "notice--warn" in component("notice", text="Wait.", tone="warn", title="Paused")
    assert '<a href="/r/3">Round 3</a>' in component("crumbs", parents=[("Round 3", "/r/3")])
    assert 'data-copy="sentence"' in component("copy_button", target="sentence", label="Copy sentence")


# Keys


def test_a_control_carries_its_key_and_prints_it():
    assert 'data-keys="Shift+S" aria-keyshortcuts="Shift+S"' in render('{% keys "skip" %}')
    assert render('{% key "undo" %}') == '<kbd class="key">Ctrl Z</kbd>'


def test_a_users_own_key_beats_the_default_everywhere():
    key_map = {"skip": "Shift+K"}
    assert 'data-keys="Shift+K"' in render('{% keys "skip" %}', key_map=key_map)
    assert "⇧K" in render("{% shortcut_list %}", key_map=key_map)
    assert "⇧S" not in render("{% shortcut_list %}", key_map=key_map)


def test_no_two_default_keys_of_a_page_collide():
    coding = [s.keys for title, group in shortcuts.GROUPS if title != "Reconciliation" for s in group]
    assert len(coding) == len(set(coding))


# Frames


def member_of(study: Study, role: str) -> Membership:
    return Membership(study=study, role=role, number=1, pseudonym="C1")


@pytest.mark.parametrize(
    ("role", "sees_corpus", "hidden"),
    [
        (Role.LEAD, False, set()),
        (Role.CODER, False, {"corpus", "sample"}),
        (Role.CODER, True, {"sample"}),
        (Role.OBSERVER, True, {"corpus", "sample", "coding"}),
    ],
)
def test_the_navigation_shows_the_places_a_role_reaches(role, sees_corpus, hidden):
    study = Study(slug="llm", title="LLM", coders_see_corpus=sees_corpus)
    places = components.study_nav(study, member_of(study, role), "rounds")["places"]
    assert {place.key for place in components.PLACES} - {place.key for place in places} == hidden


@pytest.mark.parametrize("name", ["400", "500", "csrf_failure", "offline", "registration/locked"])
def test_a_page_for_trouble_comes_up_without_request_or_context(name):
    printed = render_to_string(f"{name}.html")
    assert printed.count("<h1>") == 1
    assert "<script" not in printed


def test_the_frame_holds_one_heading_the_skip_link_and_the_saved_theme():
    request = RequestFactory().get("/nowhere")
    request.user = AnonymousUser()
    request.COOKIES["theme"] = "dark"
    printed = render_to_string("404.html", request=request)
    assert 'data-theme="dark"' in printed
    assert 'href="#main">Skip to the page content' in printed
    assert printed.count("<h1>") == 1
    assert 'id="live"' in printed


def test_the_theme_of_the_account_beats_the_cookie():
    request = RequestFactory().get("/nowhere")
    request.COOKIES["theme"] = "dark"
    request.user = User(username="ada", theme=User.Theme.AUTO)
    assert page_frame(request)["theme"] == ""
    request.user = AnonymousUser()
    assert page_frame(request)["theme"] == "dark"


def test_a_theme_nobody_offers_is_ignored():
    request = RequestFactory().get("/nowhere")
    request.COOKIES["theme"] = '"><script>'
    request.user = AnonymousUser()
    assert page_frame(request)["theme"] == ""
