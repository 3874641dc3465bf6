// Where the keyboard is: at the message, and never nowhere because what had the focus is gone.

// `home` is the field that is used most; on a touch screen it is left alone, or keys would cover half
// of the page.
export class Focus {
  #home
  #last = null

  constructor(home) {
    this.#home = home
    document.addEventListener("focusin", ({ target }) => {
      this.#last = target
    })
    document.addEventListener("pointerdown", () => {
      this.#last = null
    })
    document.addEventListener("close", () => this.keep(), true)
  }

  toHome() {
    if (matchMedia("(pointer: fine)").matches) this.#home.focus({ preventScroll: true })
  }

  keep() {
    const isNowhere = document.activeElement === document.body || document.activeElement === null
    if (isNowhere && this.#last && !canHave(this.#last)) this.toHome()
  }

  // Letters typed where nothing takes them begin a message.
  takesLetters(isTyping) {
    document.addEventListener("keydown", (event) => {
      if (event.key.length === 1 && event.key !== " " && !event.defaultPrevented && !isTyping(event))
        this.#home.focus()
    })
  }
}

function canHave(element) {
  return element.isConnected && !element.disabled && element.checkVisibility()
}
