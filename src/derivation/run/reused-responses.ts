import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { KeptNote, KeptResponse, ReceivedResponse, ResponseStore } from '../../store/stored-responses.ts'
import { digestOf } from '../plan/hash-digest.ts'
import { MemoryBudget } from './memory-budget.ts'

/** Bytes of kept responses that are computed from at a time. */
const BYTES_AT_ONCE = 4 << 20

/** The response to a request, or why there is none; null when the call was not made, or its response is not kept. */
export type Brought = Result<KeptResponse, Failure> | null

/** The result of a call for a request; null if the call was not made, since no cell needed it any more. */
export type MadeCall = Result<ReceivedResponse | undefined, Failure> | null

/**
 * The responses that a run uses instead of making calls: those that the store has kept, and those that the run itself receives, so that
 * equal requests of a run are made once, whatever derivation they are for.
 */
export class ReusedResponses {
  readonly #store: Pick<ResponseStore, 'find' | 'read' | 'now'>
  readonly #memory = new MemoryBudget(BYTES_AT_ONCE)
  /** Calls under way, and those whose response is not stored yet, by request key. */
  readonly #underWay = new Map<string, Promise<MadeCall>>()
  /** Digests of requests that the run has made, with why those failed that did. */
  readonly #made = new Map<string, Failure | null>()

  constructor(store: Pick<ResponseStore, 'find' | 'read' | 'now'>) {
    this.#store = store
  }

  /** Returns, of these request keys, those that the store has a response for. */
  find(requests: readonly string[]): Promise<ReadonlyMap<string, KeptNote>> {
    return this.#store.find([...new Set(requests)])
  }

  /** Whether the run makes, or has made, a call for a request. */
  isMade(request: string): boolean {
    return this.#underWay.has(request) || this.#made.has(digestOf(request))
  }

  /** Notes that a call for a request begins. `stored` settles when what it brought is stored. */
  begin(request: string, call: Promise<MadeCall>, stored: Promise<void>): void {
    this.#underWay.set(request, call)
    void this.#follow(request, call, stored)
  }

  async #follow(request: string, call: Promise<MadeCall>, stored: Promise<void>): Promise<void> {
    try {
      const made = await call
      if (made === null) return
      this.#made.set(digestOf(request), made.ok ? null : made.error)
      await stored
    } catch {
      // What broke it ends the run.
    } finally {
      this.#underWay.delete(request)
    }
  }

  /** Returns the response to a request. `stored` settles when what it is computed into is stored. */
  async bring(request: string, stored: Promise<void>): Promise<Brought> {
    const made = await this.#underWay.get(request)?.catch(() => null)
    if (made?.ok === true && made.value !== undefined) {
      return ok({ ...made.value, at: await this.#store.now() })
    }
    const failure = this.#made.get(digestOf(request))
    if (failure !== undefined && failure !== null) return err(failure)
    return this.#read(request, stored)
  }

  async #read(request: string, stored: Promise<void>): Promise<Brought> {
    const note = (await this.#store.find([request])).get(request)
    if (note === undefined) return null
    await this.#memory.take(note.bytes)
    const giveBack = (): void => this.#memory.giveBack(note.bytes)
    void stored.then(giveBack, giveBack)
    const response = await this.#store.read(request)
    return response === null ? null : ok(response)
  }
}
