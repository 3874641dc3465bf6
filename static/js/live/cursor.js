// Ids of frames: "<attempt>-<seq>", ordered by attempt, then by seq. Pure.

export function isAfter(id, cursor) {
  const [attempt, seq] = parts(id)
  const [seenAttempt, seenSeq] = parts(cursor)
  return attempt !== seenAttempt ? attempt > seenAttempt : seq > seenSeq
}

function parts(id) {
  return id.split("-").map(Number)
}
