"""One noun a file."""

from chat.models.action import Action
from chat.models.approval import Approval, ApprovalStatus
from chat.models.artifact import Artifact, Stray
from chat.models.conversation import Conversation, ConversationKind
from chat.models.model_call import ModelCall
from chat.models.piece import Piece
from chat.models.policy import Origin, Policy, PolicyVersion
from chat.models.queue import Lane, Queue
from chat.models.run import ENDED, LIVE, Run, RunStatus
from chat.models.run_document import RunDocument
from chat.models.space import Membership, Space, SpaceKind, SpaceRole
from chat.models.turn import Turn, TurnStatus
from chat.models.turn_document import TurnDocument
from chat.models.user import User
from chat.models.worker import Worker

__all__ = [
    "ENDED",
    "LIVE",
    "Action",
    "Approval",
    "ApprovalStatus",
    "Artifact",
    "Conversation",
    "ConversationKind",
    "Lane",
    "Membership",
    "ModelCall",
    "Origin",
    "Piece",
    "Policy",
    "PolicyVersion",
    "Queue",
    "Run",
    "RunDocument",
    "RunStatus",
    "Space",
    "SpaceKind",
    "SpaceRole",
    "Stray",
    "Turn",
    "TurnDocument",
    "TurnStatus",
    "User",
    "Worker",
]
