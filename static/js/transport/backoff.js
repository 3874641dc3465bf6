// How long to wait before the line is opened again, when not to, and which kind of it to try. Pure.

const FIRST_MS = 400
const LONGEST_MS = 15_000
export const SIGNED_OUT = 4401
const NOT_FOUND = 4404
const TRIES = 2
const SILENT = 4

export const GONE = "This conversation is no longer there."

export function pause(losses, chance) {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** losses) * (0.5 + chance / 2)
}

export function isFinal(code) {
  return code === SIGNED_OUT || code === NOT_FOUND
}

export function isSignedOut(code) {
  return code === SIGNED_OUT
}

// What is known of a lost line: not whether the server still works.
export function lostWords(losses, isOnline) {
  if (!isOnline) return "You are offline. Reconnecting when you are back."
  return losses < SILENT
    ? "Reconnecting."
    : "Turnstone does not answer. Trying again; what was stored is kept."
}

// Sockets that never open may be blocked on the way: then events are tried, and when not even those
// come, it is the server that is away, and sockets are tried anew.
export function nextKind(socketsUnopened) {
  return socketsUnopened < TRIES ? "socket" : "events"
}
