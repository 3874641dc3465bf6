// Keep the end in view while it grows, but only for who is reading there.

import { isNearEnd } from "./near_end.js"

export class Follow {
  #root = document.scrollingElement
  #offer
  #isFollowing = true

  constructor(log, offer) {
    this.#offer = offer
    addEventListener("scroll", () => this.#look(), { passive: true })
    addEventListener("resize", () => this.#keep())
    new ResizeObserver(() => this.#keep()).observe(log)
    offer?.addEventListener("click", () => this.toEnd())
  }

  get isFollowing() {
    return this.#isFollowing
  }

  toEnd() {
    this.#isFollowing = true
    this.#root.scrollTop = this.#root.scrollHeight
    this.#show(false)
  }

  #look() {
    this.#isFollowing = isNearEnd(this.#measures())
    if (this.#isFollowing) this.#show(false)
  }

  #keep() {
    if (this.#isFollowing) this.#root.scrollTop = this.#root.scrollHeight
    else this.#show(!isNearEnd(this.#measures()))
  }

  #show(isOffered) {
    if (this.#offer) this.#offer.hidden = !isOffered
  }

  #measures() {
    const { scrollTop: top, scrollHeight: height, clientHeight: view } = this.#root
    return { top, height, view }
  }
}
