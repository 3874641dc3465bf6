// The menu of models: which one is chosen, and a search where there are many. Without scripts it is
// a list of choices that the form sends.

export class Models {
  #menu
  #search

  constructor(menu, changed) {
    this.#menu = menu
    this.#search = menu?.querySelector("[type=search]")
    menu?.addEventListener("change", () => {
      this.#name()
      changed()
    })
    menu?.addEventListener("toggle", () => this.#opened())
    menu?.addEventListener("keydown", (event) => this.#press(event))
    menu?.addEventListener("click", (event) => event.detail && this.#pressed(event))
    this.#search?.addEventListener("input", () => this.#find())
  }

  // What is sent: a provider and its model, or nothing where it is left to the policy.
  get value() {
    return this.#checked?.value ?? ""
  }

  set value(value) {
    const choice = this.#choices.find((one) => one.value === value)
    if (!choice) return
    choice.checked = true
    this.#name()
  }

  get isAsServed() {
    return this.#checked?.defaultChecked ?? true
  }

  get #choices() {
    return [...(this.#menu?.querySelectorAll("[type=radio]") ?? [])]
  }

  get #checked() {
    return this.#choices.find((one) => one.checked)
  }

  #name() {
    const { name } = this.#checked.closest("[data-name]").dataset
    this.#menu.querySelector(".models__chosen").textContent = name
  }

  #opened() {
    if (!this.#menu.open) return this.#forget()
    const first = this.#search ?? this.#checked
    first?.focus()
    this.#checked?.scrollIntoView({ block: "nearest" })
  }

  // A press chooses and closes; arrows only go through the choices.
  #pressed({ target }) {
    // A label passes its press on to the choice, which must still be there.
    if (target.closest(".models__one")) requestAnimationFrame(() => this.#close())
  }

  #press(event) {
    if (event.key !== "Enter" || event.target.matches("summary")) return
    event.preventDefault()
    if (event.target === this.#search) this.#choices.find((one) => one.offsetParent)?.click()
    this.#close()
  }

  #close() {
    this.#menu.open = false
    this.#menu.querySelector("summary").focus()
  }

  #forget() {
    if (!this.#search) return
    this.#search.value = ""
    this.#find()
  }

  #find() {
    const words = this.#search.value.toLowerCase().split(/\s+/)
    const fits = (...names) => words.every((word) => names.join(" ").toLowerCase().includes(word))
    for (const one of this.#menu.querySelectorAll("[data-name]")) {
      const provider = one.closest("fieldset")?.querySelector("legend").textContent ?? "Automatic"
      one.hidden = !fits(one.dataset.name, provider)
    }
    for (const provider of this.#menu.querySelectorAll("fieldset"))
      provider.hidden = !provider.querySelector("[data-name]:not([hidden])")
    const isNone = !this.#menu.querySelector("[data-name]:not([hidden])")
    this.#menu.querySelector(".models__none").hidden = !isNone
  }
}
