// Server-sent events from the parts of a response: what each one's data says. Pure.

export class EventReader {
  #rest = ""

  read(part) {
    const events = (this.#rest + part).split("\n\n")
    this.#rest = events.pop()
    return events.map(data).filter(Boolean)
  }
}

function data(event) {
  const lines = event.split("\n").filter((line) => line.startsWith("data: "))
  return lines.map((line) => line.slice("data: ".length)).join("\n")
}
