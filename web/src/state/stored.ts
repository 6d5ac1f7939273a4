import { useSyncExternalStore } from 'react'

/**
 * A value in localStorage, shared by all components and tabs. Invalid stored data counts as absent; without storage,
 * the value lasts as long as the page.
 */
export class Stored<T> {
  readonly #key: string
  readonly #parse: (value: unknown) => T
  readonly #listeners = new Set<() => void>()
  #text: string | null
  #value: T

  /** `parse` returns a value for any stored data, which is undefined if absent; it must not throw. */
  constructor(key: string, parse: (value: unknown) => T) {
    this.#key = `colophon.${key}`
    this.#parse = parse
    this.#text = this.#load()
    this.#value = this.#read(this.#text)
    addEventListener('storage', (event) => {
      if (event.key === this.#key) this.#accept(event.newValue)
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
      // Storage is full or forbidden: the value lasts as long as the page.
    }
    this.#accept(text)
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #accept(text: string | null): void {
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

/** Returns the value and its setter; the component renders again on changes. */
export function useStored<T>(stored: Stored<T>): readonly [value: T, set: (value: T) => void] {
  const value = useSyncExternalStore(stored.subscribe, () => stored.value)
  return [value, (next) => stored.set(next)]
}
