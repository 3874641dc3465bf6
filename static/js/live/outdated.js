// What an attempt that was cut off has written and the record does not have. It stays, greyed, until
// as much is written anew: text that is being read never gets shorter.

const GROWING = ".turn__thought, .turn__observation"

// How long the outdated text of a part is, and what has been written anew so far.
const outdated = new WeakMap()

// Return what is to be shown of a part that `text` is added to, "" while the old is longer.
export function added(part, text) {
  const old = outdated.get(part)
  if (!old) return text
  old.text += text
  if (!passes(part, old.text)) return ""
  part.replaceChildren()
  return old.text
}

// Tell whether `text`, all that is new, is to take the place of what the part says.
export function passes(part, text) {
  const old = outdated.get(part)
  if (old && text.length < old.length) return false
  if (old) renew(part)
  return true
}

// A run goes on in a fresh article: take over what was written last.
export function keepWritten(old, article) {
  keepText(old.querySelector(".run__answer"), article.querySelector(".run__answer"))
  const turns = article.querySelector(".run__turns")
  for (const turn of old.querySelectorAll(".turn")) {
    const fresh = article.querySelector(`#${turn.id}`)
    if (fresh) keepTexts(turn, fresh)
    else if (turns) {
      turn.querySelectorAll(GROWING).forEach(mark)
      turns.append(turn)
    }
  }
}

// A turn is begun anew: what was outdated in it stays so, and all of it is when its step is asked again.
export function keepOutdated(turn, fresh, isAgain = false) {
  if (isAgain || [...turn.querySelectorAll(GROWING)].some((part) => outdated.has(part)))
    keepTexts(turn, fresh)
}

// The step that answered so far is asked again.
export function outdateAnswer(article) {
  mark(article.querySelector(".run__answer"))
}

// The attempt that goes on acts where the one before it answered.
export function dropAnswer(article, turn) {
  const answer = article.querySelector(".run__answer")
  if (!outdated.has(answer) || !turn.classList.contains("turn--action")) return
  renew(answer)
  answer.replaceChildren()
}

function keepTexts(turn, fresh) {
  const parts = fresh.querySelectorAll(GROWING)
  turn.querySelectorAll(GROWING).forEach((part, place) => parts[place] && keepText(part, parts[place]))
}

function keepText(old, fresh) {
  if (!old.textContent.trim() || fresh.textContent.trim()) return
  fresh.replaceChildren(...old.childNodes)
  mark(fresh)
}

function mark(part) {
  const { length } = part.textContent.trim()
  if (!length) return
  part.classList.add("outdated")
  outdated.set(part, { length, text: "" })
}

function renew(part) {
  outdated.delete(part)
  part.classList.remove("outdated")
}
