import { ServiceError } from '../errors/service-error.ts'
import { getRecord } from '../sheet/queries/get-record.ts'
import { readDerivations } from '../sheet/schema/read-derivations.ts'
import type { Sheet } from '../sheet/sheet.ts'
import { watchSheet, type SheetState } from '../sheet/runs/watch/watch-sheet.ts'
import { derivationUri, recordIdOf, RESOURCE_URIS } from './resource-uris.ts'

/** Receives notifications of changes. */
export interface ChangeListener {
  /** Called when resources may have been added or removed. */
  onListChanged(): void
  onUpdated(uri: string): void
}

/** Most records that are watched; beyond it, the first ones are dropped. */
export const TRACKED_RECORDS = 1000

/** Notifies listeners of changes of the sheet's resources, and checks for changes while there is a listener. */
export class ResourceWatch {
  readonly #sheet: Sheet
  readonly #log: (error: unknown) => void
  readonly #listeners = new Set<ChangeListener>()
  /** Versions of the watched records by URI; null for a record that does not exist. */
  readonly #records = new Map<string, string | null>()
  #stop: (() => void) | null = null
  /** Resolves when later changes are detected. */
  #ready: Promise<void> = Promise.resolve()
  /** The queue of notifications, which are sent in order. */
  #telling: Promise<void> = Promise.resolve()
  #derivations: readonly string[] = []

  constructor(sheet: Sheet, log: (error: unknown) => void) {
    this.#sheet = sheet
    this.#log = log
  }

  /** Adds a listener; returns a function that removes it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    if (this.#stop === null) this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = null
      this.#records.clear()
    }
  }

  /**
   * Resolves when no later change of these resources can be missed by a listener that is added before the returned function is called.
   * Records are watched only once they are named here.
   */
  async prepare(uris: readonly string[]): Promise<() => void> {
    const stop = this.listen({ onListChanged: () => undefined, onUpdated: () => undefined })
    await this.#ready
    for (const uri of uris) {
      if (recordIdOf(uri) === null || this.#records.has(uri)) continue
      const [first] = this.#records.keys()
      if (first !== undefined && this.#records.size >= TRACKED_RECORDS) this.#records.delete(first)
      this.#records.set(uri, await this.#version(uri))
    }
    return stop
  }

  #begin(): void {
    let stopped = false
    this.#stop = () => {
      stopped = true
    }
    const begin = async (): Promise<void> => {
      this.#derivations = await this.#files()
      const watch = await watchSheet(this.#sheet)
      if (stopped) return
      let before = watch.first[0]
      const subscription = watch.subscribe(() => {
        for (let now = subscription.take(); now !== undefined; now = subscription.take()) {
          const [from, to] = [before, now]
          before = now
          this.#telling = this.#telling.then(() => this.#tell(from, to)).catch(this.#log)
        }
      })
      this.#stop = () => subscription.close()
    }
    this.#ready = begin().catch(this.#log)
  }

  async #tell(before: SheetState | undefined, now: SheetState): Promise<void> {
    if (before?.definition !== now.definition) {
      const files = await this.#files()
      const changed = new Set([...this.#derivations, ...files])
      this.#derivations = files
      for (const { onListChanged } of this.#listeners) onListChanged()
      this.#updated(RESOURCE_URIS.contract, RESOURCE_URIS.contractJson, ...changed)
    }
    this.#updated(RESOURCE_URIS.status)
    if (before?.seq === now.seq) return
    for (const [uri, version] of this.#records) {
      const current = await this.#version(uri)
      if (current === version) continue
      this.#records.set(uri, current)
      this.#updated(uri)
    }
  }

  #updated(...uris: readonly string[]): void {
    for (const uri of uris) for (const { onUpdated } of this.#listeners) onUpdated(uri)
  }

  /** Returns the URIs of the derivation files; none while one is invalid. */
  async #files(): Promise<readonly string[]> {
    try {
      return (await readDerivations(this.#sheet)).map(({ file }) => derivationUri(file))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return []
    }
  }

  async #version(uri: string): Promise<string | null> {
    try {
      const { version } = await getRecord(this.#sheet, recordIdOf(uri) ?? '', ['id'])
      return version
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return null
    }
  }
}
