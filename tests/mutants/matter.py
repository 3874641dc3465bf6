"""Which tests are run against a mistake in a file: those that are about it, the quickest first."""

RUNS, LIVE, UNIT = "tests/integration/runs", "tests/integration/live", "tests/unit/chat"
PAGES = "tests/integration/reading/pages"

_FOLLOW = (
    f"{LIVE}/streams/test_follow.py",
    f"{LIVE}/streams/test_no_gap.py",
    f"{LIVE}/streams/test_interrupted.py",
)
_NEWS = (
    f"{LIVE}/streams/test_untold_news.py",
    f"{LIVE}/transports/test_watched.py",
    f"{LIVE}/streams/test_told_once.py",
)
_HELD = (
    f"{RUNS}/worker/test_stop.py",
    f"{RUNS}/worker/test_lease.py",
    f"{RUNS}/worker/test_leaving.py",
    f"{RUNS}/worker/test_connections.py",
)
_QUEUE = (
    f"{RUNS}/queue/test_queue.py",
    f"{RUNS}/queue/test_queue_at_once.py",
    f"{RUNS}/queue/test_queue_rows.py",
)
_ASKED_ABOUT = (
    f"{RUNS}/approvals/test_approvals.py",
    f"{RUNS}/approvals/test_answers.py",
    f"{RUNS}/approvals/test_waiting_run.py",
)
_CONVERSATION_PAGES = (
    f"{PAGES}/test_page_conversation.py",
    f"{PAGES}/test_page_asking.py",
    f"{PAGES}/test_page_conversations.py",
)
_STORED = (
    f"{RUNS}/record/test_indexed_turns.py",
    f"{RUNS}/policies/test_whole_run.py",
    f"{RUNS}/worker/test_held_calls.py",
    *_HELD,
    f"{RUNS}/worker/test_bad_days.py",
)
_APPROVALS = (*_ASKED_ABOUT, f"{RUNS}/approvals/test_approval_and_death.py")

TESTS: dict[str, tuple[str, ...]] = {
    "chat/runs/allowance.py": (f"{RUNS}/queue/test_allowance.py", f"{RUNS}/worker/test_clocks.py"),
    "chat/runs/approvals.py": (*_APPROVALS, f"{LIVE}/test_approve.py"),
    "chat/runs/ask.py": (f"{RUNS}/queue/test_ask.py", f"{RUNS}/queue/test_allowance.py"),
    "chat/runs/resume.py": (
        f"{RUNS}/record/test_model_calls.py",
        f"{RUNS}/queue/test_ask.py",
        f"{RUNS}/approvals/test_approval_and_death.py",
        f"{RUNS}/policies/test_planned.py",
        f"{RUNS}/record/test_artifacts_resumed.py",
    ),
    "chat/runs/record/artifacts.py": (
        f"{RUNS}/record/test_artifacts.py",
        f"{RUNS}/record/test_sweeping.py",
        f"{RUNS}/record/test_moving.py",
    ),
    "chat/runs/record/moving.py": (f"{RUNS}/record/test_moving.py",),
    "chat/runs/worker/sweeper.py": (f"{RUNS}/record/test_sweeping.py",),
    "chat/runs/record/pieces.py": (f"{UNIT}/test_pieces.py", f"{UNIT}/test_requests.py"),
    "chat/runs/record/requests.py": (
        f"{UNIT}/test_pieces.py",
        f"{RUNS}/record/test_model_calls.py",
        f"{RUNS}/record/test_redacted_pieces.py",
    ),
    "chat/runs/worker/pool.py": (*_QUEUE, f"{RUNS}/worker/test_worker.py"),
    "chat/runs/lease.py": (
        *_HELD,
        f"{RUNS}/worker/test_time_used.py",
    ),
    "chat/runs/queue.py": (
        *_QUEUE,
        f"{RUNS}/queue/test_lanes.py",
        f"{RUNS}/queue/test_places_told.py",
    ),
    "chat/runs/worker/claim.py": (
        *_QUEUE,
        f"{RUNS}/queue/test_lanes.py",
        *_HELD,
        f"{RUNS}/worker/test_time_used.py",
    ),
    "chat/runs/worker/log_context.py": (
        f"{RUNS}/policies/test_whole_run.py",
        "tests/unit/project/test_logging.py",
    ),
    "chat/runs/models_offered.py": (
        *_CONVERSATION_PAGES,
        "tests/integration/test_health.py",
    ),
    "chat/runs/db_retry.py": (
        f"{UNIT}/test_lease_lost.py",
        *_HELD,
        "tests/integration/test_database_comes_back.py",
        f"{RUNS}/worker/test_time_used.py",
    ),
    "chat/runs/worker/providers.py": (
        f"{RUNS}/worker/slots/test_run_slots.py",
        f"{RUNS}/worker/test_bad_days.py",
    ),
    "chat/runs/servers_seen.py": (f"{RUNS}/policies/test_real_mcp_servers.py",),
    "chat/runs/validation.py": (f"{RUNS}/queue/test_ask.py",),
    "chat/runs/worker/reaper.py": (
        *_HELD,
        *_ASKED_ABOUT,
        f"{RUNS}/queue/test_queue_repair.py",
        *_QUEUE,
        f"{LIVE}/streams/test_interrupted.py",
        f"{RUNS}/worker/test_worker.py",
    ),
    "chat/runs/record/recorder.py": (*_STORED, *_FOLLOW, f"{RUNS}/record/test_artifacts.py"),
    "chat/runs/record/turn_events.py": (f"{LIVE}/streams/test_live_plan.py", *_FOLLOW),
    "chat/stream/plans.py": (f"{LIVE}/streams/test_live_plan.py",),
    "chat/runs/worker/queue_repair.py": (f"{RUNS}/queue/test_queue_repair.py",),
    "chat/runs/worker/worker.py": (
        f"{RUNS}/worker/test_closing.py",
        *_HELD,
        f"{RUNS}/worker/test_worker.py",
    ),
    "chat/runs/worker/attempt.py": (
        *_STORED,
        f"{RUNS}/worker/test_time_used.py",
        *_ASKED_ABOUT,
    ),
    "chat/runs/worker/alive.py": ("tests/integration/test_health.py",),
    "chat/runs/worker/slots.py": (
        f"{RUNS}/worker/slots/test_slots.py",
        f"{RUNS}/worker/slots/test_pauses.py",
        f"{RUNS}/worker/slots/test_run_slots.py",
    ),
    "chat/runs/spent.py": (f"{RUNS}/policies/test_budget.py",),
    "chat/runs/ending.py": (
        f"{RUNS}/worker/test_held_calls.py",
        *_HELD,
        f"{RUNS}/policies/test_whole_run.py",
        f"{RUNS}/policies/test_budget.py",
    ),
    "chat/runs/stop.py": (*_HELD, *_FOLLOW),
    "chat/runs/stored_json.py": (f"{RUNS}/worker/test_bad_days.py",),
    "chat/runs/record/rows.py": (f"{RUNS}/record/test_several_actions.py", *_STORED),
    "chat/runs/record/statements.py": (
        f"{RUNS}/record/test_model_calls.py",
        *_STORED,
        f"{RUNS}/record/test_artifacts.py",
    ),
    "chat/runs/worker/tasks.py": (f"{RUNS}/worker/test_worker.py",),
    "chat/runs/tools.py": (f"{RUNS}/policies/test_tools_of_a_run.py",),
    "chat/runs/wake.py": (f"{RUNS}/worker/test_redis_away.py", f"{RUNS}/queue/test_ask.py"),
    "chat/runs/worker/heartbeat.py": (
        *_HELD,
        f"{RUNS}/worker/test_time_used.py",
        f"{RUNS}/worker/test_worker.py",
        f"{RUNS}/worker/test_stop_everywhere.py",
    ),
    "chat/runs/words.py": (
        f"{UNIT}/pages/test_words.py",
        *_CONVERSATION_PAGES,
        f"{PAGES}/test_page_transcript.py",
        f"{PAGES}/test_page_observation.py",
        f"{PAGES}/test_page_queries.py",
    ),
    "chat/stream/announce.py": (
        f"{LIVE}/streams/test_stream_kept.py",
        f"{LIVE}/streams/test_interrupted.py",
        f"{RUNS}/worker/test_redis_away.py",
        f"{RUNS}/record/test_lost_numbers.py",
        f"{LIVE}/test_approve.py",
    ),
    "chat/stream/answers.py": (
        f"{UNIT}/test_markdown.py",
        f"{PAGES}/test_page_answers.py",
    ),
    "chat/stream/channel.py": (
        f"{UNIT}/live/test_channel.py",
        f"{LIVE}/streams/test_stream_kept.py",
    ),
    "chat/live/consumers.py": (
        f"{LIVE}/rights/test_strangers.py",
        f"{LIVE}/transports/test_flood.py",
        f"{LIVE}/test_leaving.py",
        f"{LIVE}/transports/test_slow_page.py",
    ),
    "chat/stream/signals.py": (
        f"{LIVE}/streams/test_follow.py",
        f"{LIVE}/rights/test_strangers.py",
    ),
    "chat/stream/deferred.py": (f"{RUNS}/worker/test_redis_away.py",),
    "chat/live/event_stream.py": (f"{LIVE}/transports/test_event_stream.py",),
    "chat/live/followers.py": (
        f"{UNIT}/live/test_news_follower.py",
        *_FOLLOW,
        f"{LIVE}/streams/test_places.py",
        f"{LIVE}/transports/test_watched.py",
    ),
    "chat/stream/frames.py": (f"{UNIT}/live/test_protocol.py", f"{LIVE}/streams/test_follow.py"),
    "chat/live/client_frames.py": (
        f"{UNIT}/live/test_frames.py",
        f"{LIVE}/transports/test_bad_messages.py",
        f"{LIVE}/streams/test_follow.py",
    ),
    "chat/live/inbox.py": (f"{LIVE}/transports/test_flood.py",),
    "chat/live/origin.py": (f"{LIVE}/transports/test_origins.py",),
    "chat/stream/publisher.py": (
        f"{LIVE}/streams/test_pace.py",
        *_FOLLOW,
        f"{LIVE}/streams/test_stream_kept.py",
        f"{LIVE}/streams/test_reader.py",
    ),
    "chat/live/reader.py": (f"{LIVE}/streams/test_reader.py", *_FOLLOW, f"{LIVE}/test_leaving.py"),
    "chat/live/access.py": (
        f"{LIVE}/streams/test_news.py",
        f"{LIVE}/rights/test_strangers.py",
        f"{LIVE}/transports/test_bad_messages.py",
        f"{LIVE}/test_approve.py",
        *_NEWS,
    ),
    "chat/stream/render.py": (f"{LIVE}/streams/test_follow.py",),
    "chat/live/doors.py": (f"{LIVE}/rights/test_revoked.py",),
    "chat/stream/revoked.py": (f"{LIVE}/rights/test_revoked.py",),
    "chat/stream/server_events.py": (
        f"{UNIT}/live/test_protocol.py",
        f"{LIVE}/streams/test_follow.py",
    ),
    "chat/live/routing.py": (f"{LIVE}/streams/test_follow.py",),
    "chat/stream/streams.py": (f"{UNIT}/live/test_stream_id.py", f"{LIVE}/streams/test_no_gap.py"),
    "chat/live/reconcile.py": (
        f"{LIVE}/streams/test_places.py",
        *_NEWS,
        f"{LIVE}/streams/test_worker_gone.py",
    ),
    "chat/live/urls.py": (f"{LIVE}/transports/test_event_stream.py",),
    "chat/live/conversation_follower.py": (
        f"{LIVE}/streams/test_follow.py",
        f"{LIVE}/transports/test_event_stream.py",
        *_NEWS,
        f"{LIVE}/test_leaving.py",
        f"{LIVE}/streams/test_places.py",
    ),
    "chat/live/viewer.py": (
        f"{UNIT}/live/test_viewer.py",
        f"{LIVE}/rights/test_revoked.py",
        f"{LIVE}/streams/test_follow.py",
        f"{LIVE}/rights/test_strangers.py",
        f"{LIVE}/transports/test_slow_page.py",
        *_NEWS,
        f"{LIVE}/test_leaving.py",
        f"{LIVE}/transports/test_event_stream.py",
    ),
    "chat/live/commands.py": (
        f"{UNIT}/live/test_rejections.py",
        f"{LIVE}/transports/test_bad_messages.py",
        f"{LIVE}/rights/test_strangers.py",
        f"{LIVE}/transports/test_event_stream.py",
    ),
}
