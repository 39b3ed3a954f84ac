"""Events and notices in words. Verbs are data; these are the sentences pages show for them."""

from labeling.models import Event, Notice

EVENTS = {
    "agreement.stored": "stored the agreement of",
    "codebook.changed": "changed the draft of",
    "codebook.frozen": "froze",
    "codebook.undone": "undid the last change of",
    "comment.added": "wrote about",
    "decision.escalated": "asked an adjudicator about",
    "decision.proposed": "proposed a decision on",
    "decision.recorded": "decided",
    "decision.reopened": "reopened the decision on",
    "export.removed": "removed an old file of",
    "invitation.made": "made an invitation",
    "invitation.revoked": "withdrew an invitation",
    "member.added": "joined the study or added a member",
    "member.changed": "changed a member",
    "member.erased": "was erased on request",
    "member.returned": "came back to the study",
    "reconciliation.opened": "opened the reconciliation of",
    "round.coders_added": "added coders to",
    "round.finished": "finished",
    "round.first_read": "was the first to read answers of",
    "round.redealt": "dealt anew what a coder left in",
    "round.reference_given": "gave known answers of",
    "round.reference_taken_back": "took back the known answers of",
    "round.units_added": "added units to",
    "study.changed": "changed the settings",
    "study.created": "made the study",
    "study.deleted": "deleted the study",
    "study.restored": "brought the study back",
    "unit.split": "split",
}
NOTICES = {
    "assignment.returned": "Returned to you:",
    "comment.added": "New in the discussion of",
    "comment.mentioned": "You were mentioned in the discussion of",
    "decision.escalated": "You are asked to decide:",
    "decision.proposed": "A proposal waits for you:",
    "decision.recorded": "Decided:",
    "decision.reopened": "A decision was reopened:",
    "reconciliation.opened": "Disagreements wait for your decision:",
    "round.closed": "Closed for coding, its answers are open now:",
    "round.opened": "Opened for coding:",
    "round.reopened": "Opened for coding again:",
    "round.units_added": "More units to code in",
    "unit.split": "Split into parts that wait for a decision:",
}
# Objects that a sentence names already, or that have no name to print.
UNNAMED = {"invitation", "member", "study"}


def event_text(event: Event) -> str:
    """What somebody did, without who: "froze codebook v2"."""
    verb = EVENTS.get(event.verb) or _plain(event.verb)
    return f"{verb} {_object(event.object)}".strip()


def notice_text(notice: Notice) -> str:
    """What happened, as the inbox says it."""
    return f"{NOTICES.get(notice.verb) or _plain(notice.verb).capitalize()} {_object(notice.object)}".strip()


def _plain(verb: str) -> str:
    """Say a verb that has no sentence: sample.topped_up as topped up."""
    return verb.rsplit(".", 1)[-1].replace("_", " ")


def _object(named: str) -> str:
    kind, _, name = named.partition(":")
    if kind in UNNAMED or not name:
        return ""
    if kind == "codebook":
        return f"codebook v{name}"
    return name if kind == "unit" else f"{kind} {name}"
