/** An array of a JSON text that is reached only through objects. */
export interface FoundArray {
  /** The names of the members that lead to it. */
  readonly path: readonly string[]
  items: number
  /** The number of items that are objects. */
  objects: number
}

/** The most levels of objects that are searched, arrays that are stored, and characters of names. */
const MAX_DEPTH = 4
const MAX_FOUND = 100
const MAX_NAME = 1000

/**
 * Finds the arrays of a JSON text that arrives in pieces, in constant memory. It does not check that the text is
 * JSON.
 */
export class JsonOutline {
  /** The arrays found so far, in the order of the text. */
  readonly arrays: FoundArray[] = []
  /** The number of values outside other values. */
  roots = 0
  /** The names of the enclosing members; the root has none. */
  readonly #names: (string | null)[] = []
  /** The array whose items are counted, and the present depth inside it; null outside arrays. */
  #array: FoundArray | null = null
  #depth = 0
  #inText = false
  #escaped = false
  /** Whether the present or next text is the name of a member. */
  #isName = false
  #name = ''
  /** Whether a value is expected. */
  #due = true

  push(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at)
      if (this.#inText) this.#inside(code, piece.charAt(at))
      else this.#between(code)
    }
  }

  #inside(code: number, char: string): void {
    if (this.#escaped) this.#escaped = false
    else if (code === BACKSLASH) this.#escaped = true
    else if (code === QUOTE) {
      this.#inText = false
      return
    }
    if (this.#isName && this.#name.length < MAX_NAME) this.#name += char
  }

  #between(code: number): void {
    switch (code) {
      case SPACE:
      case LF:
      case CR:
      case TAB:
        return
      case COMMA:
        if (this.#depth === 0 && this.#array === null) this.#isName = true
        this.#due = true
        return
      case COLON:
        if (this.#depth === 0 && this.#array === null) this.#isName = false
        this.#due = true
        return
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#open(code === OPEN_OBJECT)
        return
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#close()
        return
      case QUOTE:
        this.#inText = true
        if (this.#isName) this.#name = ''
        else this.#begin(false)
        return
      default:
        this.#begin(false)
    }
  }

  /** Registers the start of a value. */
  #begin(isObject: boolean): void {
    if (!this.#due) return
    this.#due = false
    if (this.#array === null && this.#depth === 0 && this.#names.length === 0) this.roots += 1
    if (this.#array === null || this.#depth > 0) return
    this.#array.items += 1
    if (isObject) this.#array.objects += 1
  }

  #open(isObject: boolean): void {
    this.#begin(isObject)
    this.#due = true
    if (this.#array !== null || this.#depth > 0) {
      this.#depth += 1
      return
    }
    if (!isObject) {
      const path = [...this.#names.slice(1), ...(this.#names.length === 0 ? [] : [this.#name])]
      this.#array = { path: path.map((name) => nameOf(name ?? '')), items: 0, objects: 0 }
      if (this.arrays.length < MAX_FOUND) this.arrays.push(this.#array)
    } else if (this.#names.length > MAX_DEPTH) this.#depth += 1
    else {
      this.#names.push(this.#names.length === 0 ? null : this.#name)
      this.#isName = true
    }
  }

  #close(): void {
    this.#due = false
    if (this.#depth > 0) this.#depth -= 1
    else if (this.#array !== null) this.#array = null
    else this.#names.pop()
    // A value of another root may follow.
    if (this.#names.length === 0 && this.#depth === 0 && this.#array === null) {
      this.#due = true
      this.#isName = false
    }
  }
}

function nameOf(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text
  }
}

const [QUOTE, BACKSLASH, SPACE, LF, CR, TAB] = [34, 92, 32, 10, 13, 9]
const [COMMA, COLON, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [44, 58, 123, 125, 91, 93]
