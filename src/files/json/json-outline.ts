/** An array in a JSON text that is reached through objects alone. */
export interface FoundArray {
  /** The names of the members that lead to it. */
  readonly path: readonly string[]
  items: number
  /** Of the items, those that are objects. */
  objects: number
}

/** Objects inside each other that are looked into, arrays that are noted, and characters of names. */
const MAX_DEPTH = 4
const MAX_FOUND = 100
const MAX_NAME = 1000

/**
 * Finds the arrays of a JSON text that comes in pieces, in memory that does not grow with it. Whether the text is JSON is for
 * others to tell.
 */
export class JsonOutline {
  /** The arrays so far, in the order of the text. */
  readonly arrays: FoundArray[] = []
  /** Values that are not inside of another. */
  roots = 0
  /** The names of the members that the objects around are under; the root has none. */
  readonly #names: (string | null)[] = []
  /** The array whose items are counted, and how deep inside of it the scan is; null outside of arrays. */
  #array: FoundArray | null = null
  #depth = 0
  #inText = false
  #escaped = false
  /** Whether the text under way, or the next one, is the name of a member. */
  #isName = false
  #name = ''
  /** Whether a value is due that has not begun. */
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

  /** Notes that a value begins. */
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
