"""Pairs of issues that nearly say the same, as a member may see them."""

from dataclasses import dataclass

from labeling.selectors.corpus import Corpus, ListedIssue
from labeling.services.near_duplicates import kept_apart, last_look


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two issues and how near they are, 1 for the same words; ``original`` came first."""

    original: ListedIssue
    copy: ListedIssue
    similarity: float


def candidates(seen: Corpus) -> list[Candidate]:
    """What the last look found and nobody settled yet, the nearest first."""
    look = last_look(seen.member.study)
    pairs = look.progress.get("pairs", []) if look is not None else []
    ids = {pk for one, other, _ in pairs for pk in (one, other)}
    # A text that is hidden from the member would be told by what it is near to.
    open_to_me = seen.issues().exclude(seen.masks.hiding()).filter(pk__in=ids, duplicate_of=None, gone=False)
    issues = {issue.id: issue for issue in seen.listed(open_to_me)}
    apart = kept_apart(seen.member.study)
    return [
        Candidate(issues[one], issues[other], score)
        for one, other, score in pairs
        if one in issues and other in issues and (one, other) not in apart
    ]
