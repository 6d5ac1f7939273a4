import { ValidationError } from '../../errors/service-error.ts'
import { keyOfSent } from '../../derivation/kinds/http/request/request-key.ts'
import { readRecordedLine } from '../../derivation/recording/recorded-call.ts'
import type { ErasedCalls, Erasure } from '../../store/erasure.ts'
import type { ResponseStore } from '../../store/stored-responses.ts'
import { selectFields } from '../queries/select-fields.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

/** The most records of which a request erases values. */
export const MAX_ERASED = 1000

export interface EraseValuesRequest {
  readonly recordIds: readonly string[]
  /** The fields whose values are erased; null for all, and the records too. */
  readonly fields: readonly string[] | null
  readonly actor: GivenActor
  /** Whether nothing is erased: the report is what would be. */
  readonly dryRun?: boolean
}

export interface ErasureReport extends Erasure {
  /** Fields that are computed from the erased ones, and whose values stay. */
  readonly dependentFields: readonly string[]
}

/**
 * Erases values of records, present and earlier ones, from the records, the log and all that the store keeps of calls, of all or none.
 * Without fields the records are deleted too; they may be deleted already. Lines of the log from which values were erased keep their
 * leaf hash, so that checkpoints and proofs of others hold. Throws ValidationError for no records, too many, an unknown field, `id`, a field that must have a
 * value, and without an actor; SheetError for a record that never existed; PermissionDeniedError for an actor that may not delete (D7);
 * ConflictError during a run, and for a record with a waiting proposal.
 */
export async function eraseValues(sheet: Sheet, request: EraseValuesRequest): Promise<ErasureReport> {
  const recordIds = [...new Set(request.recordIds)]
  if (recordIds.length === 0)
    throw new ValidationError('ids is empty; name the records whose values to erase')
  if (recordIds.length > MAX_ERASED) {
    throw new ValidationError(
      `${recordIds.length} records are too many to erase values of at once; name at most ${MAX_ERASED} in a request`,
      'too_many_items',
    )
  }
  const actor = resolveActor(sheet, request.actor)
  const { contract, store, derivations } = await sheet.deriving()
  const fields = request.fields === null ? null : [...new Set(request.fields)]
  if (fields !== null) {
    if (fields.length === 0)
      throw new ValidationError('fields is empty; name fields, or leave it out to erase all values')
    selectFields(contract, fields)
    if (fields.includes('id'))
      throw new ValidationError('the id of a record cannot be erased: entries of the log are found by it')
  }
  const { dryRun = false } = request
  const calls = await callsFor(store.responses, new Set(recordIds))
  const erasure = await store.erase({ recordIds, fields, actor, calls, dryRun })
  return { ...erasure, dependentFields: dependentsOf(derivations.levels.flat(), fields ?? []) }
}

/** Returns the calls that were made for records, as far as the recording has them. */
async function callsFor(responses: ResponseStore, recordIds: ReadonlySet<string>): Promise<ErasedCalls> {
  const requests = new Set<string>()
  const places: number[] = []
  for (let upTo = 0; ;) {
    const { lines, next } = await responses.recorded(upTo)
    if (lines.length === 0) return { requests: [...requests], places, upTo }
    for (const { place, line } of lines) {
      const call = readRecordedLine(line)
      if (call === null || !recordIds.has(call.origin.recordId)) continue
      requests.add(keyOfSent(call.request))
      places.push(place)
    }
    upTo = next
  }
}

interface Computed {
  readonly targets: readonly string[]
  readonly inputs: readonly string[]
}

/** Returns the fields that derivations compute from others, directly or not, without these. */
function dependentsOf(derivations: readonly Computed[], fields: readonly string[]): readonly string[] {
  const found = new Set(fields)
  // Derivations come after those that compute their inputs.
  for (const { targets, inputs } of derivations)
    if (inputs.some((input) => found.has(input))) for (const target of targets) found.add(target)
  return [...found].filter((name) => !fields.includes(name))
}
