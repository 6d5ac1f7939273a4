import { useSyncExternalStore } from 'react'

/**
 * A value that the browser remembers, shared by all that use it on the page and by other tabs. What is stored and is no
 * longer valid counts as absent; where nothing can be stored, it lasts as long as the page.
 */
export class Stored<T> {
  readonly #key: string
  readonly #parse: (value: unknown) => T
  readonly #listeners = new Set<() => void>()
  #text: string | null
  #value: T

  /** `parse` makes a value of whatever was stored, undefined when nothing was; it must not throw. */
  constructor(key: string, parse: (value: unknown) => T) {
    this.#key = `colophon.${key}`
    this.#parse = parse
    this.#text = this.#load()
    this.#value = this.#read(this.#text)
    addEventListener('storage', (event) => {
      if (event.key === this.#key) this.#take(event.newValue)
    })
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    const text = JSON.stringify(value)
    try {
      localStorage.setItem(this.#key, text)
    } catch {
      // Full or forbidden: remembered until the page goes.
    }
    this.#take(text)
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #take(text: string | null): void {
    if (text === this.#text) return
    this.#text = text
    this.#value = this.#read(text)
    for (const listener of this.#listeners) listener()
  }

  #load(): string | null {
    try {
      return localStorage.getItem(this.#key)
    } catch {
      return null
    }
  }

  #read(text: string | null): T {
    try {
      return this.#parse(text === null ? undefined : JSON.parse(text))
    } catch {
      return this.#parse(undefined)
    }
  }
}

/** The value, and a component that shows it is drawn again when it changes. */
export function useStored<T>(stored: Stored<T>): readonly [value: T, set: (value: T) => void] {
  const value = useSyncExternalStore(stored.subscribe, () => stored.value)
  return [value, (next) => stored.set(next)]
}
