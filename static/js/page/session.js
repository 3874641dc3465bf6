// Who is signed in, which the tabs of a browser tell each other: each page that opens says whose it is.

const user = document.body?.dataset.user ?? ""
const channel = globalThis.BroadcastChannel ? new BroadcastChannel("turnstone:user") : null

export function tellOthers() {
  channel?.postMessage(user)
}

// `changed(isMine)` hears whether the one who is now signed in is still the one of this page.
export function listenForOthers(changed) {
  channel?.addEventListener("message", ({ data }) => changed(data === user))
}

// Words that say so, with the way back to this page.
export function signInAgain() {
  const link = document.createElement("a")
  link.href = `${document.body.dataset.signIn}?${new URLSearchParams({ next: location.pathname })}`
  link.textContent = "Sign in again"
  return ["You are signed out. ", link, "; what you have written is kept."]
}
