// The answers to approvals on the page: sent over its line, or as a form where there is none.

const FORMS = "form[data-approve]"

// `send` takes a message and says whether it went; `done` hears that a form went instead, `answered` of
// every answer.
export function answerApprovals(root, { send, done, answered = () => {} }) {
  const words = new Map()

  root.addEventListener("submit", (event) => {
    if (!event.target.matches(FORMS)) return
    event.preventDefault()
    answer(event.target, event.submitter?.value)
  })
  root.addEventListener("input", ({ target }) => {
    if (target.form?.matches(FORMS)) words.set(target.form.dataset.approve, target.value)
  })
  // The server may send the same question again; what was written to it stays.
  new MutationObserver(() => {
    for (const form of root.querySelectorAll(FORMS))
      form.feedback.value ||= words.get(form.dataset.approve) ?? ""
  }).observe(root, { childList: true, subtree: true })

  function answer(form, decision) {
    if (!["grant", "deny"].includes(decision)) return
    const feedback = form.feedback.value
    enable(form, false)
    say(form, "")
    const message = { type: "approve", approval: Number(form.dataset.approve), decision, feedback }
    if (!send(message)) answerByForm(form, { decision, feedback })
    answered()
  }

  async function answerByForm(form, fields) {
    const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]").value
    const body = new URLSearchParams({ csrfmiddlewaretoken, ...fields })
    try {
      const response = await fetch(form.action, { method: "POST", body })
      if (response.ok) return done()
    } catch {
      // Said below: what failed is the line.
    }
    enable(form, true)
    say(form, "Your answer could not be sent: there is no connection. Try again in a moment.")
  }
}

// What was not granted can be answered again, if it is still asked.
export function reopenApprovals(root) {
  for (const form of root.querySelectorAll(FORMS)) enable(form, true)
}

function say(form, problem) {
  form.querySelector(".approval__problem").textContent = problem
}

function enable(form, isEnabled) {
  for (const button of form.querySelectorAll("button")) button.disabled = !isEnabled
}
