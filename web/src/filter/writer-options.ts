import type { ReviewListAnswer } from '../../../src/wire/records/reviews.ts'
import type { RunAnswer } from '../../../src/wire/runs/runs.ts'
import { countOf } from '../ui/format.ts'

/** A writer of values to pick: a pattern of actors, or the id of a run. */
export interface WriterOption {
  readonly name: string
  readonly note: string | null
}

/** Returns the actors that have written present values, each kind of several actors, such as `agent:*`, before them. */
export function actorOptions({ actors }: ReviewListAnswer['writers']): readonly WriterOption[] {
  const kinds = Map.groupBy(actors, ({ actor }) => actor.slice(0, actor.indexOf(':') + 1))
  return [...kinds].flatMap(([kind, ofKind]) => {
    const each = ofKind.map(({ actor, cells }) => ({ name: actor, note: countOf(cells, 'cell') }))
    const cells = ofKind.reduce((sum, actor) => sum + actor.cells, 0)
    const all = { name: `${kind}*`, note: countOf(cells, 'cell') }
    return kind === '' || ofKind.length < 2 ? each : [all, ...each]
  })
}

/** Returns runs to pick from. */
export function runOptions(
  runs: readonly Pick<RunAnswer, 'id' | 'kind' | 'actor'>[],
): readonly WriterOption[] {
  return runs.map(({ id, kind, actor }) => ({ name: id, note: `${kind} · ${actor}` }))
}

/** Returns the options that match what is typed, those picked at first and what is typed itself included. */
export function matchingWriters(
  options: readonly WriterOption[],
  picked: readonly string[],
  typed: string,
): readonly WriterOption[] {
  const named = (name: string): boolean => options.some((option) => option.name === name)
  const others = picked.filter((name) => !named(name))
  const wanted = typed.trim()
  const known = [...others.map((name) => ({ name, note: null })), ...options]
  const found = known.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
  const isNew = wanted !== '' && !known.some(({ name }) => name === wanted)
  return isNew ? [...found, { name: wanted, note: null }] : found
}
