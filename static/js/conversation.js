// The page of a conversation: its log, its socket and its composer, put together.

import { Composer } from "./composer/composer.js"
import { Connection } from "./live/connection.js"
import { Follow } from "./live/follow.js"
import { Log } from "./live/log.js"
import { finalWords } from "./live/patience.js"
import { isSomethingOpen } from "./page/dialogs.js"

const root = document.getElementById("conversation")
const form = document.getElementById("composer")
const stop = document.getElementById("stop")
const status = document.getElementById("status")
const line = document.getElementById("connection")

if (root.dataset.socket && form) follow()
else if (form) new Composer(form, { send: null })

function follow() {
  const log = new Log(document.getElementById("log"), changed)
  const end = new Follow(document.getElementById("log"), document.getElementById("follow"))
  const composer = new Composer(form, {
    send: (message) => connection.send(message),
    canSend: () => (log.live.length ? "The agent is still working: wait for its answer, or stop it first." : ""),
  })
  const connection = new Connection(root.dataset.socket, { hello: () => log.hello(), receive, say })
  stop.addEventListener("click", () => stopAll())
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing && !isSomethingOpen()) stopAll()
  })
  if (!location.hash) end.toEnd()
  showStop()

  function receive(frames) {
    for (const frame of frames) {
      if (frame.type === "run.created") created(frame)
      else if (frame.type === "error") refused(frame)
      else log.receive(frame)
    }
  }

  function created(frame) {
    const isNew = !log.has(frame.run)
    log.add(frame)
    composer.acknowledge(frame.client_message_id)
    if (isNew) end.toEnd()
  }

  function refused(frame) {
    if (!composer.refuse(frame.client_message_id, frame.message)) composer.fail(frame.message)
    showStop()
  }

  function changed(run) {
    const words = log.words(run) || document.querySelector(`#run-${run.id} .run__words`)?.textContent
    if (status.textContent !== words) status.textContent = words
    showStop()
  }

  function showStop() {
    const isWorking = log.live.length > 0
    stop.hidden = !isWorking
    if (!isWorking) stop.disabled = false
    const mark = document.querySelector(".rail__row[aria-current] .rail__live")
    if (mark) mark.hidden = !isWorking
  }

  function stopAll() {
    for (const run of log.live) {
      stop.disabled = true
      status.textContent = "Stopping"
      if (!connection.send({ type: "stop", run: run.id })) stopByForm(run.id)
    }
  }

  async function stopByForm(run) {
    try {
      const answer = await fetch(`/runs/${run}/stop/`, { method: "POST", body: new FormData(form) })
      if (answer.ok) return
    } catch {
      // Said below: what failed is the line.
    }
    stop.disabled = false
    composer.fail("The run could not be stopped: there is no connection. Try again in a moment.")
  }

  function say(state, code) {
    line.textContent = state === "over" ? finalWords(code) : state === "lost" ? "Reconnecting. A run that works goes on meanwhile." : ""
    if (state === "open") {
      stop.disabled = false
      composer.resend()
    }
  }
}
