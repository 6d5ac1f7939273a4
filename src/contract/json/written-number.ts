import { isUnsafeInteger } from './exact-number.ts'

const MAX_SHOWN = 80

/** A number of a JSON text that no double keeps, as it is written there. `JSON.stringify` writes the same again. */
export class WrittenNumber {
  readonly text: string

  /** `text` is a number of JSON. */
  constructor(text: string) {
    this.text = text
  }

  /** The number as messages show it: at most about 80 characters of it. */
  get shown(): string {
    return this.text.length > MAX_SHOWN ? `${this.text.slice(0, MAX_SHOWN)}…` : this.text
  }

  /** The reason why no field can have it, for messages. */
  get fault(): string {
    if (isUnsafeInteger(this.text)) return unsafeInteger(this.shown)
    const why = isInRange(this.text)
      ? 'has more digits than a number keeps'
      : 'is out of the range of numbers'
    return `${this.shown} ${why}; send it as a string, in a string field`
  }

  toJSON(): unknown {
    return RAW_JSON.rawJSON(this.text)
  }

  toString(): string {
    return this.text
  }
}

/** The message for an integer beyond the range of JSON numbers (D13). */
export function unsafeInteger(value: number | string): string {
  return `${value} is an integer beyond ±${Number.MAX_SAFE_INTEGER}; send it as a string, in a string field`
}

/** The part of ECMAScript's JSON that TypeScript does not know yet. */
const RAW_JSON = JSON as unknown as { rawJSON(text: string): unknown }

/** Whether a double comes near the number at all. */
function isInRange(text: string): boolean {
  const number = Number(text)
  return Number.isFinite(number) && (number !== 0 || !/[1-9]/.test(text.split(/e/i)[0] ?? ''))
}
