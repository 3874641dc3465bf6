// What a live run does right now, in words; none where the page says it already. Pure.

// `asker` is what the person who asked is called on this page.
export function wordsOf(run, doing, asker = "you") {
  if (run.isStalled) return "Interrupted; it will go on"
  return WORDS[run.phase]?.(run, doing, asker) ?? WORDS[run.status]?.(run, doing, asker) ?? ""
}

const WORDS = {
  thinking: () => "Thinking",
  acting: (_run, doing) => doing || "Acting",
  answering: () => "Writing the answer",
  lining: ({ ahead }) =>
    ahead ? `Waiting for the model, ${ahead} ahead` : "Waiting for the model, next in line",
  paused: () => "The model’s server asks for patience",
  retrying: () => "Asking the model again",
  asking: (_run, _doing, asker) => `Waiting for ${asker}`,
  waiting: (_run, _doing, asker) => `Waiting for ${asker}`,
  queued: ({ ahead }) => (ahead === null ? "" : ahead ? `Waiting in line, ${ahead} ahead` : "Next in line"),
  interrupted: ({ ahead, answered }) =>
    ahead === null ? "" : `${resumes(answered)} ${ahead ? `after ${others(ahead)}` : "next"}`,
}

function others(count) {
  return count === 1 ? "1 other run" : `${count} other runs`
}

function resumes(isAnswered) {
  return isAnswered ? "It goes on with the answer" : "Interrupted; it goes on"
}

// Why nothing can be asked now, empty if it can; `live` are the runs that have not ended.
export function whyNot(live) {
  if (live.length === 0) return ""
  return live.some((run) => run.status === "waiting")
    ? "The agent waits for your answer above: allow or refuse what it asks, or stop it first."
    : "The agent is still working: wait for its answer, or stop it first."
}
