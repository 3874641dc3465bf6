// A line to the server over a WebSocket.

const HANDSHAKE_MS = 8_000
const PING_EVERY = 1_000_000

export class SocketTransport {
  kind = "socket"
  #socket
  #handshake
  #unread = 0
  #isOver = false

  // `ends` has hello(), opened(), take(frame) and closed(code); none is called after close().
  constructor(addresses, ends) {
    this.#socket = new WebSocket(addresses.socket)
    this.#handshake = setTimeout(() => this.#end(ends), HANDSHAKE_MS)
    this.#socket.onopen = () => {
      if (this.#isOver) return
      clearTimeout(this.#handshake)
      ends.opened()
      this.send({ type: "hello", ...ends.hello() })
    }
    this.#socket.onmessage = ({ data }) => this.#isOver || this.#read(data, ends)
    this.#socket.onerror = () => this.#end(ends)
    this.#socket.onclose = ({ code }) => this.#end(ends, code)
  }

  send(message) {
    if (this.#socket.readyState !== WebSocket.OPEN) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  close() {
    this.#isOver = true
    clearTimeout(this.#handshake)
    this.#socket.close()
  }

  // A ping says what has been read: the server keeps no more for a page than it can bear.
  #read(text, ends) {
    const frame = JSON.parse(text)
    this.#unread += text.length
    ends.take(frame)
    if (frame.type !== "heartbeat" && this.#unread < PING_EVERY) return
    this.#unread = 0
    this.send({ type: "ping" })
  }

  #end(ends, code) {
    if (this.#isOver) return
    this.close()
    ends.closed(code)
  }
}
