// What a live run does right now, in words; none where the page says it already. Pure.

export function wordsOf(run, doing) {
  return WORDS[run.phase]?.(run, doing) ?? WORDS[run.status]?.(run) ?? ""
}

const WORDS = {
  thinking: () => "Thinking",
  acting: (run, doing) => doing || "Acting",
  answering: () => "Writing the answer",
  lining: ({ ahead }) => (ahead ? `Waiting for the model, ${ahead} ahead` : "Waiting for the model, next in line"),
  asking: () => "Waiting for you",
  waiting: () => "Waiting for you",
  queued: ({ ahead }) => (ahead === null ? "" : ahead ? `Waiting in line, ${ahead} ahead` : "Next in line"),
  interrupted: ({ ahead, answered }) => (ahead === null ? "" : `${resumes(answered)} ${ahead ? `after ${others(ahead)}` : "next"}`),
}

function others(count) {
  return count === 1 ? "1 other run" : `${count} other runs`
}

function resumes(isAnswered) {
  return isAnswered ? "It goes on with your answer" : "Interrupted; it goes on"
}
