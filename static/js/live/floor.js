// Text that is written never shrinks on the screen: marks that turn out to be a link or a table
// take less room than their letters did, and what stands below must not jump up.

export class Floor {
  #element
  #watch = null
  #height = 0
  #width = 0

  constructor(element) {
    this.#element = element
    if (!globalThis.ResizeObserver) return
    this.#watch = new ResizeObserver(
      ([
        {
          borderBoxSize: [{ blockSize, inlineSize }],
        },
      ]) => this.#hold(blockSize, inlineSize),
    )
    this.#watch.observe(element)
  }

  lift() {
    this.#height = 0
    this.#element.style?.removeProperty("min-block-size")
  }

  end() {
    this.#watch?.disconnect()
  }

  // In a window of another width the text has another height.
  #hold(height, width) {
    const isOther = this.#width !== 0 && width !== this.#width
    this.#width = width
    if (isOther) return this.lift()
    if (height <= this.#height) return
    this.#height = height
    this.#element.style.setProperty("min-block-size", `${height}px`)
  }
}
