import type { EntryHead, SheetStore } from '../../store/sheet-store.ts'
import type { Sheet } from '../sheet.ts'
import { resolveAsOf } from './as-of.ts'

/** A state of the sheet, and the range of those that are known. */
export interface Moment {
  /** The state right after this entry; 0 before the first. */
  readonly seq: number
  /** Null before the first entry. */
  readonly at: string | null
  readonly actor: string | null
  readonly source: string | null
  /** The records that existed. */
  readonly total: number
  /** The states before and after the changes next to it; null for none. Entries of the same time are one change. */
  readonly previous: number | null
  readonly next: number | null
  readonly first: number
  readonly firstAt: string | null
  readonly last: number
  readonly lastAt: string | null
}

/** Reads which state `as_of` means, null for the present one. Throws what {@link resolveAsOf} throws. */
export async function readMoment(sheet: Sheet, asOf: string | null): Promise<Moment> {
  const { store } = await sheet.current()
  const { first, firstAt, last } = await store.history()
  const seq = asOf === null ? last : await resolveAsOf(store, asOf)
  const [head, latest, later] = await Promise.all([
    seq === 0 ? null : store.entryHead(seq, 'upTo'),
    store.entryHead(last, 'upTo'),
    store.entryHead(seq, 'after'),
  ])
  return {
    seq,
    at: head?.at ?? null,
    actor: head?.actor ?? null,
    source: head?.source ?? null,
    total: await store.countAsOf(seq),
    previous: head === null || seq <= first ? null : Math.max(first, await stateBefore(store, head)),
    next: later === null ? null : await stateAfter(store, later),
    first,
    firstAt,
    last,
    lastAt: latest?.at ?? null,
  }
}

/** Returns the state before all entries of the time of an entry. */
async function stateBefore(store: SheetStore, { seq, at }: EntryHead): Promise<number> {
  // Times of an imported log may not ascend.
  const before = at === null ? seq : await store.seqAt(new Date(Date.parse(at) - 1).toISOString())
  return Math.min(before, seq - 1)
}

/** Returns the state after all entries of the time of an entry. */
async function stateAfter(store: SheetStore, { seq, at }: EntryHead): Promise<number> {
  return at === null ? seq : Math.max(seq, await store.seqAt(at))
}
