"""One noun a file."""

from chat.models.action import Action
from chat.models.approval import Approval, ApprovalStatus
from chat.models.conversation import Conversation, ConversationKind
from chat.models.model_call import ModelCall
from chat.models.policy import Policy, PolicyVersion
from chat.models.queue import Queue
from chat.models.run import ENDED, LIVE, Run, RunStatus
from chat.models.search_document import SearchDocument
from chat.models.turn import Turn, TurnStatus
from chat.models.user import User
from chat.models.worker import Worker

__all__ = [
    "ENDED",
    "LIVE",
    "Action",
    "Approval",
    "ApprovalStatus",
    "Conversation",
    "ConversationKind",
    "ModelCall",
    "Policy",
    "PolicyVersion",
    "Queue",
    "Run",
    "RunStatus",
    "SearchDocument",
    "Turn",
    "TurnStatus",
    "User",
    "Worker",
]
