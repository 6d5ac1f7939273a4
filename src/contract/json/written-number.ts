import { isUnsafeInteger } from './exact-number.ts'

const MAX_SHOWN = 80

/** A number of a JSON text that a double cannot represent, kept as written. `JSON.stringify` returns the same text. */
export class WrittenNumber {
  readonly text: string

  /** `text` is a JSON number. */
  constructor(text: string) {
    this.text = text
  }

  /** The number for messages, at most about 80 characters. */
  get shown(): string {
    return this.text.length > MAX_SHOWN ? `${this.text.slice(0, MAX_SHOWN)}…` : this.text
  }

  /** The reason why no field accepts it, for messages. */
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

/** Returns the message for an integer beyond the range of JSON numbers (D13). */
export function unsafeInteger(value: number | string): string {
  return `${value} is an integer beyond ±${Number.MAX_SAFE_INTEGER}; send it as a string, in a string field`
}

/** The part of ECMAScript's JSON without a type in TypeScript yet. */
const RAW_JSON = JSON as unknown as { rawJSON(text: string): unknown }

/** Whether the number is within the range of doubles. */
function isInRange(text: string): boolean {
  const number = Number(text)
  return Number.isFinite(number) && (number !== 0 || !/[1-9]/.test(text.split(/e/i)[0] ?? ''))
}
