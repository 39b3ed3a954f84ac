"""What exists, one concept a module. Meaning and rules: ARCHITECTURE.md."""

from .agreement import AgreementReport
from .annotation import Annotation, AnnotationCategory, Evidence, Submission
from .codebook import (
    RESERVED_STATES,
    Category,
    CategoryMapping,
    CategoryProposal,
    Codebook,
    CodebookAct,
    Dimension,
)
from .decision import UNIT, Comment, Decision, DecisionProposal, DecisionVersion, DisagreementReason
from .event import Event, Notice
from .issue import CorpusRule, DistinctPair, Issue, IssueSnapshot, SnapshotDocument
from .job import AnnotationImport, ExportJob, Heartbeat, IdempotentReply, Job, Leased
from .round import Assignment, Round, RoundUnit
from .sample import Sample, SampleUnit
from .study import CODING_ROLES, Invitation, Membership, Role, Study
from .unit import Unit
from .user import SourceToken, User

__all__ = [
    "CODING_ROLES",
    "RESERVED_STATES",
    "UNIT",
    "AgreementReport",
    "Annotation",
    "AnnotationCategory",
    "AnnotationImport",
    "Assignment",
    "Category",
    "CategoryMapping",
    "CategoryProposal",
    "Codebook",
    "CodebookAct",
    "Comment",
    "CorpusRule",
    "Decision",
    "DecisionProposal",
    "DecisionVersion",
    "Dimension",
    "DisagreementReason",
    "DistinctPair",
    "Event",
    "Evidence",
    "ExportJob",
    "Heartbeat",
    "IdempotentReply",
    "Invitation",
    "Issue",
    "IssueSnapshot",
    "Job",
    "Leased",
    "Membership",
    "Notice",
    "Role",
    "Round",
    "RoundUnit",
    "Sample",
    "SampleUnit",
    "SnapshotDocument",
    "SourceToken",
    "Study",
    "Submission",
    "Unit",
    "User",
]
