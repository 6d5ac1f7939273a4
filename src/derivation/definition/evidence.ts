import type { JsonObject } from '../../contract/json/json.ts'

/**
 * The members of provenance entries and lines that are the same for every kind (D33). All others of a computed value are evidence, which
 * its kind adds: for `http` `method`, `url`, `status` and `duration_ms`.
 */
const COMMON_MEMBERS: ReadonlySet<string> = new Set([
  'seq',
  'at',
  'actor',
  'source',
  'record_id',
  'field',
  'value',
  'values',
  'previous',
  'input_hash',
  'derivation',
  'run_id',
  'cached',
  'received_at',
  'keeps',
  'reverts',
  'proposal',
  'proposed_by',
  'erased',
  'erased_fields',
  'file',
  'sha256',
  'records',
])

/**
 * Throws Error for evidence with a common member: in the log it would replace, for example, the actor of the value. The message names
 * `kind`.
 */
export function refuseCommonMembers(kind: string, evidence: JsonObject): void {
  for (const name in evidence) {
    if (!COMMON_MEMBERS.has(name)) continue
    throw new Error(`kind ${kind} has evidence "${name}", which every provenance entry has`)
  }
}

/** Returns the evidence in a provenance entry: the members that the kind of its derivation added. */
export function evidenceOf(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !COMMON_MEMBERS.has(name)))
}
