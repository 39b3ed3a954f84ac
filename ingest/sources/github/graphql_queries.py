"""What GraphQL is asked. Checked against GitHub's published schema; each query names itself."""

from collections.abc import Sequence

from ingest.sources.github.addresses import IssueAddress

_ACTOR = "{ login __typename }"
_REACTIONS = "reactionGroups { content reactors { totalCount } }"
_PULL = """
  number title body url state merged mergedAt additions deletions changedFiles
  mergeCommit { oid } repository { nameWithOwner }
"""
_COMMIT = "oid message url additions deletions changedFilesIfAvailable repository { nameWithOwner }"
_SOURCE = f"""
  __typename
  ... on PullRequest {{ {_PULL} }}
  ... on Issue {{ number title url repository {{ nameWithOwner }} }}
"""
_ASSIGNEE = "assignee { ... on User { login } ... on Bot { login } }"

COMMENTS = f"""
  pageInfo {{ hasNextPage endCursor }}
  nodes {{
    id fullDatabaseId body createdAt updatedAt authorAssociation author {_ACTOR} {_REACTIONS}
  }}
"""
_SHARED_EVENTS = f"""
    ... on ReopenedEvent {{ createdAt actor {_ACTOR} }}
    ... on LabeledEvent {{ createdAt actor {_ACTOR} label {{ name }} }}
    ... on UnlabeledEvent {{ createdAt actor {_ACTOR} label {{ name }} }}
    ... on RenamedTitleEvent {{ createdAt actor {_ACTOR} previousTitle currentTitle }}
    ... on CrossReferencedEvent {{ createdAt actor {_ACTOR} willCloseTarget source {{ {_SOURCE} }} }}
    ... on ReferencedEvent {{
      createdAt actor {_ACTOR} commit {{ {_COMMIT} }} commitRepository {{ nameWithOwner }}
    }}
    ... on ConnectedEvent {{ createdAt actor {_ACTOR} subject {{ {_SOURCE} }} }}
    ... on DisconnectedEvent {{ createdAt actor {_ACTOR} subject {{ {_SOURCE} }} }}
    ... on MilestonedEvent {{ createdAt actor {_ACTOR} milestoneTitle }}
    ... on DemilestonedEvent {{ createdAt actor {_ACTOR} milestoneTitle }}
    ... on AssignedEvent {{ createdAt actor {_ACTOR} {_ASSIGNEE} }}
    ... on UnassignedEvent {{ createdAt actor {_ACTOR} {_ASSIGNEE} }}
    ... on MarkedAsDuplicateEvent {{ createdAt actor {_ACTOR} }}
    ... on LockedEvent {{ createdAt actor {_ACTOR} lockReason }}
"""
ISSUE_EVENTS = f"""
  pageInfo {{ hasNextPage endCursor }}
  nodes {{
    __typename
    ... on ClosedEvent {{
      createdAt actor {_ACTOR} stateReason
      closer {{ __typename ... on PullRequest {{ {_PULL} }} ... on Commit {{ {_COMMIT} }} }}
    }}
    {_SHARED_EVENTS}
    ... on TransferredEvent {{ createdAt actor {_ACTOR} fromRepository {{ nameWithOwner }} }}
    ... on ConvertedToDiscussionEvent {{ createdAt actor {_ACTOR} }}
  }}
"""
PULL_EVENTS = f"""
  pageInfo {{ hasNextPage endCursor }}
  nodes {{
    __typename
    ... on ClosedEvent {{ createdAt actor {_ACTOR} }}
    ... on MergedEvent {{ createdAt actor {_ACTOR} commit {{ oid }} }}
    {_SHARED_EVENTS}
  }}
"""
_SHARED_EVENT_TYPES = (
    "CLOSED_EVENT, REOPENED_EVENT, LABELED_EVENT, UNLABELED_EVENT, RENAMED_TITLE_EVENT, "
    "CROSS_REFERENCED_EVENT, REFERENCED_EVENT, CONNECTED_EVENT, DISCONNECTED_EVENT, MILESTONED_EVENT, "
    "DEMILESTONED_EVENT, ASSIGNED_EVENT, UNASSIGNED_EVENT, MARKED_AS_DUPLICATE_EVENT, LOCKED_EVENT"
)
ISSUE_EVENT_TYPES = f"[{_SHARED_EVENT_TYPES}, TRANSFERRED_EVENT, CONVERTED_TO_DISCUSSION_EVENT]"
PULL_EVENT_TYPES = f"[{_SHARED_EVENT_TYPES}, MERGED_EVENT]"

_SHARED_FIELDS = f"""
  id fullDatabaseId number url title body createdAt updatedAt closedAt authorAssociation
  author {_ACTOR} milestone {{ title }} {_REACTIONS}
  labels(first: 100) {{ nodes {{ name }} }}
  repository {{ nameWithOwner databaseId }}
  comments(first: 50) {{ {COMMENTS} }}
"""
_DUPLICATE = "duplicateOf { number repository { nameWithOwner } }"
# The two kinds have states of different types: without aliases GitHub refuses the query.
ISSUES_QUERY = f"""
query Issues($ids: [ID!]!) {{
  nodes(ids: $ids) {{
    __typename
    ... on Issue {{
      {_SHARED_FIELDS}
      issueState: state stateReason
      {_DUPLICATE}
      closedByPullRequestsReferences(first: 5, includeClosedPrs: true) {{ nodes {{ {_PULL} }} }}
      timelineItems(first: 50, itemTypes: {ISSUE_EVENT_TYPES}) {{ {ISSUE_EVENTS} }}
    }}
    ... on PullRequest {{
      {_SHARED_FIELDS}
      pullState: state merged mergedAt additions deletions changedFiles mergeCommit {{ oid }}
      timelineItems(first: 50, itemTypes: {PULL_EVENT_TYPES}) {{ {PULL_EVENTS} }}
    }}
  }}
}}
"""
#: For servers that do not link duplicates yet.
OLDER_ISSUES_QUERY = ISSUES_QUERY.replace(_DUPLICATE, "")
MORE_COMMENTS_QUERY = f"""
query MoreComments($id: ID!, $after: String) {{
  node(id: $id) {{
    ... on Issue {{ connection: comments(first: 100, after: $after) {{ {COMMENTS} }} }}
    ... on PullRequest {{ connection: comments(first: 100, after: $after) {{ {COMMENTS} }} }}
  }}
}}
"""
MORE_ISSUE_EVENTS_QUERY = f"""
query MoreEvents($id: ID!, $after: String) {{
  node(id: $id) {{
    ... on Issue {{
      connection: timelineItems(first: 100, after: $after, itemTypes: {ISSUE_EVENT_TYPES}) {{
        {ISSUE_EVENTS}
      }}
    }}
  }}
}}
"""
MORE_PULL_EVENTS_QUERY = f"""
query MoreEvents($id: ID!, $after: String) {{
  node(id: $id) {{
    ... on PullRequest {{
      connection: timelineItems(first: 100, after: $after, itemTypes: {PULL_EVENT_TYPES}) {{
        {PULL_EVENTS}
      }}
    }}
  }}
}}
"""
COUNT_QUERY = """
query Count($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { issues { totalCount } pullRequests { totalCount } }
}
"""


def addresses_query(addresses: Sequence[IssueAddress]) -> str:
    """Ask for what several addresses name, and when it changed last; ``a0`` is the first."""
    asked = (
        f'  a{at}: repository(owner: "{each.owner}", name: "{each.name}") '
        f"{{ found: issueOrPullRequest(number: {each.number}) {{ ...Found }} }}"
        for at, each in enumerate(addresses)
    )
    return "query Addresses {\n" + "\n".join(asked) + "\n}\n" + _FOUND


_FOUND = """
fragment Found on IssueOrPullRequest {
  __typename
  ... on Issue { id number url updatedAt repository { nameWithOwner } }
  ... on PullRequest { id number url updatedAt repository { nameWithOwner } }
}
"""
